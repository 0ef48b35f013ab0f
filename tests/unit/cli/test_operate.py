"""An operator's commands against AWS as moto has it, from the mail to the next run."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import NoCredentialsError
from click.testing import Result
from moto import mock_aws
from typer.testing import CliRunner

from lakekit import layout
from lakekit.aws.object_store import S3ObjectStore
from lakekit.cli.main import app
from lakekit.errors import InvalidEnvironmentError, InvalidStepInputError, LakekitError
from lakekit.landing.index import Blocked, block
from tests.unit.runs.kit import NOON, begun, claimed, landed

ACCOUNT, REGION = "123456789012", "eu-west-1"
CAUSE = (
    "orders: run r would close 700 of 1000 current keys; history.max_deleted_ratio allows 0.5, "
    "and this sentence is long enough for two lines"
)
WAIT = '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 99, "End": true}}}'
NAME = ("orders", "20260101_120000")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3ObjectStore]:
    """Deploy the environment `dev`, with a landing that run `r` has blocked."""
    folder = tmp_path / "config/environments"
    folder.mkdir(parents=True)
    for name, account in (("dev", ACCOUNT), ("prod", "999999999999")):
        text = f'account: "{account}"\nregion: {REGION}\n'
        (folder / f"{name}.yaml").write_text(text)
    (folder / "base.yaml").write_text("notify: [a@example.org]\n")
    monkeypatch.chdir(tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        s3: Any = boto3.client("s3", REGION)
        bucket = f"lakekit-dev-landing-{ACCOUNT}-{REGION}"
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
        for machine in ("load_source", "maintain_tables"):
            boto3.client("stepfunctions", REGION).create_state_machine(
                name=f"lakekit-dev-{machine}", definition=WAIT,
                roleArn=f"arn:aws:iam::{ACCOUNT}:role/states",
            )  # fmt: skip
        found: Any = S3ObjectStore(bucket, s3)
        manifest = landed(found, {"id": 1})
        begun(found)
        claimed(found, manifest)
        why = Blocked(run_id="r", error="TooManyDeletedError", cause=CAUSE, blocked_at=NOON)
        block(found, manifest, why)
        yield found


def call(*words: str, environment: str = "dev") -> Result:
    return CliRunner().invoke(app, [*words, "--environment", environment])


def shown(*words: str) -> str:
    """Return what a command prints; it fits a terminal."""
    done = call(*words)
    assert done.exit_code == 0, done.exception
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > 80 and " " in line.strip()] == []
    return str(done.stdout)


def value(*words: str) -> Any:
    """Return the value that a command prints as JSON: a list has rows."""
    lists = words[0] in ("runs", "landings", "status")
    done = call(*words, *(("--format", "json") if lists else ("--json",)))
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def test_from_the_listing_to_the_run_that_merges_what_was_approved(store: S3ObjectStore) -> None:
    listed = shown("landings", "--blocked")
    described = shown("landings", *NAME)
    approved = shown("approve", *NAME, "--reason", "shops were closed")
    [run] = value("runs")

    assert listed.splitlines()[0] == "blocked  orders 20260101_120000  of shop"
    assert "TooManyDeletedError: orders: run r would close 700 of 1000" in listed
    assert "  lakekit approve orders 20260101_120000 --environment dev --reason " in described
    assert approved.splitlines()[0] == "approved: orders 20260101_120000"
    assert run["run_id"] in approved
    assert (run["source"], run["outcome"]) == ("shop", "running")
    assert value("landings", "--blocked") == []
    assert value("landings", *NAME)[0]["approval"]["decided_by"].startswith("arn:aws:sts:")
    assert "approved by" in shown("landings", *NAME)


@pytest.mark.parametrize("name", [
    ("r",), ("orders 20260101_120000",), ("raw/shop/orders/20260101_120000/manifest.json",),
])  # fmt: skip
def test_what_the_mail_names_is_rejected(store: S3ObjectStore, name: tuple[str, ...]) -> None:
    done = value("reject", *name, "--reason", "half a file")

    assert (done["decision"], done["started"]) == ("rejected", None)
    assert store.head(layout.rejected_key("raw/shop/orders/20260101_120000/"))
    assert value("landings") == []
    assert shown("landings") == "no landing waits\n"


def test_a_retry_starts_a_run(store: S3ObjectStore) -> None:
    assert shown("retry", "r").startswith("retried: orders 20260101_120000\nstarted run retried-")
    assert [each["state"] for each in value("landings")] == ["pending"]


def test_status_and_runs_fit_the_terminal(store: S3ObjectStore) -> None:
    states: Any = boto3.client("stepfunctions", REGION)
    machine = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:lakekit-dev-load_source"
    states.start_execution(stateMachineArn=machine, name="r", input='{"source": "shop"}')

    assert "  1 blocked: see lakekit landings --blocked\n" in shown("status")
    assert "  orders (1)\n" in shown("runs", "--source", "shop")
    assert shown("runs", "--source", "other") == "no runs\n"
    assert value("status", "--source", "shop")[0]["blocked"] == 1


def test_a_run_is_watched_to_its_end_and_shows_which_landing_waits(store: S3ObjectStore) -> None:
    states: Any = boto3.client("stepfunctions", REGION)
    machine = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:lakekit-dev-load_source"
    arn = states.start_execution(stateMachineArn=machine, name="r", input='{"source": "shop"}')[
        "executionArn"
    ]
    states.stop_execution(executionArn=arn, error="States.Timeout", cause="too long")

    watched = call("runs", "watch", arn)
    newest = call("runs", "watch", "--source", "shop", "--json")

    assert watched.exit_code == newest.exit_code == 1
    assert "ABORTED: " in watched.stdout
    assert "orders: failed: TooManyDeletedError: orders: run r would" in watched.stdout
    assert "  lakekit reject orders 20260101_120000 --environment dev --reason" in watched.stdout
    assert "run r: stopped in " in watched.stdout
    found = json.loads(newest.stdout)
    assert (found["execution"], found["status"]) == ("r", "ABORTED")
    assert found["report"]["tables"][0]["failed"]["error"] == "TooManyDeletedError"


@pytest.mark.parametrize(("words", "environment", "error", "text"), [
    (("runs", "watch", "x"), "dev", InvalidStepInputError, "there is no run x; lakekit runs lists"),
    (("runs", "watch"), "dev", InvalidStepInputError, "there are no runs"),
    (("runs", "watch", "r", "--source", "shop"), "dev", InvalidStepInputError, "not both"),
    (("landings",), "test", InvalidEnvironmentError, "no environment 'test'; there are dev, prod"),
    (("landings",), "prod", InvalidEnvironmentError, "account 999999999999, and the AWS"),
    (("approve", "x", "--reason", "y"), "dev", LakekitError, "there is no run x"),
    (("reject", "orders", "20250101_120000", "--reason", "y"), "dev", LakekitError, "no such"),
    (("landings", "r", "--blocked"), "dev", InvalidStepInputError, "or options that choose"),
    (("landings", "--source", "A/b"), "dev", InvalidStepInputError, "63 lower-case letters"),
    (("status", "--source", "x"), "dev", LakekitError, "nothing of such a source has landed"),
])  # fmt: skip
def test_what_is_wrong_is_said(
    store: S3ObjectStore, words: tuple[str, ...], environment: str, error: type, text: str
) -> None:
    failed = call(*words, environment=environment).exception

    assert isinstance(failed, error)
    assert text in str(failed)


def test_what_is_not_deployed_is_named(store: S3ObjectStore, tmp_path: Path) -> None:
    text = f'account: "{ACCOUNT}"\nregion: {REGION}\n'
    (tmp_path / "config/environments/test.yaml").write_text(text)

    for command in ("landings", "runs"):
        failed = call(command, environment="test").exception
        assert isinstance(failed, InvalidStepInputError)
        assert "is it deployed?" in str(failed)


def test_missing_credentials_are_one_line(
    store: S3ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(environment: object) -> None:
        raise NoCredentialsError

    monkeypatch.setattr("lakekit.aws.place.open_environment", refuse)

    failed = call("landings").exception
    assert isinstance(failed, InvalidStepInputError)
    assert str(failed).startswith("dev: Unable to locate credentials")


@pytest.mark.parametrize("words", [
    ["status"], ["status", "--environment", "dev", "--sandbox"],
])  # fmt: skip
def test_a_command_needs_one_place(words: list[str]) -> None:
    failed = CliRunner().invoke(app, words).exception

    assert str(failed) == "give --environment NAME or --sandbox"


def test_a_local_run_is_not_watched(store: S3ObjectStore) -> None:
    failed = CliRunner().invoke(app, ["runs", "watch"]).exception

    assert str(failed).startswith("a local run is shown by `lakekit run` itself")


def test_without_a_sandbox_it_is_said_how_to_start_one(tmp_path: Path) -> None:
    words = ["status", "--sandbox", "--data", str(tmp_path)]

    assert "lakekit sandbox up" in str(CliRunner().invoke(app, words).exception)


def test_a_smoke_run_needs_a_source(store: S3ObjectStore) -> None:
    done = call("smoke")

    assert isinstance(done.exception, InvalidStepInputError)
    assert str(done.exception) == (
        "give --source NAME or set smoke in config/environments/dev.yaml"
    )


def test_a_smoke_run_that_does_not_end_is_a_fault(
    store: S3ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine of these tests waits for longer than anybody."""
    from lakekit.cli.operate import smoke  # noqa: PLC0415

    monkeypatch.setattr(smoke, "timedelta", lambda minutes: timedelta(0))
    Path("config/environments/dev.yaml").write_text(
        f'account: "{ACCOUNT}"\nregion: {REGION}\nsmoke: shop\n'
    )

    done = call("smoke")

    assert done.exit_code == 1
    assert "running" in done.stdout
    assert "smoke: it still runs; look at it later with lakekit runs" in done.stderr
