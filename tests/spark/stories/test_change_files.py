"""Change files of DMS and Debezium, from the inbox into a table with all its versions."""

from io import BytesIO
from pathlib import Path

import pytest

from lakekit.contract.contract import load_contract
from lakekit.landing.received import form_of, received_records

EXAMPLE = Path(__file__).parents[3] / "examples/dms_orders"
ENVELOPES = load_contract(
    "contract: people\nsource: s\nendpoint: {path: /p, extract: changes}\n"
    "files: {format: ndjson, changes: debezium}\nschema:\n"
    "  - {name: id, type: int}\n  - {name: name, type: string}\n"
    "  - {name: op, type: string, from: __op}\n"
    "  - {name: changed_at, type: timestamp, from: __time}\n"
    "  - {name: lsn, type: bigint, from: $.__source.lsn}\n"
    "history: {keys: [id], sequence_by: changed_at, tie_break: [lsn, file_position],\n"
    "  track_history_except: [lsn], apply_as_deletes: op = 'd', except_columns: [op]}\n"
)
CREATED = (
    b'{"before":null,"after":{"id":1,"name":"%s"},"op":"%s","source":{"ts_ms":%d000,"lsn":%d}}'
)
DELETED = b'{"before":{"id":1},"after":null,"op":"d","source":{"ts_ms":%d000,"lsn":%d}}'


def lines(name, body, contract):
    return [line.decode() for line in received_records(
        BytesIO(body), form_of(name, contract.files), contract, name)]  # fmt: skip


@pytest.mark.long
def test_a_full_load_and_changes_of_dms_become_versions(load, spark, table):
    contract = load_contract((EXAMPLE / "contract.yaml").read_text())

    for day, file in enumerate(["LOAD00000001.csv", "20260101-0800000000.csv",
                                "20260101-0700000000.csv"], start=2):  # fmt: skip
        found = lines(file, (EXAMPLE / "data" / file).read_bytes(), contract)
        load(day, *found, contract=contract, extract="changes")

    rows = spark.sql(
        f"SELECT id, state, date_format(_valid_from, 'HH:mm'), date_format(_valid_to, 'HH:mm') "
        f"FROM {table} ORDER BY id, _valid_from"
    ).collect()
    assert [*map(tuple, rows)] == [
        (1, "new", "06:00", "06:40"), (1, "paid", "06:40", "06:50"), (1, "sent", "06:50", None),
        (2, "new", "06:00", "06:50"), (3, "paid, by card", "06:00", "07:30"),
        (4, "paid", "07:30", None),
    ]  # fmt: skip


@pytest.mark.long
def test_envelopes_of_one_time_are_ordered_by_their_sequence(load, spark, table):
    body = b"\n".join([
        DELETED % (20, 3), b"null", CREATED % (b"Cy", b"c", 20, 4), CREATED % (b"Ann", b"r", 10, 1),
    ])  # fmt: skip
    load(2, *lines("a", body, ENVELOPES), contract=ENVELOPES, extract="changes")

    load(3, *lines("b", DELETED % (30, 9), ENVELOPES), contract=ENVELOPES, extract="changes")

    names = "name, unix_seconds(CAST(_valid_from AS timestamp)), _is_current"
    rows = spark.sql(f"SELECT {names} FROM {table} ORDER BY _valid_from").collect()
    assert [*map(tuple, rows)] == [("Ann", 10, False), ("Cy", 20, False)]
