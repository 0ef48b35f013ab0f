"""Today's code reads what each release wrote, and writes what the newest release reads."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from lakekit.documents import Document
from lakekit.errors import NewerDocumentError
from lakekit.steps.events import StepModel, job_arguments
from lakekit.steps.functions import LoadRequest, StartRun
from lakekit.steps.jobs import CreateTables
from lakekit.table_properties import runs_in
from tests.golden import releases
from tests.golden.examples import DOCUMENTS, HANDED, PROPERTIES, SNAPSHOT
from tests.golden.releases import MODELS, PROPERTIES_FILE, SNAPSHOT_FILE, name_of, objects

ROOT = Path(__file__).parents[2]
NEWEST = releases.releases()[-1]
GOLDEN = [(release, name) for release in releases.releases() for name in releases.names(release)]
KEPT = [each for each in GOLDEN if each[1] not in (PROPERTIES_FILE, SNAPSHOT_FILE)]

Json = dict[str, Any]


def door(name: str, value: Json) -> BaseModel:
    """Read a value as the code reads it that gets it from another release."""
    model = MODELS[name]
    if issubclass(model, Document):
        return model.parse(json.dumps(value).encode(), name=f"{name}.json")
    if issubclass(model, CreateTables):
        words = [word for key, each in value.items() for word in (f"--{key}", str(each))]
        return job_arguments(model, ["job.py", *words])
    assert model is LoadRequest
    start = {"run_id": "r", "started_at": "2026-01-01T00:00:00Z", "source": "shop"}
    return StartRun.from_event({**start, "request": value}).request


def lost(before: Any, after: Any, path: str = "") -> list[str]:
    """Return where a value that was written is not found again."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [fault for key, each in before.items()
                for fault in lost(each, after.get(key), f"{path}.{key}")]  # fmt: skip
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [fault for n, pair in pairs for fault in lost(*pair, f"{path}[{n}]")]
    return [] if before == after else [path]


@pytest.mark.parametrize(("release", "name"), KEPT)
def test_today_reads_all_that_a_release_wrote(release: str, name: str) -> None:
    value = releases.read(release, name)

    found = door(name, value)

    again = found.model_dump(mode="json", by_alias=True)
    assert lost(value, again) == []


@pytest.mark.parametrize(("release", "name"), KEPT)
def test_fields_of_a_later_release_are_ignored_wherever_they_are(release: str, name: str) -> None:
    value = releases.read(release, name)
    expected = door(name, value)
    for each in objects(value):
        each["of_a_later_release"] = "x"

    assert door(name, value) == expected


@pytest.mark.parametrize("name", [name_of(type(each)) for each in DOCUMENTS])
def test_a_higher_version_is_refused_by_the_name_of_the_document(name: str) -> None:
    value = releases.read(NEWEST, name) | {"schema_version": 2}

    with pytest.raises(NewerDocumentError, match=rf"{name}\.json: has schema_version 2"):
        door(name, value)


def test_today_reads_the_properties_of_tables_that_a_release_made() -> None:
    for release in releases.releases():
        texts = releases.read(release, PROPERTIES_FILE)
        for kept in PROPERTIES:
            again = kept.write(kept.read(texts))
            assert lost(json.loads(texts[kept.name]), json.loads(again[kept.name])) == []
        assert runs_in(releases.read(release, SNAPSHOT_FILE)) == ["r-1", "r-2", "r-3"]


def test_a_property_of_a_higher_version_is_refused_by_its_name() -> None:
    for kept in PROPERTIES:
        text = json.dumps({"schema_version": 2})
        with pytest.raises(NewerDocumentError, match=rf"table property {kept.name}: has schema_v"):
            kept.read({kept.name: text})


@pytest.mark.parametrize("each", [*DOCUMENTS, *HANDED], ids=lambda each: name_of(type(each)))
def test_the_newest_release_reads_what_today_writes(each: Document | StepModel) -> None:
    """A rollback does. What has become optional, or is of another type, it would refuse."""
    name = name_of(type(each))
    if name not in releases.names(NEWEST):
        return
    written = each.model_dump(mode="json", by_alias=True)

    assert faults(written, releases.read(NEWEST, f"{name}.schema")) == []


def test_the_newest_release_reads_the_properties_that_today_writes() -> None:
    readers = releases.read(NEWEST, f"{PROPERTIES_FILE}.schema")
    for kept, value in PROPERTIES.items():
        written = json.loads(kept.write(value)[kept.name])
        assert faults(written, readers[kept.name]) == []
    assert set(SNAPSHOT) == set(releases.read(NEWEST, SNAPSHOT_FILE))


def faults(value: Any, schema: Json) -> list[str]:
    found = jsonschema.Draft202012Validator(schema).iter_errors(value)
    return [f"{each.json_path}: {each.message}" for each in found]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"owner": None}, "$.owner: None is not of type 'string'"),
        ({"schema_version": 2}, "$.schema_version: 2 is greater than the maximum of 1"),
        ({"epoch": "1"}, "$.epoch: '1' is not of type 'integer'"),
    ],
)
def test_what_the_newest_release_could_not_read_would_be_found(change: Json, fault: str) -> None:
    schema, value = releases.read(NEWEST, "lease.schema"), releases.read(NEWEST, "lease")
    without = {key: each for key, each in value.items() if key != "owner"}

    assert faults(value | change, schema) == [fault]
    assert faults(without, schema) == ["$: 'owner' is a required property"]
    assert faults(value | {"more": 1}, schema) == []


def test_a_value_that_is_lost_would_be_found() -> None:
    before = {"a": [{"b": 1, "c": 2}]}

    assert lost(before, {"a": [{"b": 1, "new": 3}]}) == [".a[0].c"]


def test_every_document_has_an_example() -> None:
    """A new kind of document gets one in `examples.py`."""
    for path in (ROOT / "lakekit").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if "(Document)" in path.read_text(encoding="utf-8"):
            import_module(module)

    assert {each.__name__ for each in Document.__subclasses__()} == {
        type(each).__name__ for each in DOCUMENTS
    }


def test_the_examples_have_every_field() -> None:
    """So that a golden document shows each of them: a new field gets a value in `examples.py`."""
    unset: dict[tuple[type[BaseModel], str], bool] = {}
    for example in (*DOCUMENTS, *HANDED, *PROPERTIES.values()):
        for each in models(example):
            for field, about in type(each).model_fields.items():
                here = getattr(each, field) == about.get_default(call_default_factory=True)
                unset[type(each), field] = unset.get((type(each), field), True) and here

    # Of contracts and sources a few options do not go together.
    ours = {key for key, is_unset in unset.items() if is_unset and key[1] != "schema_version"}
    forms = ("lakekit.contract", "lakekit.config")
    assert [key for key in ours if not key[0].__module__.startswith(forms)] == []


def models(value: Any) -> Iterator[BaseModel]:
    """Yield a model and those that it holds."""
    if isinstance(value, BaseModel):
        yield value
        for field in type(value).model_fields:
            yield from models(getattr(value, field))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from models(each)
    elif isinstance(value, dict):
        yield from models([*value.values()])
