"""DuckDB reads what Spark reads: every type, deletes, evolved schemas and partitions, journals."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakekit.duckdb.reader import Counts, Reader, open_reader
from lakekit.errors import InvalidStepInputError, SchemaMismatchError
from lakekit.local.catalog import LocalCatalog
from lakekit.spark import query
from lakekit.spark.schema.display import collect_shown
from lakekit.values import to_json, to_text
from tests.tiers import long

MERGE_ON_READ = (
    "TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='merge-on-read', "
    "'write.update.mode'='merge-on-read')"
)
TYPES = (
    "id int, s string, f float, d double, big bigint, large decimal(38,10), small decimal(5,2), "
    "b boolean, dt date, at timestamp, tn timestamp_ntz, bin binary, st struct<a: int, b: string>, "
    "arr array<int>, m map<string, int>, fs array<float>, mk map<struct<k: int>, date>, "
    "deep array<struct<x: int, y: map<string, array<double>>>>"
)
NAMES = "s, f, d, big, large, small, b, dt, at, tn, bin, st, arr, m, fs, mk, deep"
# Usual values, the smallest and largest, empty ones, nulls at each depth, ways of writing time.
VALUES = (
    "1, 'a', cast(0.1 AS float), 0.1D, 9223372036854775807, "
    "cast('1234567890123456789012345678.0123456789' AS decimal(38,10)), 1.10, true, "
    "date '2024-01-31', timestamp '2024-01-01 00:00:00.123456Z', "
    "timestamp_ntz '2024-01-01 00:00:00.123456', X'00ff', named_struct('a', 1, 'b', 'x'), "
    "array(1, null), map('k', 1, 'n', null), array(cast(1.1 AS float), cast('NaN' AS float)), "
    "map(named_struct('k', 1), date '2020-02-02'), "
    "array(named_struct('x', 1, 'y', map('q', array(1.5D, cast('NaN' AS double)))))",
    "2, '*', cast('NaN' AS float), cast('NaN' AS double), -9223372036854775808, "
    "cast('-9999999999999999999999999999.9999999999' AS decimal(38,10)), -999.99, false, "
    "date '0001-01-01', timestamp '0001-01-01 00:00:00Z', timestamp_ntz '0001-01-01 00:00:00', "
    "X'', named_struct('a', cast(null AS int), 'b', cast(null AS string)), array(), map(), "
    "array(), map(named_struct('k', cast(null AS int)), cast(null AS date)), array(null)",
    "3, 'é/ %2F?[x]#', cast('Infinity' AS float), cast('-Infinity' AS double), null, null, null, "
    "null, date '9999-12-31', timestamp '9999-12-31 23:59:59.999999Z', "
    "timestamp_ntz '9999-12-31 23:59:59.999999', null, null, null, null, null, null, null",
    "4, null, cast(1.17549435E-38 AS float), 4.9E-324D, 0, 0, 0, null, date '1582-10-04', "
    "timestamp '1582-10-04 12:00:00Z', timestamp_ntz '1582-10-10 00:00:00', X'01', "
    "named_struct('a', 5, 'b', ''), array(null), map('', 0), null, null, "
    "array(named_struct('x', null, 'y', null))",
    "5, concat('a', char(0), 'b'), cast(16777216 AS float), -0.0D, 1, 1, 1, true, "
    "date '1970-01-01', timestamp '1969-12-31 23:59:59.999999Z', "
    "timestamp_ntz '1969-12-31 23:59:59.999999', X'02', named_struct('a', 6, 'b', 'é'), "
    "array(1, 2), map('a', 1), null, map(), array()",
    "6, '__HIVE_DEFAULT_PARTITION__', cast(-1e10 AS float), 1e300D, 2, 2, 2, true, "
    "date '2000-02-29', timestamp '2000-02-29 00:00:00Z', timestamp_ntz '2000-02-29 00:00:00', "
    "X'03', null, null, null, null, null, null",
)
PARTITIONS = "s, bucket(4, id), truncate(2, s), days(at)"


@pytest.fixture
def reader(spark: SparkSession) -> Iterator[Reader]:
    warehouse = Path(spark.conf.get("spark.sql.catalog.lake.warehouse"))
    with open_reader(LocalCatalog(warehouse)) as opened:
        yield opened


@pytest.fixture
def run(spark: SparkSession, table: str) -> Callable[..., None]:
    def execute(*statements: str) -> None:
        for statement in statements:
            spark.sql(statement.replace("TABLE_NAME", table))

    return execute


def texts(columns: Any, rows: Any) -> list[str]:
    """Return rows as they are printed, in an order of their own."""
    return sorted(to_json(dict(zip(columns, row, strict=True))) for row in rows)


def name(table: str) -> str:
    return table.removeprefix("lake.local.")


def assert_same(reader: Reader, spark: SparkSession, table: str) -> list[str]:
    found = reader.sql(f'SELECT * FROM "{name(table)}"')
    same = collect_shown(spark.table(table))
    assert found.columns == same.columns
    shown = texts(found.columns, found.rows)
    assert shown == texts(*same)
    return shown


def assert_found(reader: Reader, table: str, *conditions: str) -> None:
    """Compare what conditions leave with the whole table: no file is left out wrongly."""
    whole = f"(SELECT * FROM {name(table)} OFFSET 0)"
    for each in conditions:
        found, same = (
            reader.sql(f"SELECT id FROM {place} WHERE {each} ORDER BY id")
            for place in (name(table), whole)
        )
        assert [*found.rows] == [*same.rows], each


@pytest.mark.parametrize("version", [2, long(3)])
def test_all_values_of_all_types(reader, spark, run, table, version):
    run(
        f"CREATE TABLE TABLE_NAME ({TYPES}) USING iceberg PARTITIONED BY ({PARTITIONS}) "
        + MERGE_ON_READ.format(version=version),
        f"INSERT INTO TABLE_NAME VALUES {', '.join(f'({row})' for row in VALUES)}",
        f"INSERT INTO TABLE_NAME SELECT id + 10, {NAMES} FROM TABLE_NAME",
        "DELETE FROM TABLE_NAME WHERE id IN (11, 13)",
        "UPDATE TABLE_NAME SET d = 7.5 WHERE id = 12",
    )

    assert len(assert_same(reader, spark, table)) == 10
    assert_found(
        reader, table,
        "s = '*'", "s LIKE 'é/%'", "s IS NULL", "st.a IS NULL", "large = 2", "large < 0",
        "small <= 1.1", "dt < '1600-01-01'", "tn >= '2000-01-01'", "b", "big > 0", "d > 5", "f > 1",
        "\"at\" < '1600-01-01'", "bin = ''::blob", "bin >= 'a'::blob", "fs[1] > 1",
    )  # fmt: skip


def test_an_evolved_schema_and_partitions(reader, spark, run, table):
    run(
        "CREATE TABLE TABLE_NAME (id int, a int, b float, c decimal(5,2), past string, old string, "
        "st struct<x: int, y: string>, l array<struct<p: int>>, m map<string, struct<q: int>>) "
        "USING iceberg " + MERGE_ON_READ.format(version=2),
        "INSERT INTO TABLE_NAME VALUES (1, 1, 1.5, 1.25, 'past', 'old', "
        "named_struct('x', 1, 'y', 'one'), array(named_struct('p', 1)), "
        "map('k', named_struct('q', 1))), "
        "(2, 2, null, null, null, null, null, null, null), (3, 3, 0.1, 0, '', '', "
        "named_struct('x', null, 'y', null), array(null), map('k', null))",
        *(
            f"ALTER TABLE TABLE_NAME {change}"
            for change in (
                "ADD COLUMN added string", "ADD COLUMN st.z double", "RENAME COLUMN st.y TO yy",
                "ADD COLUMN l.element.p2 string", "RENAME COLUMN l.element.p TO pp",
                "ADD COLUMN m.value.q2 date", "ALTER COLUMN a TYPE bigint",
                "ALTER COLUMN b TYPE double", "ALTER COLUMN c TYPE decimal(20,2)",
                "DROP COLUMN past", "RENAME COLUMN old TO new", "ADD COLUMN old int",
                "ALTER COLUMN added AFTER id", "ADD PARTITION FIELD id",
            )
        ),
        "INSERT INTO TABLE_NAME (id, added, a, b, c, new, st, l, m, old) VALUES "
        "(4, 'new', 5000000000, 1e300D, 123456789012345678.25, 'n', "
        "named_struct('x', 3, 'yy', 'three', 'z', 3.5D), "
        "array(named_struct('pp', 3, 'p2', 'p2')), "
        "map('k', named_struct('q', 3, 'q2', date '2020-01-01')), 7)",
        "DELETE FROM TABLE_NAME WHERE id = 2",
        "ALTER TABLE TABLE_NAME RENAME COLUMN added TO past",
        "ALTER TABLE TABLE_NAME DROP PARTITION FIELD id",
        "ALTER TABLE TABLE_NAME ADD PARTITION FIELD bucket(2, id)",
        "INSERT INTO TABLE_NAME SELECT id + 10, past, a, b, c, new, st, l, m, old FROM TABLE_NAME",
        "DELETE FROM TABLE_NAME WHERE id = 11",
    )  # fmt: skip

    assert len(assert_same(reader, spark, table)) == 5
    assert_found(
        reader, table,
        "a = 1", "a > 2", "a = 5000000000", "b = 1.5", "b > 1.5", "c = 1.25", "c > 2",
        "new = 'old'", "old = 7", "old IS NULL", "past = 'new'", "past IS NULL", "st.yy = 'one'",
        "st.z IS NULL", "st.z > 1", "id > 3", "id = 13",
    )  # fmt: skip


def test_a_table_without_rows(reader, spark, run, table):
    run(
        "CREATE TABLE TABLE_NAME (id int) USING iceberg "
        "TBLPROPERTIES ('write.metadata.compression-codec'='gzip')"
    )

    assert assert_same(reader, spark, table) == []
    run("INSERT INTO TABLE_NAME VALUES (1), (2)", "DELETE FROM TABLE_NAME")
    with open_reader(reader._finder) as again:
        assert assert_same(again, spark, table) == []


def test_names_of_columns_that_need_quotes(reader, spark, run, table):
    run(
        "CREATE TABLE TABLE_NAME (`a.b` int, `q\"x` string, `it's` int, `select` int, "
        "`s t` struct<`f.g`: int, `it's`: float>) USING iceberg",
        "INSERT INTO TABLE_NAME SELECT 1, 'x', 2, 3, named_struct('f.g', 4, 'it\\'s', 1.1)",
    )

    assert len(assert_same(reader, spark, table)) == 1


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ("date '+12345-01-01', null", "a date or time outside the years 1 to 9999"),
        ("null, timestamp_ntz '-0044-03-15 00:00:00'", "outside the years 1 to 9999"),
    ],
)
def test_a_date_that_python_has_not_is_refused(reader, run, table, values, fault):
    run(
        "CREATE TABLE TABLE_NAME (d date, t timestamp_ntz) USING iceberg",
        f"INSERT INTO TABLE_NAME VALUES ({values})",
    )

    with pytest.raises(InvalidStepInputError, match=fault), open_reader(reader._finder) as asked:
        list(asked.sql(f"SELECT * FROM {name(table)}").rows)
    with open_reader(reader._finder) as asked:
        assert len(list(asked.sql(f"SELECT d::varchar, t::varchar FROM {name(table)}").rows)) == 1


@pytest.mark.parametrize("kind", ["orc", long("avro")])
def test_files_that_duckdb_does_not_read_are_refused(reader, run, table, kind):
    run(
        f"CREATE TABLE TABLE_NAME (id int) USING iceberg "
        f"TBLPROPERTIES ('write.format.default'='{kind}')",
        "INSERT INTO TABLE_NAME VALUES (1)",
    )

    (counts,) = reader.count([reader.table(name(table))])
    refused = pytest.raises(InvalidStepInputError, match=f"is {kind}, and DuckDB reads Parquet")
    with refused, open_reader(reader._finder) as asked:
        list(asked.sql(f"SELECT * FROM {name(table)}").rows)
    assert counts == Counts(None, None)


VERSIONS = """
CREATE TABLE TABLE_NAME (
  region string, id int, name string, tags map<string, int>, _row_hash bigint,
  _is_current boolean, _valid_from timestamp_ntz, _valid_to timestamp_ntz, _is_deleted boolean)
USING iceberg PARTITIONED BY (_is_current)
TBLPROPERTIES ('lakekit.contract' = '{"version": 1, "mode": "scd2", "keys": ["region", "ID"],
  "sequence_by": null, "deletes": "mark", "ignore_null_updates": false}')
"""
DAYS = [datetime(2026, 1, day, hour, tzinfo=UTC) for day in (1, 3, 5) for hour in (0, 12)]


@pytest.fixture
def versions(run, table):
    """One key that changes, one that goes and comes back, one that is marked as deleted."""

    def version(id: int, name: str, since: int, until: int | None, deleted: bool = False) -> str:
        times = f"timestamp_ntz '2026-01-0{since}', timestamp_ntz '2026-01-0{until}'"
        times = times if until else times.replace("timestamp_ntz '2026-01-0None'", "null")
        return f"('eu', {id}, {name}, map('{id}', null), {since}, {not until}, {times}, {deleted})"

    rows = (
        version(1, "'ann'", 1, 3), version(1, "null", 3, 5), version(1, "'it\\'s'", 5, None),
        version(2, "'ben'", 1, 3), version(2, "'ben'", 4, None),
        version(3, "'cid'", 2, 4), version(3, "'cid'", 4, None, deleted=True),
    )  # fmt: skip
    run(VERSIONS, f"INSERT INTO TABLE_NAME VALUES {', '.join(rows)}")
    return table


def test_rows_as_of_a_time_are_those_of_spark(reader, spark, versions):
    for time in DAYS:
        found = reader.as_of(name(versions), time)
        same = collect_shown(query.rows_as_of(spark, versions, time))
        assert texts(*vars(found).values()) == texts(*same), time


def test_changes_are_those_of_spark_with_the_old_version_of_an_update(reader, spark, versions):
    start, end = DAYS[1], DAYS[-1]

    found = reader.changes(name(versions), start, end)
    same = collect_shown(query.changes_between(spark, versions, start, end))

    rows = list(found.rows)
    assert found.columns == [*same.columns, "_old"]
    assert [row[:-1] for row in rows] == same.rows
    assert [(row[0], row[1].day, row[3], row[-1] and row[-1]["name"]) for row in rows] == [
        ("inserted", 2, 3, None), ("updated", 3, 1, "ann"), ("deleted", 3, 2, None),
        ("inserted", 4, 2, None), ("deleted", 4, 3, None), ("updated", 5, 1, None),
    ]  # fmt: skip


def test_the_versions_of_a_key_are_in_order(reader, versions):
    one = reader.history(name(versions).upper(), {"Region": "eu", "id": "1"})
    all_keys = reader.history(name(versions), {"region": "eu"})

    assert [row[2] for row in one.rows] == ["ann", None, "it's"]
    assert [row[1] for row in all_keys.rows] == [1, 1, 1, 2, 2, 3, 3]


@pytest.mark.long
def test_a_history_its_journal_and_quarantine(reader, spark, world):
    table = world.table

    for each in (table, f"{table}_journal"):
        assert assert_same(reader, spark, each)
    for day in (1, 5, 8, 9, 11, 12):
        time = datetime(2026, 1, day, tzinfo=UTC)
        found = reader.as_of(name(table), time)
        assert texts(*vars(found).values()) == texts(
            *collect_shown(query.rows_as_of(spark, table, time))
        )


def test_a_key_is_found_by_what_is_printed_of_it(reader, run, table):
    run(
        f"CREATE TABLE TABLE_NAME ({TYPES}, _valid_from timestamp_ntz) USING iceberg",
        *(f"INSERT INTO TABLE_NAME VALUES ({row}, timestamp_ntz '2026-01-01')" for row in VALUES),
    )
    printed = reader.sql(f"SELECT * FROM {name(table)} WHERE id < 5")

    for row in printed.rows:
        for column, value in zip(printed.columns[:12], row, strict=False):
            if value is not None:
                found = reader.history(name(table), {column: to_text(value)})
                assert to_json(row) in map(to_json, found.rows), column


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ({"id": "x"}, "id=x: not a int"),
        ({"id": "1.5"}, "id=1.5: not a int"),
        ({"id": "99999999999"}, "not a int"),
        ({"small": "1.105"}, "not a decimal"),
        ({"dt": "yesterday"}, "not a date"),
        ({"b": "1"}, "not a boolean"),
        ({"bin": "?"}, "not a binary"),
        ({"arr": "[1]"}, "is no key to ask for"),
        ({"idd": "1"}, "no key column 'idd'; did you mean id"),
        ({"id": "77"}, "no version of id=77"),
    ],
)
def test_a_key_that_cannot_be_is_refused(reader, run, table, key, fault):
    run(f"CREATE TABLE TABLE_NAME ({TYPES}, _valid_from timestamp_ntz) USING iceberg")

    with pytest.raises(InvalidStepInputError, match=fault.replace("[", r"\[")):
        reader.history(name(table), key)


def test_a_table_without_history_is_refused(reader, run, table):
    run("CREATE TABLE TABLE_NAME (id int, d date) USING iceberg")

    with pytest.raises(SchemaMismatchError, match="no history table; it has no _valid_from"):
        reader.as_of(name(table), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.long
def test_tables_and_their_columns_are_those_of_the_contract(reader, spark, world):
    found = {table.name: table for table in reader.tables()}
    table = found[name(world.table)]

    assert table.keys == ("id",)
    assert (table.kind, found[f"{table.name}_journal"].kind) == ("scd2", "journal")
    assert table.types == dict(spark.table(world.table).dtypes)
    (counts,) = reader.count([table])
    assert counts.rows == spark.table(world.table).count()
    assert counts.current == query.current_rows(spark, world.table).count()
    assert table.changed_at is not None
