"""What is proposed for any records holds for these records, and the files that are written load."""

import json
import string
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakekit.contract.checked import CheckedContract
from lakekit.discover.columns import propose_columns
from lakekit.discover.draft import Draft
from lakekit.discover.keys import propose_keys
from lakekit.discover.sample import (
    as_landed,
    contract_of,
    distinct_rows,
    objects_of,
    typed_records,
    untyped,
)
from lakekit.discover.yaml_text import contract_text, flow

NAMES = st.one_of(
    st.sampled_from(
        ["id", "Id", "price", "created_at", "updated", "a b", "$ref", "no", "_row_hash", "__seal",
         "größe", "x`y", "null", "#", "name", "", "deleted"]
    ),
    st.text(min_size=1, max_size=6),
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-(10**25), 10**25),
    st.sampled_from([1767225600, 1767225600000, 2**63, -(2**63)]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([1e300, 0.1, 12.5, -0.0]),
)
TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["2026-01-31", "2026-02-30", "2026-01-31T06:30:00Z", "2026-01-31T06:30:00", "1.50", "007",
         "2026-01-31T06:30:00+02:00", "", "true", "12", "0001-01-01T00:00:00+05:00", "\u2028"]
    ),
)  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
RECORDS = st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5), min_size=1, max_size=5)
SOON = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def lines_of(records: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(record, ensure_ascii=True).encode() for record in records]


@SOON
@given(RECORDS, st.booleans())
def test_the_columns_read_every_record_that_was_seen(
    records: list[dict[str, Any]], flatten: bool
) -> None:
    lines = lines_of(records)
    objects = objects_of(lines)
    nested = [name for name in records[0] if isinstance(records[0][name], dict)]
    nested = [n for n in nested if all(isinstance(r.get(n), dict | None) for r in records)]
    found = propose_columns(objects, flatten=nested if flatten else ())
    if not found.found:
        return
    draft = Draft("shop", "https://a.org", "items", "/items", columns=found)
    contract = CheckedContract.from_yaml(contract_text(draft), name="items.yaml")

    read = typed_records(lines, contract)

    # A line with half of a surrogate pair is no record whatever its columns are.
    assert [each.fault for each in read if each.raw in lines and each.values] == [None] * len(
        [each for each in read if each.values]
    )
    assert yaml.safe_load(contract_text(draft)) == draft.contract_document()


@SOON
@given(RECORDS)
def test_a_key_is_unique_and_never_null(records: list[dict[str, Any]]) -> None:
    records = [{**record, "n": number % 3} for number, record in enumerate(records)]
    lines = list(dict.fromkeys(lines_of(records)))
    columns = propose_columns(objects_of(lines)).found
    draft = Draft("s", "https://a.org", "t", "/t", columns=propose_columns(objects_of(lines)))
    rows = distinct_rows(typed_records(lines, contract_of(draft.contract_document())))

    for key in propose_keys(columns, rows, "items"):
        values = [tuple(row[name] for name in key.columns) for row in rows]
        assert len({*values}) == len(rows)
        assert not any(None in each for each in values)


WORDS = st.text(string.ascii_lowercase, min_size=1, max_size=4)
CELLS = st.dictionaries(WORDS, TEXTS, min_size=1, max_size=4)


@SOON
@given(st.lists(CELLS, min_size=1, max_size=5))
def test_columns_of_texts_read_what_is_landed_of_them(records: list[dict[str, str]]) -> None:
    objects = [untyped(each) for each in objects_of(lines_of(records))]
    found = propose_columns(objects, are_texts=True)
    draft = Draft("s", "https://a.org", "t", "/t", columns=found)
    contract = contract_of(draft.contract_document())

    read = typed_records(as_landed(objects, contract), contract)

    assert [each.fault for each in read if each.values] == [None for e in read if e.values]


@SOON
@given(VALUES)
def test_yaml_on_one_line_is_the_value(value: Any) -> None:
    if isinstance(value, float) or "\x00" in repr(value):
        return
    text = flow(value)

    assert "\n" not in text
