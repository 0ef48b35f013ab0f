"""The adapters against recorded answers of their services."""

import gzip
import io
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber
from pydantic import TypeAdapter, ValidationError

from lakekit import layout
from lakekit.aws.announcements import Announcer
from lakekit.aws.catalog import GlueCatalog
from lakekit.aws.executions import Executions, Owners
from lakekit.aws.secrets import read_secret
from lakekit.aws.settings import read_settings
from lakekit.errors import (
    InvalidEnvironmentError,
    SchemaMismatchError,
    SourceRejectedError,
    StorageUnavailableError,
)
from lakekit.events import RunId
from lakekit.runs.complete_run import TableLoaded

MACHINE = "arn:aws:states:eu-central-1:123456789012:stateMachine:load_source"
EXECUTION = MACHINE.replace(":stateMachine:", ":execution:") + ":r"
LOADED = TableLoaded(
    table="orders", run_id="r", source="shop", snapshot_id=2, opened=3, closed=1, unchanged=0,
    quarantined=4,
)  # fmt: skip
ENVIRONMENT = {
    "LAKEKIT_ENVIRONMENT": "dev",
    "LAKEKIT_LANDING_BUCKET": "b",
    "LAKEKIT_DATABASE": "d",
    "LAKEKIT_WAREHOUSE": "s3://w",
}


class Stubs:
    """Clients that answer what a test gives them, in order, and nothing else."""

    def __init__(self) -> None:
        self.stubbers: dict[str, Stubber] = {}

    def __getitem__(self, service: str) -> Any:
        return self._stubber(service).client

    def answer(self, service: str, method: str, response: Any = None, **asked: Any) -> None:
        self._stubber(service).add_response(method, response or {}, asked or None)

    def refuse(self, service: str, method: str, code: str, status: int = 400) -> None:
        self._stubber(service).add_client_error(method, code, http_status_code=status)

    def _stubber(self, service: str) -> Stubber:
        if service not in self.stubbers:
            keys: Any = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
            client = boto3.client(service, "eu-central-1", **keys)  # type: ignore[call-overload]
            self.stubbers[service] = Stubber(client)
            self.stubbers[service].activate()
        return self.stubbers[service]


@pytest.fixture
def stubs() -> Iterator[Stubs]:
    stubs = Stubs()
    yield stubs
    for stubber in stubs.stubbers.values():
        stubber.assert_no_pending_responses()


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

    with pytest.raises(StorageUnavailableError, match="is gone"):
        read_table(stubs)


def test_a_throttled_catalog_is_worth_a_retry(stubs: Stubs) -> None:
    stubs.refuse("glue", "get_table", "ThrottlingException")

    with pytest.raises(StorageUnavailableError):
        read_table(stubs)


def test_starts_an_execution_under_its_name(stubs: Stubs) -> None:
    answer = {"executionArn": EXECUTION, "startDate": 0}
    stubs.answer("stepfunctions", "start_execution", answer,
                 stateMachineArn=MACHINE, name="r", input='{"a": 1}')  # fmt: skip

    assert Executions(MACHINE, stubs["stepfunctions"]).start("r", {"a": 1})


def test_a_name_that_was_used_before_starts_nothing(stubs: Stubs) -> None:
    stubs.refuse("stepfunctions", "start_execution", "ExecutionAlreadyExists")

    assert not Executions(MACHINE, stubs["stepfunctions"]).start("r", {})


@pytest.mark.parametrize(
    ("status", "running"),
    [("RUNNING", True), ("SUCCEEDED", False), ("FAILED", False), ("TIMED_OUT", False),
     ("ABORTED", False), ("PENDING_REDRIVE", True)],
)  # fmt: skip
def test_an_execution_is_at_work_until_it_has_ended(
    stubs: Stubs, status: str, running: bool
) -> None:
    answer = {"executionArn": EXECUTION, "stateMachineArn": MACHINE, "status": status,
              "startDate": 0}  # fmt: skip
    stubs.answer("stepfunctions", "describe_execution", answer, executionArn=EXECUTION)

    assert Executions(MACHINE, stubs["stepfunctions"]).is_running("r") is running


def test_an_owner_that_is_no_execution_counts_as_at_work(stubs: Stubs) -> None:
    stubs.refuse("stepfunctions", "describe_execution", "ExecutionDoesNotExist")

    assert Executions(MACHINE, stubs["stepfunctions"]).is_running("r")


def test_a_rebuild_counts_as_at_work_and_has_a_name_that_no_execution_has(stubs: Stubs) -> None:
    # Nothing is asked: Step Functions takes no such name.
    executions = Executions(MACHINE, stubs["stepfunctions"])

    assert Owners(executions, executions).is_running(layout.REBUILD_OWNER)
    with pytest.raises(ValidationError):
        TypeAdapter(RunId).validate_python(layout.REBUILD_OWNER)


def test_reads_the_text_of_a_secret(stubs: Stubs) -> None:
    stubs.answer("secretsmanager", "get_secret_value", {"SecretString": "v"}, SecretId="n")

    assert read_secret(stubs["secretsmanager"], "n") == "v"


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException"])
def test_a_secret_that_cannot_be_read_is_told_by_its_name(stubs: Stubs, code: str) -> None:
    stubs.refuse("secretsmanager", "get_secret_value", code)

    with pytest.raises(SourceRejectedError, match=f"secret n: {code}"):
        read_secret(stubs["secretsmanager"], "n")


def test_a_secret_without_text_is_refused(stubs: Stubs) -> None:
    stubs.answer("secretsmanager", "get_secret_value", {"SecretBinary": b"v"})

    with pytest.raises(SourceRejectedError, match="secret n: has no text"):
        read_secret(stubs["secretsmanager"], "n")


def test_tells_of_a_load_in_an_event_and_in_metrics(
    stubs: Stubs, capsys: pytest.CaptureFixture[str]
) -> None:
    detail = {"database": "db", **LOADED.model_dump(mode="json")}
    entry = {"Source": "lakekit", "DetailType": "TableLoaded", "Detail": json.dumps(detail),
             "Resources": ["db.orders"]}  # fmt: skip
    stubs.answer("events", "put_events", {"FailedEntryCount": 0, "Entries": []}, Entries=[entry])

    Announcer("db", stubs["events"])(LOADED)

    metrics = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {m["table"] for m in metrics} == {"orders"}
    found = {name: value for m in metrics for name, value in m.items() if name[:1].isupper()}
    assert found == {
        "VersionsOpened": [3.0], "VersionsClosed": [1.0], "RecordsUnchanged": [0.0],
        "RecordsQuarantined": [4.0],
    }  # fmt: skip


def test_an_event_that_the_bus_did_not_take_is_sent_again(stubs: Stubs) -> None:
    entries = [{"ErrorCode": "InternalFailure"}]
    stubs.answer("events", "put_events", {"FailedEntryCount": 1, "Entries": entries})

    with pytest.raises(StorageUnavailableError, match="InternalFailure"):
        Announcer("db", stubs["events"])(LOADED)


def test_the_environment_is_read_at_the_door() -> None:
    urls = '{"shop": "http://127.0.0.1:8000"}'
    settings = read_settings(ENVIRONMENT | {"LAKEKIT_BASE_URLS": urls, "PATH": "/bin"})

    assert settings.landing_bucket == "b"
    assert settings.base_urls == {"shop": "http://127.0.0.1:8000"}


@pytest.mark.parametrize(
    ("change", "path"),
    [({"LAKEKIT_DATABASE": ""}, "database"), ({"LAKEKIT_BASE_URLS": "nonsense"}, "base_urls")],
)
def test_says_what_the_environment_lacks(change: dict[str, str], path: str) -> None:
    with pytest.raises(InvalidEnvironmentError, match=f"environment: {path}"):
        read_settings(ENVIRONMENT | change)
