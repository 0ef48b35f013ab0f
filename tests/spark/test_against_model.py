"""The merge against the independent model: a thousand random histories, multiplexed over keys."""

import random
from datetime import UTC, datetime

import pytest

from lakekit.batch import Batch
from lakekit.contracts import load_contract
from lakekit.spark.scd2 import merge_scd2
from tests.model.admission import history
from tests.model.terms import Options, Run, comparable
from tests.spark.conftest import CONTRACT

KEYS, DAYS = 500, 6


def _records(chance: random.Random, alive: float) -> list[dict[str, object]]:
    """Return one extract: some keys are absent, some stand twice, few values are ever new."""
    names = [None, "", "a", "Ä", "null", "a|b"]
    records = [
        {"id": key, "name": chance.choice(names), "city": chance.choice(names)}
        for key in range(KEYS)
        for _ in range(chance.choice([1, 1, 1, 2]))
        if chance.random() < alive
    ]
    chance.shuffle(records)
    return records


@pytest.mark.parametrize("seed", [1, 2])
def test_every_state_of_a_random_history_equals_the_model(load, spark, table, seed):
    chance = random.Random(seed)
    contract = load_contract(CONTRACT)
    options = Options(keys=("id",))
    runs: list[Run] = []
    for day in range(1, DAYS + 1):
        kind = chance.choice(["full", "full", "incremental"])
        records = _records(chance, 0.8 if kind == "full" else 0.3)
        runs.append(Run(kind, datetime(2026, 1, day), records))

        done = load(day, *records, extract=kind, promise=contract)

        columns = "id, name, city, _valid_from, _valid_to, _is_current"
        found = [row.asDict() for row in spark.sql(f"SELECT {columns} FROM {table}").collect()]
        assert comparable(found) == comparable(history(runs, options))
        kept = done.opened + done.unchanged
        assert len(records) == kept + done.duplicates + done.quarantined


def test_the_time_zone_of_the_session_changes_nothing(load, spark, rows):
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        load(1, {"id": 1, "name": "a"})
        load(2, {"id": 1, "name": "b"})

        assert rows("id, name") == [(1, "a", 1, 2, False), (1, "b", 2, None, True)]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_extraction_times_keep_their_microseconds(spark, table, tmp_path):
    file = tmp_path / "x.ndjson"
    file.write_text('{"id": 1}\n')
    moment = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)
    batch = Batch(run_id="a", extract="full", extraction_time=moment, files=(str(file),))

    merge_scd2(spark, load_contract(CONTRACT), batch, table, staging=tmp_path.as_uri())

    assert spark.table(table).first()["_valid_from"] == moment.replace(tzinfo=None)
