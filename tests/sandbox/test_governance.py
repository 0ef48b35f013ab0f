"""A sandbox with all that governs data: a loaded table is shown to its readers."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakekit.sandbox import Sandbox
from tests.sandboxes import PROJECT, ROOT, WAIT_SCALE

GOVERNED = """
lake_formation: {analysts: ["arn:aws:iam::111111111111:role/analyst"]}
queries: {views: true}
audit: {config: recorder}
catalog_key: arn:aws:kms:eu-west-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef
"""
COLUMNS = [{"Name": "id", "Type": "bigint"}, {"Name": "_row_hash", "Type": "bigint"}]


@pytest.fixture(scope="module")
def governed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    project = tmp_path_factory.mktemp("project")
    shutil.copytree(PROJECT / "config", project / "config")
    file: Path = project / "config/environments/dev.yaml"
    file.write_text(file.read_text() + GOVERNED)
    folder = tmp_path_factory.mktemp("sandbox")
    with Sandbox(root=ROOT, project=project, folder=folder, wait_scale=WAIT_SCALE) as sandbox:
        yield sandbox


@pytest.mark.long
def test_an_event_of_a_load_opens_columns_and_asks_athena_for_the_view(governed: Sandbox) -> None:
    database, athena = governed.names["database"], governed.client("athena")
    governed.client("glue").create_table(
        DatabaseName=database,
        TableInput={"Name": "customers", "StorageDescriptor": {"Columns": COLUMNS}},
    )
    detail = {"database": database, "source": "shop_api", "table": "customers"}

    governed.client("events").put_events(
        Entries=[{"Source": "lakekit", "DetailType": "TableLoaded", "Detail": json.dumps(detail)}]
    )

    started: list[str] = []
    for _ in range(600):
        if started := athena.list_query_executions()["QueryExecutionIds"]:
            break
        time.sleep(0.1)
    query = athena.get_query_execution(QueryExecutionId=started[0])["QueryExecution"]["Query"]
    assert query.startswith('CREATE OR REPLACE VIEW "lakekit_dev"."customers_current"')
    assert "_row_hash" not in query
    tags: Any = governed.client("lakeformation").get_resource_lf_tags(
        Resource={"TableWithColumns": {"DatabaseName": database, "Name": "customers",
                                       "ColumnNames": ["id", "_row_hash"]}}
    )["LFTagsOnColumns"]  # fmt: skip
    assert [(each["Name"], each["LFTags"][0]["TagValues"]) for each in tags] == [("id", ["open"])]
