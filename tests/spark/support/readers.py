"""Tables as other engines read them."""

from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg
from pyiceberg.table import StaticTable

from lakekit.spark.iceberg.table import load_table


def read_everywhere(spark: Any, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of a table as PyIceberg reads them; DuckDB must read as many."""
    location = load_table(spark, table).operations().current().metadataFileLocation()
    rows = StaticTable.from_metadata(location).scan().to_arrow().to_pylist()
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        for package in (duckdb_extension_avro, duckdb_extension_iceberg):
            (file,) = Path(package.__file__).parent.rglob("*.duckdb_extension")
            connection.load_extension(str(file))
        found = connection.execute("FROM iceberg_scan(?)", [location]).to_arrow_table()
    assert found.num_rows == len(rows)
    return [tuple(row.values()) for row in rows]
