"""Every snippet of Python, SQL, JSON and shell is run by a test: here, or by one of its own."""

import hashlib
import json
import shlex
import warnings
from pathlib import Path
from typing import Any

import boto3
import duckdb
import pytest
from botocore.awsrequest import AWSResponse
from moto import mock_aws
from moto.core.botocore_stubber import MockRawResponse

from lakekit.layout import OWN
from lakekit.sandbox.rights.policies import Need, allowed, parse_document
from lakekit.steps.functions import LoadRequest
from lakekit.steps.jobs import RebuildTable
from tests.docs.pages import ROOT, snippets
from tests.docs.test_commands import parse
from tests.docs.test_unverified_page import unknown
from tests.warehouses import FIRST, small_warehouse

# Where the blocks of a page are run, if not here.
RUN = {
    ("python", "docs/python.md"): "tests/unit/warehouse/test_notebook.py",
    ("python", "docs/reading.md"): "tests/spark/test_query.py",
    ("sql", "docs/reading.md"): "tests/spark/test_query.py",
    ("sql", "docs/operations.md"): "tests/spark/test_query.py",
    ("json", "docs/tutorial.md"): "tests/docs/test_tutorial.py",
    ("bash", "docs/tutorial.md"): "tests/docs/test_tutorial.py",
}
HERE = {
    ("python", "docs/local-warehouse.md"), ("python", "docs/sandbox.md"),
    ("sql", "docs/scd2.md"), ("json", "docs/operations.md"), ("bash", "docs/deploy.md"),
    ("json", "docs/deploy.md"), ("bash", "docs/governance.md"),
    ("json", "examples/time_zones/README.md"), ("json", "examples/time_zone_changes/README.md"),
}  # fmt: skip


def texts(language: str, page: str) -> list[str]:
    return [each.text for each in snippets(language) if each.page == page]


@pytest.mark.parametrize("language", ["python", "sql", "json", "bash"])
def test_no_page_has_a_snippet_that_nothing_runs(language: str) -> None:
    there = {(language, each.page) for each in snippets(language)}

    assert there <= {*RUN, *HERE}
    for page, test in RUN.items():
        assert Path(page[1]).name in (ROOT / test).read_text(), test


def test_another_engine_reads_the_folder_of_a_local_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings():
        # PyIceberg says that the first overwrite deletes nothing.
        warnings.simplefilter("ignore")
        small_warehouse(tmp_path / "warehouse")
    monkeypatch.chdir(tmp_path)
    [text] = texts("python", "docs/local-warehouse.md")
    *body, last = text.strip().splitlines()
    names: dict[str, object] = {}

    exec("\n".join([*body, f"rows = {last}"]), names)  # noqa: S102  the page's own code

    assert names["rows"].column_names[0] == "icao"  # type: ignore[attr-defined]
    assert FIRST not in names["rows"].column("_valid_from").to_pylist()  # type: ignore[attr-defined]


def test_a_file_reaches_the_inbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.chdir(ROOT)
    bucket = "lakekit-dev-landing-111111111111-eu-west-1"
    text, *_ = texts("python", "docs/sandbox.md")
    with mock_aws():
        boto3.client("s3").create_bucket(Bucket=bucket)
        exec(text, {})  # noqa: S102  the page's own code
        [found] = boto3.client("s3").list_objects_v2(Bucket=bucket)["Contents"]

    assert found["Key"].startswith("inbox/airports_api/airports/")


def test_a_schedule_gets_another_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    _, text, _ = texts("python", "docs/sandbox.md")
    place = {"GroupName": "lakekit-dev-sources", "Name": "airports_api"}
    with mock_aws():
        scheduler: Any = boto3.client("scheduler")
        scheduler.create_schedule_group(Name=place["GroupName"])
        target = {
            "Arn": "arn:aws:states:eu-west-1:1:stateMachine:m",
            "RoleArn": "arn:aws:iam::1:role/r",
        }
        scheduler.create_schedule(
            **place, FlexibleTimeWindow={"Mode": "OFF"}, Target=target,
            ScheduleExpression="rate(1 day)", State="DISABLED",
        )  # fmt: skip
        exec(text, {})  # noqa: S102  the page's own code
        found = scheduler.get_schedule(**place)

    assert (found["State"], found["Target"]["Arn"]) == ("ENABLED", target["Arn"])
    assert found["ScheduleExpression"].startswith("at(20")


def test_dropped_files_are_fetched_from_their_dead_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    *_, text = texts("python", "docs/sandbox.md")
    sent: list[dict[str, str]] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        sent.append(json.loads(request.body))
        return AWSResponse(request.url, 200, {}, MockRawResponse(b"{}"))

    session = boto3.Session()
    session.events.register("before-send.sqs.StartMessageMoveTask", answer)
    monkeypatch.setattr(boto3, "client", session.client)
    exec(text, {})  # noqa: S102  the page's own code

    assert sent == [{"SourceArn": "arn:aws:sqs:eu-west-1:111111111111:lakekit-dev-inbox_dead"}]


def test_who_deploys_may_take_the_roles_of_the_bootstrap() -> None:
    [text] = texts("json", "docs/deploy.md")
    [statement] = parse_document({"Statement": [json.loads(text)]})

    for role in ("deploy", "file-publishing", "lookup"):
        name = f"cdk-hnb659fds-{role}-role-111111111111-eu-west-1"
        taken = Need("sts:AssumeRole", f"arn:aws:iam::111111111111:role/{name}")
        assert allowed([statement], taken)
    assert not allowed([statement], Need("sts:AssumeRole", "arn:aws:iam::111111111111:role/admin"))


def test_the_api_knows_what_governance_asks_of_an_account() -> None:
    known = 0
    for text in texts("bash", "docs/governance.md"):
        words = [each.rstrip(";") for each in shlex.split(text, comments=True)]
        begins = [number for number, word in enumerate(words) if word == "aws"]
        for begin, end in zip(begins, [*begins[1:], len(words)], strict=True):
            command = [each for each in words[begin:end] if each not in ("done", ">")]
            if command[1:3] != ["cloudtrail", "validate-logs"]:  # of the AWS CLI alone
                assert list(unknown(shlex.join(command))) == [], command
                known += 1
            if "put-events" in command:
                [entry] = json.loads(command[command.index("--entries") + 1])
                assert json.loads(entry["Detail"]).keys() == {"database", "source", "table"}
    assert known == 4


def test_a_history_is_read_at_a_time_and_as_it_is_now() -> None:
    [text] = texts("sql", "docs/scd2.md")
    at, now = (line for line in text.splitlines() if line)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE customers AS SELECT * FROM (VALUES "
            "(1, TIMESTAMP '2026-03-01', TIMESTAMP '2026-03-04', false), "
            "(1, TIMESTAMP '2026-03-04', NULL, true)) AS v(id, _valid_from, _valid_to, _is_current)"
        )

        assert [row[3] for row in connection.sql(at).fetchall()] == [False]
        assert [row[3] for row in connection.sql(now).fetchall()] == [True]


def test_a_run_and_a_rebuild_take_their_input() -> None:
    load, rebuild = map(json.loads, texts("json", "docs/operations.md"))

    assert LoadRequest.from_event(load).extraction_time
    arguments = {name.removeprefix("--"): value for name, value in rebuild.items()}
    assert RebuildTable.model_validate(arguments | {"lease_seconds": 60}).table == "customers"


def test_the_branch_of_a_run_is_named_as_the_page_says() -> None:
    name = f"{OWN}{hashlib.sha256(b'shop-again-1').hexdigest()[:16]}"

    assert all(name in text or OWN in text for text in texts("sql", "docs/operations.md"))
    assert f"DROP BRANCH `{name}`" in texts("sql", "docs/operations.md")[1]


def test_the_records_of_an_example_are_in_its_files() -> None:
    [lines] = texts("json", "examples/time_zones/README.md")
    [answer] = map(json.loads, texts("json", "examples/time_zone_changes/README.md"))
    file = ROOT / "examples/time_zones/data/2022b.ndjson"
    known = [json.loads(line) for line in file.read_text().splitlines()]

    shown = [json.loads(line) for line in lines.splitlines()]
    assert all(record in known for record in shown)
    for record in answer["changes"]:
        deleted = record.pop("deleted")
        assert {**record, "op": "D" if deleted else record.get("op", "U")} in known


def test_a_block_of_shell_is_a_command_of_lakekit() -> None:
    for text in texts("bash", "docs/deploy.md"):
        assert shlex.split(text)[0] == "lakekit"
        parse(text)
