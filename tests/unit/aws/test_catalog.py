"""The catalog against recorded answers of Glue and S3."""

import gzip
import io
import json
from base64 import b64encode
from typing import Any

import pytest
from botocore.response import StreamingBody

from lakekit.aws.catalog import GlueCatalog
from lakekit.errors import SchemaMismatchError, StorageUnavailableError
from tests.unit.aws.conftest import Stubs


def read_table(stubs: Stubs) -> Any:
    return GlueCatalog("db", stubs["glue"], stubs["s3"]).metadata("orders")


def point_at(stubs: Stubs, location: str = "s3://lake/w/metadata/1.json") -> None:
    answer = {"Table": {"Name": "orders", "Parameters": {"metadata_location": location}}}
    stubs.answer("glue", "get_table", answer, DatabaseName="db", Name="orders")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_reads_the_metadata_that_the_catalog_points_at(stubs: Stubs, pack: Any) -> None:
    point_at(stubs)
    body = pack(b'{"format-version": 2}')
    answer = {"Body": StreamingBody(io.BytesIO(body), len(body))}
    stubs.answer("s3", "get_object", answer, Bucket="lake", Key="w/metadata/1.json")

    assert read_table(stubs) == {"format-version": 2}


def test_a_table_that_the_catalog_lacks_is_none(stubs: Stubs) -> None:
    stubs.refuse("glue", "get_table", "EntityNotFoundException")

    assert read_table(stubs) is None


def test_a_table_that_is_not_of_iceberg_is_refused(stubs: Stubs) -> None:
    stubs.answer("glue", "get_table", {"Table": {"Name": "orders"}})

    with pytest.raises(SchemaMismatchError, match=r"db\.orders is not an Iceberg table"):
        read_table(stubs)


def test_metadata_that_a_commit_took_away_is_read_again(stubs: Stubs) -> None:
    point_at(stubs)
    stubs.refuse("s3", "get_object", "NoSuchKey", 404)

    with pytest.raises(StorageUnavailableError, match="does not exist any more"):
        read_table(stubs)


def test_a_throttled_catalog_is_worth_a_retry(stubs: Stubs) -> None:
    stubs.refuse("glue", "get_table", "ThrottlingException")

    with pytest.raises(StorageUnavailableError):
        read_table(stubs)


def test_views_are_found_by_the_tables_that_they_name_also_as_athena_keeps_them(
    stubs: Stubs,
) -> None:
    packed = b64encode(json.dumps({"originalSql": 'SELECT * FROM "Orders"'}).encode()).decode()
    tables = [
        {"Name": "orders", "TableType": "EXTERNAL_TABLE"},
        {"Name": "orders_old", "TableType": "EXTERNAL_TABLE"},
        {"Name": "v1", "TableType": "VIRTUAL_VIEW",
         "ViewOriginalText": f"/* Presto View: {packed} */"},
        {"Name": "v2", "TableType": "VIRTUAL_VIEW", "ViewOriginalText": "select 1 from orders_old"},
    ]  # fmt: skip
    stubs.answer("glue", "get_tables", {"TableList": tables})

    views = GlueCatalog("db", stubs["glue"], stubs["s3"]).views()

    assert views == {"orders": ["v1"], "orders_old": ["v2"]}
