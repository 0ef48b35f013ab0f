"""Each fault of a source with each way of paging: all lands, or the run fails and says why."""

import random
import re
import zipfile
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

import pytest

from lakekit.errors import LakekitError, SourceShapeError, SourceUnavailableError
from tests.unit.extract.scripted import (
    WAYS,
    Change,
    Scripted,
    Way,
    gzipped,
    packed,
    texts,
    total_of,
    with_body,
    with_fields,
    with_headers,
    with_status,
)

MIDDLE, LAST, ALWAYS = 1, 2, 99


class Fault(NamedTuple):
    """What goes wrong, on which page, how often; `says` is a pattern of the error, if it is one."""

    name: str
    change: Change
    says: str | None = None
    page: int = MIDDLE
    times: int = ALWAYS
    error: type[LakekitError] = SourceShapeError


def record(text: str) -> Change:
    """Put the text of a record first, in the page and in what is expected to land."""

    def change(part: Any, scripted: Scripted) -> Any:
        if len(part.records) > 1:  # the last one leads on, in some ways of paging
            part.records[0] = scripted.pages[scripted.served][0] = text
        return part

    return change


def zipped(body: bytes) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("export.json", body)
    return file.getvalue()


def renamed(part: Any, _: Scripted) -> Any:
    part.items = "entries"
    return part


def repeated(part: Any, scripted: Scripted) -> Any:
    part.records = list(scripted.pages[max(scripted.served - 1, 0)])
    return part


def doubled(body: bytes) -> bytes:
    return body[:-1] + b', "items": []}'


def totals_that_fit(part: Any, scripted: Scripted) -> Any:
    count, total = len(part.records), total_of(scripted)
    part.fields |= {"count": count, "total_count": total, "totalPages": len(scripted.pages)}
    return part


def whole_range(part: Any, scripted: Scripted) -> Any:
    total = total_of(scripted)
    part.headers["Content-Range"] = f"items {total - len(part.records)}-{total - 1}/{total}"
    return part


def in_latin_1(part: Any, scripted: Scripted) -> Any:
    record('{"id": 3, "v": "größe"}')(part, scripted)
    part.charset = "iso-8859-1"
    part.headers["Content-Type"] = "application/json; charset=ISO-8859-1"
    return part


def not_in_big5(part: Any, scripted: Scripted) -> Any:
    part.headers["Content-Type"] = "application/json; charset=big5"
    part.pack = lambda body: body.replace(b'"id"', b'"\xff\xff"')
    return part


HALF = r'{"id": 3, "v": "\ud83d"}'


def at_the_end(name: str, change: Change, says: str | None = None) -> Fault:
    return Fault(name, change, says, page=LAST)


FAULTS = (
    # What lands as it came.
    Fault("nothing", lambda part, _: part),
    Fault("a body is cut once", packed(lambda body: body[:-5]), times=1),
    Fault("a page is HTML once", with_body(b"<html>busy</html>"), times=1),
    Fault("a body is empty once", with_body(b""), times=1),
    Fault("a record with NaN", record('{"id": 3, "v": NaN}')),
    Fault("a record with Infinity", record('{"id": 3, "v": -Infinity}')),
    Fault("a record with half of a pair", record(HALF)),
    Fault("a record with a number beyond a double", record('{"id": 3, "v": 1e400}')),
    Fault("a record that is not UTF-8", record('{"id": 3, "v": "\udcff"}')),
    Fault("a record of another language", record("{'id': 3, v: undefined, 'w': .5}")),
    Fault("a record with a comma too many", record('{"id": 3, "v": [1, 2,],}')),
    Fault("a record of a thousand levels", record(f'{{"id": 3, "v": {"[" * 3000}{"]" * 3000}}}')),
    Fault("a record that is a number", record("12")),
    Fault("a record with line breaks", record('{"id":\r\n 3, "v": "}, {"}')),
    Fault("the records' name within a record", record('{"id": 3, "items": {"items": ["\\""]}}')),
    Fault("a byte order mark", packed(lambda body: b"\xef\xbb\xbf" + body)),
    Fault("UTF-16 with its mark", packed(lambda body: body.decode().encode("utf-16"))),
    Fault("another charset, as it says", in_latin_1),
    Fault("a gzip file", packed(gzipped)),
    Fault("a gzip file of two members", packed(lambda b: gzipped(b[:7]) + gzipped(b[7:]))),
    Fault("a zip archive", packed(zipped)),
    Fault("blanks around", packed(lambda body: b" \r\n" + body + b"\n\n")),
    Fault("JSON as text/html", with_headers(Content_Type="text/html")),
    Fault("JSON without a type", with_headers(Content_Type="")),
    Fault("status 201", with_status(201)),
    at_the_end(
        "a next page that is null", with_fields(nextPage=None, next_token="", hasMore=False)
    ),
    at_the_end("totals that fit", totals_that_fit),
    at_the_end("a range that is whole", whole_range),
    at_the_end("links to other pages", with_headers(X_Links='</a>; rel="prev"')),
    at_the_end("a value that is called next elsewhere", with_fields(notice={"next_run": "09:00"})),
    # What fails.
    Fault("a body is cut", packed(lambda body: body[:-5]), "not JSON: .*(early|end)"),
    Fault("a body ends within a string", with_body(b'{"items": [{"id": "'), "not JSON"),
    Fault("a page is HTML", with_body(b"<html>busy</html>"), "begins with '<'"),
    Fault("a body is empty", with_body(b""), "the answer is empty"),
    Fault("brackets do not match", packed(lambda body: body.replace(b"]", b"}")), "not JSON"),
    Fault("something follows the end", packed(lambda body: body + b"{}"), "not JSON"),
    Fault("an item is missing", packed(lambda b: b.replace(b"[", b"[,")), "not JSON"),
    Fault("a broken gzip file", packed(lambda b: gzipped(b)[:-9]), "zipped form is cut short"),
    Fault("a charset that is wrong", not_in_big5, "not big5"),
    Fault("a charset that is unknown", with_headers(Content_Type="a/b; charset=x-9"), "unknown"),
    Fault(
        "a charset that is none", with_headers(Content_Type="a; charset=unicode_escape"), "unknown"
    ),
    Fault("status 202", with_status(202), "202: .* not ready", error=SourceUnavailableError),
    Fault("status 204", with_body(b"", 204), r"204, no content; end_statuses: \[204\]"),
    Fault("status 205", with_body(b"", 205), "205, which is not read"),
    Fault("status 207", with_status(207), "207, which is not read"),
    at_the_end("status 206 at the end", with_status(206), "Content-Range is absent"),
    Fault("the records have another name", renamed, r"\$\.items is absent"),
    Fault("the records are null", with_body(b'{"items": null}'), r"\$\.items is null"),
    Fault(
        "the records are an object", with_body(b'{"items": {"a": {}}}'), "is an object, not a list"
    ),
    Fault("the records are there twice", packed(doubled), r"\$\.items twice"),
    Fault("the answer is a list", with_body(b'[{"id": 3}]'), r"\$ is a list, not an object"),
    Fault("the answer is a text", with_body(b'"busy"'), r"\$ is a text, not an object"),
    Fault("an error in place of records", with_body(b'{"error": "busy"}'), "is absent"),
    at_the_end("an error with records", with_fields(errors=[{"message": "busy"}]), r"\$\.errors"),
    Fault("a page comes twice", repeated, "repeats an earlier one"),
    at_the_end(
        "a next page in the body", with_fields(nextPage="/p/9"), r"may_ignore: \[\$\.nextPage\]"
    ),
    at_the_end(
        "a next token",
        with_fields(meta={"isLast": True, "next_token": "x"}),
        r"\$\.meta\.next_token",
    ),
    at_the_end("a next link", with_fields(_links={"next": {"href": "/9"}}), r"\$\._links\.next"),
    at_the_end("a list of links", with_fields(links=[{"rel": "next", "href": "/9"}]), r"\$\.links"),
    at_the_end("a next page in a header", with_headers(X_Next_Page="9"), "X-Next-Page names"),
    at_the_end("a flag", with_fields(hasMore=True), r"\$\.hasMore is true"),
    at_the_end("a flag of the end", with_fields(done=False), r"\$\.done is false"),
    at_the_end("a greater total", with_fields(total_count=500), r"\$\.total_count is 500 records"),
    at_the_end("a greater total as text", with_fields(paging={"totalResults": "500"}), "is 500"),
    at_the_end("more pages", with_fields(page_info={"totalPages": 9}), "totalPages is 9 pages"),
    at_the_end(
        "a greater total in a header", with_headers(X_Total_Count="500"), "X-Total-Count is 500"
    ),
    at_the_end(
        "a range of more", with_headers(Content_Range="items 4-5/500"), "Content-Range is items"
    ),
    at_the_end(
        "a header of JSON", with_headers(X_Pagination='{"HasNext": true}'), "X-Pagination has"
    ),
    at_the_end("a search that was cut", with_fields(incomplete_results=True), "incomplete_results"),
)
TOTALS = (
    Fault("it grows", lambda p, s: grown(p, 1), "the total went from|came, but there should"),
    Fault("it shrinks", lambda p, s: grown(p, -1), "the total went from|came, but there should"),
    Fault("it is absent", lambda p, s: grown(p, None), "is not a count: it is absent"),
    Fault("it is no number", lambda p, s: grown(p, "many"), "is not a count: it is 'many'"),
    Fault("it is negative", lambda p, s: grown(p, -100), "is not a count"),
    Fault("it is a text", lambda p, s: grown(p, "same")),
    Fault("it has a point", lambda p, s: grown(p, "float")),
    Fault("a record is missing", lambda p, s: shortened(p), "but there should be"),
)


def grown(part: Any, by: Any) -> Any:
    """Change the total that the way of paging goes by, wherever it is."""

    def other(value: Any) -> Any:
        if by == "same":
            return str(value)
        if by == "float":
            return value if isinstance(value, str) else float(value)
        return int(value) + by if isinstance(by, int) else by

    for name in ("pages", "total"):
        if isinstance(part.fields.get(name), dict):
            part.fields[name] = {"value": other(part.fields[name]["value"])}
        elif name in part.fields:
            part.fields[name] = other(part.fields[name])
    for name in ("X-Total", "X-Count"):
        if name in part.headers:
            value = str(other(part.headers[name]) if by is not None else "")
            part.headers.pop(name)
            part.headers |= {name: value} if value else {}
    return part


def shortened(part: Any) -> Any:
    part.records.pop()
    return part


def pages() -> list[list[str]]:
    return [[f'{{"id": {2 * n + i}, "v": "{n}.{i}0"}}' for i in (1, 2)] for n in range(3)]


def names_to_ignore(fault: Fault) -> list[str]:
    """Return what the error of a fault says that `may_ignore` may name."""
    try:
        check(WAYS[0], fault._replace(says=None), pauses=False)
    except SourceShapeError as error:
        found = re.search(r"may_ignore: \[(.+)\]$", str(error))
        return [found[1]] if found else []
    except (LakekitError, AssertionError):
        pass
    return []


def random_pages(draw: random.Random) -> list[list[str]]:
    """Return pages of records; only the last one may be empty, where an empty one is the end."""
    ids = iter(range(1, 1000))
    count = draw.randint(1, 6)
    sizes = [draw.randint(1, 4) for _ in range(count)]
    if draw.random() < 0.1:
        sizes = [0]
    return [[f'{{"id": {next(ids)}, "v": "{draw.random()}"}}' for _ in range(n)] for n in sizes]


def check(way: Way, fault: Fault, *, pauses: bool) -> None:
    scripted = Scripted(way, pages(), [(fault.page, fault.times, fault.change)])
    says = fault.says
    if way.name == "scroll" and fault.times == 1:
        says = "the answer is not JSON|begins with|is empty"  # it would not give a page twice
    if says is None:
        landed = scripted.land(pauses=pauses)
        assert landed == texts(scripted.pages)
    else:
        with pytest.raises(fault.error, match=says):
            scripted.land(pauses=pauses)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
@pytest.mark.parametrize("pauses", [False, True], ids=["in one call", "in many"])
def test_everything_lands_or_the_run_says_why(way: Way, pauses: bool) -> None:
    failed = []
    for fault in FAULTS:
        try:
            check(way, fault, pauses=pauses)
        except BaseException as error:
            failed.append(f"{fault.name}: {type(error).__name__}: {error}")
    assert failed == []


@pytest.mark.parametrize("way", [way for way in WAYS if way.has_total], ids=lambda way: way.name)
@pytest.mark.parametrize("fault", TOTALS, ids=lambda fault: fault.name)
def test_a_total_is_held_against_what_came(way: Way, fault: Fault) -> None:
    if (
        fault.name == "a record is missing"
        and way.endpoint["paginator"].get("total_path") == "$.pages"
    ):
        fault = fault._replace(change=lambda part, _: replace(part, records=[]))
    check(way, fault, pauses=False)


IGNORED = [(fault, name) for fault in FAULTS for name in names_to_ignore(fault)]


@pytest.mark.parametrize(("fault", "name"), IGNORED, ids=lambda each: getattr(each, "name", each))
def test_a_sign_may_be_ignored_by_the_line_that_the_error_names(fault: Fault, name: str) -> None:
    for way in WAYS:
        if way.name == "graphql" and name == "$.errors":
            continue  # which are declared there
        faults = [(fault.page, fault.times, fault.change)]
        scripted = Scripted(way, pages(), [*faults])

        assert scripted.land(pauses=True, ignores=(name,)) == texts(scripted.pages)


def test_random_faults_leave_nothing_out() -> None:
    """What the source has is exactly what lands, or the run fails and says why."""
    outcomes = [play(seed) for seed in range(300)]

    assert 30 < sum(outcomes) < 270


@pytest.mark.long
@pytest.mark.parametrize("block", range(100))
def test_ten_thousand_random_sequences_leave_nothing_out(block: int) -> None:
    for seed in range(300 + 100 * block, 400 + 100 * block):
        play(seed)


def play(seed: int) -> bool:
    """Extract from a random source with random faults; return whether all landed."""
    draw = random.Random(seed)
    way = draw.choice(WAYS)
    scripted = Scripted(way, random_pages(draw))
    faults = [draw.choice(FAULTS) for _ in range(draw.choice((0, 0, 1, 1, 2, 3)))]
    last = len(scripted.pages) - 1
    for fault in faults:
        # Marks of the end say nothing wrong elsewhere.
        page = last if fault.page == LAST else draw.randint(0, last)
        if page in [at for at, _, _ in scripted.faults]:
            continue  # two changes of one answer may undo each other
        times = min(fault.times, draw.choice((1, ALWAYS)))
        scripted.faults.append((page, times, fault.change))
    try:
        landed = scripted.land(pauses=draw.random() < 0.5)
    except LakekitError as error:
        assert faults, f"seed {seed}: {error}"
        assert len(str(error)) > 10
        assert any(fault.says or way.name == "scroll" for fault in faults), f"seed {seed}: {error}"
        return False
    assert landed == texts(scripted.pages), f"seed {seed}: {[fault.name for fault in faults]}"
    return True
