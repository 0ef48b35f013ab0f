"""A file that arrives becomes a landing and a run, once."""

import gzip
import io
import json
import zipfile
from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakekit import layout
from lakekit.errors import LandingCorruptError, SourceShapeError
from lakekit.landing.index import PENDING, oldest
from lakekit.landing.validate import validate_landing
from lakekit.landing.writer import Manifest, load_manifest
from lakekit.runs import route_file as module
from lakekit.runs.plan_tables import batch_of
from lakekit.runs.route_file import route_file
from lakekit.steps.functions import LoadRequest, RouteFile, RouteFileResult
from tests.unit.runs.kit import NOON, contract, landed, world

LINES = b'{"id": 1, "price": 1.10}\n{"id":2}'


def archive(**files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as opened:
        for name, body in files.items():
            # A time of its own would give a test another name in each process.
            opened.writestr(zipfile.ZipInfo(name), body)
    return target.getvalue()


ZIP = archive(**{"a.csv": b"id,price\n1,2.50\n", "b.ndjson": b'{"id":3}\n'})


class Story:
    """Files that arrive, and the runs that they start."""

    def __init__(self) -> None:
        self.world = world()
        self.store = self.world.store
        self.runs = self.world.executions.started

    def drop(self, name: str, body: bytes) -> RouteFile:
        key = f"inbox/shop/orders/{name}"
        etag = self.store.put(key, body)
        return RouteFile(key=key, etag=etag.strip('"'), arrived_at=NOON)

    def route(self, step: RouteFile) -> RouteFileResult:
        return route_file(step, self.world.flow, contract())

    def manifest(self, result: RouteFileResult) -> Manifest:
        return load_manifest(self.store, result.manifest)

    def merged_text(self, result: RouteFileResult) -> bytes:
        batch = batch_of(self.store, self.manifest(result))
        keys = [name.removeprefix("memory://") for name in batch.files]
        bodies = [self.store.get(key) for key in keys]
        text = b"".join(
            gzip.decompress(body) if key.endswith(".gz") else body
            for key, body in zip(keys, bodies, strict=True)
        )
        assert batch.bytes == len(text)
        return text


@pytest.fixture
def story() -> Story:
    return Story()


def test_a_file_becomes_a_pending_landing_and_starts_a_run(story: Story) -> None:
    result = story.route(story.drop("day.ndjson", LINES))

    assert result.started
    assert list(oldest(story.store, PENDING, "shop", "orders")) == [result.manifest]
    request = LoadRequest.from_event(story.runs[result.run_id])
    assert (request.source, request.extract, request.origin) == ("shop", False, "file")


def test_a_file_that_arrives_while_a_run_holds_its_table_is_left_to_that_run(story: Story) -> None:
    story.world.leases.acquire("orders", "other")

    results = [story.route(story.drop(f"{n}.ndjson", LINES)) for n in range(3)]

    assert not any(result.started for result in results)
    assert story.runs == {}
    assert len(story.world.pending()) == 3


def test_a_holder_that_has_ended_starts_no_next_run_so_that_the_file_does(story: Story) -> None:
    story.world.leases.acquire("orders", "dead")
    story.world.executions.ended.add("dead")

    assert story.route(story.drop("a.ndjson", LINES)).started


def test_the_file_is_named_as_routed_once_it_has_landed(story: Story) -> None:
    step = story.drop("2026/a.ndjson", LINES)

    result = story.route(step)

    entry = f"index/routed/shop/orders/2026/a.ndjson/{step.etag}"
    assert story.store.get(entry).decode() == result.manifest


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a.ndjson", LINES),
        ("a.JSONL", LINES),
        ("a.ndjson.gz", gzip.compress(LINES)),
        ("a.gz", gzip.compress(LINES)),
        ("2026/01/a.ndjson", LINES),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_keeps_the_file_as_it_was_received_and_the_landing_holds(
    story: Story, name: str, body: bytes
) -> None:
    result = story.route(story.drop(name, body))
    manifest = story.manifest(result)

    assert story.store.get(manifest.parts[0].key) == body
    assert validate_landing(story.store, manifest, contract()).rows == manifest.rows == 2
    assert story.merged_text(result) == LINES


@pytest.mark.parametrize("packed", [False, True])
def test_csv_stays_as_it_is_and_is_merged_as_typed_records(story: Story, packed: bool) -> None:
    body = b"id,price\n1,1.10\n2,\n"
    body, ending = (gzip.compress(body), ".gz") if packed else (body, "")

    result = story.route(story.drop(f"a.csv{ending}", body))

    manifest = story.manifest(result)
    assert story.store.get(manifest.parts[0].key) == body
    assert validate_landing(story.store, manifest, contract()).rows == manifest.rows == 2
    assert story.merged_text(result) == b'{"id":1,"price":1.10}\n{"id":2,"price":null}\n'


@pytest.mark.parametrize(
    ("name", "form", "body", "merged"),
    [
        ("a.json", "json", b'[{"id":1,\n"price":1.10},5]', b'{"id":1,"price":1.10}\n5\n'),
        ("a.json", "json", b"[]", b""),
        ("a.json.gz", "json", gzip.compress(b'{"id":1}\n'), b'{"id":1}\n'),
        ("a.zip", "zip", ZIP, b'{"id":1,"price":2.50}\n{"id":3}\n'),
    ],
    ids=["list", "empty list", "lines", "archive"],
)
def test_a_file_of_another_form_stays_as_it_is_and_is_merged_as_lines(
    story: Story, name: str, form: str, body: bytes, merged: bytes
) -> None:
    result = story.route(story.drop(name, body))

    manifest = story.manifest(result)
    assert (manifest.format, manifest.rows) == (form, merged.count(b"\n"))
    assert story.store.get(manifest.parts[0].key) == body
    assert manifest.parts[0].key.endswith(f"/original.{name.partition('.')[2]}")
    assert validate_landing(story.store, manifest, contract()).rows == manifest.rows
    assert story.merged_text(result) == merged


def test_parquet_is_merged_as_it_is(story: Story) -> None:
    target = io.BytesIO()
    pq.write_table(pa.table({"id": [1, 2], "x": ["a", "b"]}), target)

    result = story.route(story.drop("a.parquet", target.getvalue()))

    manifest = story.manifest(result)
    (part,) = manifest.parts
    assert (manifest.format, manifest.rows, manifest.converted) == ("parquet", 2, ())
    assert story.store.get(part.key) == target.getvalue()
    verdict = validate_landing(story.store, manifest, contract())
    assert (verdict.rows, verdict.unknown_fields, verdict.absent_fields) == (2, ("x",), ("price",))
    assert batch_of(story.store, manifest).files == (f"memory://{part.key}",)


@pytest.mark.parametrize("lines", [b"null\n", b'{"after":{"id":7},"op":"c","ts_ms":5}\nnull\n'])
def test_envelopes_stay_as_they_are_and_are_merged_as_rows(story: Story, lines: bytes) -> None:
    files = contract().files.model_copy(update={"changes": "debezium"})
    promise = contract(files=files)
    rows = lines.count(b"op")

    result = route_file(story.drop("a.ndjson", lines), story.world.flow, promise)

    manifest = story.manifest(result)
    assert (manifest.format, manifest.rows) == ("text", rows)
    assert validate_landing(story.store, manifest, promise).rows == rows
    assert story.merged_text(result).count(b'"__op":"c"') == rows


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("a.csv", b"no,price\n1,2\n", "the header of the CSV lacks id; it has no, price"),
        ("a.txt", b"", "must end in"),
        ("a.parquet", b"PAR1 and no more", "not Parquet, or cut"),
        ("a.json", b'[{"id":1}', "not a JSON list: it ends early, after item 0"),
    ],
)
def test_a_file_that_cannot_be_landed_is_named_and_starts_nothing(
    story: Story, name: str, body: bytes, message: str
) -> None:
    with pytest.raises(SourceShapeError, match=f"inbox/shop/orders/{name}: {message}"):
        story.route(story.drop(name, body))
    assert story.runs == {}
    assert story.world.pending() == []


def test_a_csv_of_a_header_alone_brings_no_objects_to_merge(story: Story) -> None:
    result = story.route(story.drop("a.csv", b"id,price\n"))

    assert story.manifest(result).rows == 0
    assert batch_of(story.store, story.manifest(result)).files == ()


def test_the_same_event_twice_starts_one_run_of_one_landing(story: Story) -> None:
    step = story.drop("a.ndjson", LINES)
    first = story.route(step)
    before = dict(story.store.objects)

    again = story.route(step)

    assert again == first.model_copy(update={"started": False})
    assert story.store.objects == before
    assert len(story.runs) == 1


def test_an_event_that_comes_again_after_the_load_starts_nothing(story: Story) -> None:
    step = story.drop("a.ndjson", LINES)
    result = story.route(step)
    story.store.put(layout.complete_key(layout.prefix_of(result.manifest)), b"")
    story.runs.clear()

    assert not story.route(step).started
    assert story.runs == {}


def test_files_of_the_same_second_get_microseconds_of_their_own(story: Story) -> None:
    results = [story.route(story.drop(f"{n}.ndjson", b'{"id": %d}' % n)) for n in range(50)]

    times = [story.manifest(result).extraction_time for result in results]
    assert len({*times}) == 50
    assert {time.replace(microsecond=0) for time in times} == {NOON}
    assert len(story.world.pending()) == 50


def test_two_files_of_one_microsecond_get_neighbouring_ones(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SameDigest:
        def __init__(self, *_: object) -> None:
            pass

        def hexdigest(self) -> str:
            return "5"

    steps = [story.drop(f"{n}.ndjson", b'{"id": %d}' % n) for n in range(2)]
    ids = iter(["file-orders-a", "file-orders-b", "file-orders-a"])
    monkeypatch.setattr(module, "run_id_of", lambda *_: next(ids))
    real = module.sha256
    monkeypatch.setattr(
        module, "sha256", lambda *a: SameDigest() if a and a[0].startswith(b"file-") else real(*a)
    )

    first, second, again = (story.route(step) for step in (steps[0], steps[1], steps[0]))

    times = [story.manifest(each).extraction_time for each in (first, second)]
    assert times[1] - times[0] == timedelta(microseconds=1)
    assert again.manifest == first.manifest


def test_a_file_does_not_meet_what_was_extracted_in_its_second(story: Story) -> None:
    extracted = landed(story.store, {"id": 1})

    result = story.route(story.drop("a.ndjson", LINES))

    assert result.manifest != extracted
    assert story.merged_text(result) == LINES


@pytest.mark.parametrize("written", range(1, 8))
def test_what_died_half_way_is_finished_by_the_next_try(story: Story, written: int) -> None:
    step = story.drop("a.csv", b"id\n1\n")
    whole = Story()
    whole.store.objects |= story.store.objects
    expected = whole.route(step)
    keys = list(whole.store.objects)
    # The file, owner, original, converted part, manifest, marker, and two entries of the index.
    assert len(keys) == 8
    story.store.objects = {key: whole.store.objects[key] for key in keys[:written]}

    assert story.route(step) == expected
    assert story.store.objects == whole.store.objects


def test_a_new_version_of_a_file_is_a_run_of_its_own(story: Story) -> None:
    first = story.drop("a.ndjson", LINES)

    results = [story.route(first.model_copy(update={"version": v})) for v in ("1", "2")]

    assert results[0].run_id != results[1].run_id


def test_a_file_that_was_replaced_before_it_was_read_is_refused(story: Story) -> None:
    step = story.drop("a.ndjson", LINES)
    story.drop("a.ndjson", b"{}")

    with pytest.raises(LandingCorruptError, match="replaced or removed"):
        story.route(step)
    assert story.runs == {}


def test_broken_gzip_is_refused(story: Story) -> None:
    with pytest.raises(SourceShapeError, match="broken gzip"):
        story.route(story.drop("a.ndjson.gz", gzip.compress(LINES)[:-9]))


@pytest.mark.parametrize("name", ["a.ndjson", "a.csv"])
def test_a_record_that_is_too_long_for_memory_is_refused(story: Story, name: str) -> None:
    with pytest.raises(SourceShapeError, match="a record has more than 8 MiB"):
        story.route(story.drop(name, b"[" + b'{"id":1},' * 1_000_000))


def test_a_file_that_s3_does_not_copy_in_one_call_is_refused(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakekit.runs.route_file.MAX_FILE", 8)

    with pytest.raises(SourceShapeError, match="a file may have 5 GB; split it"):
        story.route(story.drop("a.ndjson", LINES))


def test_a_run_id_is_a_name_that_step_functions_takes(story: Story) -> None:
    from lakekit.runs.route_file import run_id_of  # noqa: PLC0415

    name = run_id_of(story.drop("a.ndjson", LINES), "e" * 63)

    assert len(name) <= 80
    assert json.dumps(name)[1:-1] == name
