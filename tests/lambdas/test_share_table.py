"""ShareTable on moto's Glue, Lake Formation and Athena."""

import json
from typing import Any

import boto3
import pytest

from lakekit.aws.readers.views import MOST_PAUSES, AthenaEngine
from lakekit.errors import SchemaMismatchError, StorageUnavailableError
from tests.lambdas.conftest import Account

TAG = "lakekit-dev-access"
VIEW = {"Table": {"DatabaseName": "lakekit_dev", "Name": "orders_current"}}
COLUMNS = {"id": "bigint", "price": "double", "_is_current": "boolean", "_row_hash": "bigint"}


def event(**detail: Any) -> dict[str, Any]:
    """Return an event of CompleteRun as the queue has it."""
    given = {"database": "lakekit_dev", "source": "shop", "table": "orders", "opened": 3, **detail}
    body = {"source": "lakekit", "detail-type": "TableLoaded", "detail": given}
    return {"Records": [{"messageId": "1", "body": json.dumps(body), "eventSource": "aws:sqs"}]}


@pytest.fixture
def readers(account: Account, monkeypatch: pytest.MonkeyPatch) -> Account:
    monkeypatch.setenv("LAKEKIT_ACCESS_TAG", TAG)
    monkeypatch.setenv("LAKEKIT_VIEW_WORKGROUP", "queries")
    lake: Any = boto3.client("lakeformation")
    lake.create_lf_tag(TagKey=TAG, TagValues=["open", "sensitive"])
    boto3.client("athena").create_work_group(Name="queries", Configuration={})
    old = {"Name": "cost", "Type": "double", "Parameters": {"iceberg.field.current": "false"}}
    columns = [{"Name": name, "Type": kind} for name, kind in COLUMNS.items()]
    account.glue.create_table(
        DatabaseName="lakekit_dev",
        TableInput={"Name": "orders", "StorageDescriptor": {"Columns": [*columns, old]}},
    )
    return account


def test_open_columns_get_the_tag_and_the_view_is_made(readers: Account) -> None:
    assert readers.call("share_table", event()) == {"batchItemFailures": []}

    lake: Any = boto3.client("lakeformation")
    [view] = lake.get_resource_lf_tags(Resource=VIEW)["LFTagsOnTable"]
    assert view["TagValues"] == ["open"]
    tags = lake.get_resource_lf_tags(
        Resource={"TableWithColumns": {"DatabaseName": "lakekit_dev", "Name": "orders",
                                       "ColumnNames": list(COLUMNS)}}
    )["LFTagsOnColumns"]  # fmt: skip
    assert {each["Name"]: each["LFTags"][0]["TagValues"] for each in tags} == {
        "id": ["open"], "price": ["open"], "_is_current": ["open"]
    }  # fmt: skip
    athena: Any = boto3.client("athena")
    [started] = athena.list_query_executions()["QueryExecutionIds"]
    query = athena.get_query_execution(QueryExecutionId=started)["QueryExecution"]
    assert query["WorkGroup"] == "queries"
    assert query["Query"].startswith('CREATE OR REPLACE VIEW "lakekit_dev"."orders_current" AS')


def test_a_table_without_a_contract_goes_back_to_the_queue(
    readers: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    found = readers.call("share_table", event(table="other"))

    assert found == {"batchItemFailures": [{"itemIdentifier": "1"}]}
    assert "shop has no contract 'other'" in capsys.readouterr().out


class Athena:
    """Answers with one state after the other."""

    def __init__(self, *states: str) -> None:
        self.states = list(states)

    def start_query_execution(self, **_: Any) -> dict[str, str]:
        return {"QueryExecutionId": "q"}

    def get_query_execution(self, **_: Any) -> Any:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return {"QueryExecution": {"Status": {"State": state, "StateChangeReason": "line 1:8"}}}


def test_what_athena_says_of_a_statement_is_passed_on() -> None:
    slept: list[float] = []

    AthenaEngine("w", Athena("QUEUED", "RUNNING", "SUCCEEDED"), slept.append).run("SELECT 1")
    assert len(slept) == 2
    with pytest.raises(SchemaMismatchError, match="Athena: line 1:8: SELECT 1"):
        AthenaEngine("w", Athena("FAILED"), slept.append).run("SELECT 1")
    with pytest.raises(StorageUnavailableError, match="q has not ended"):
        AthenaEngine("w", Athena("RUNNING"), slept.append).run("SELECT 1")
    assert len(slept) == 2 + MOST_PAUSES
