"""`lakekit doctor`, in this process."""

import json

import boto3
import pytest
from moto import mock_aws
from typer.testing import CliRunner, Result

from lakekit.cli.main import app


def doctor(*options: str) -> Result:
    return CliRunner().invoke(
        app, ["--project", "tests/project", "doctor", "--environment", "staging", *options]
    )


def test_without_credentials_it_lists_what_it_would_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boto3.session.Session, "get_credentials", lambda _: None)

    result = doctor("--format", "json")

    found = json.loads(result.stdout)
    assert (result.exit_code, {each["state"] for each in found}) == (1, {"unknown"})
    assert {"account", "secrets", "stacks"} <= {each["check"] for each in found}
    assert "there are no AWS credentials" in result.stderr


@mock_aws
def test_what_is_wrong_ends_it_with_1() -> None:
    result = doctor("--format", "json")

    found = {each["check"]: each for each in json.loads(result.stdout)}
    assert result.exit_code == 1
    assert found["account"]["state"] == "failed"
    assert found["bootstrap"]["text"].endswith("cdk bootstrap aws://222222222222/eu-west-1")


def test_an_unknown_environment_is_refused() -> None:
    result = CliRunner().invoke(
        app, ["--project", "tests/project", "doctor", "--environment", "nope"]
    )

    assert "has no environment 'nope'; there are" in str(result.exception)
