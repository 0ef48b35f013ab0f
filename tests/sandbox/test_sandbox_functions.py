"""Functions really run, each in a process of its own, as on AWS."""

import json
import time
from typing import Any

import pytest

from lakekit.sandbox import Sandbox


@pytest.fixture
def function(sandbox: Sandbox, request: pytest.FixtureRequest):
    """Deploy a stand-in as a function of its own."""

    def deploy(handler: str, suffix: str = "", **options: Any) -> str:
        role = sandbox.client("iam").list_roles()["Roles"][0]["Arn"]
        name = f"{request.node.name[:40]}-{handler}{suffix}"
        sandbox.client("lambda").create_function(
            FunctionName=name,
            Handler=f"tests.sandbox.stand_ins.{handler}",
            Role=role,
            Runtime="python3.11",
            Code={"ZipFile": b"PK\x05\x06" + bytes(18)},
            **options,
        )
        return name

    return deploy


def invoke(sandbox: Sandbox, name: str, event: Any = None) -> tuple[str | None, Any]:
    answer = sandbox.client("lambda").invoke(
        FunctionName=name, Payload=json.dumps(event or {}).encode()
    )
    return answer.get("FunctionError"), json.load(answer["Payload"])


def test_a_function_gets_its_event_context_and_environment(sandbox, function):
    name = function("echo", Environment={"Variables": {"STAND_IN": "42"}}, Timeout=5)

    error, answer = invoke(sandbox, name, {"a": [1]})

    assert error is None
    assert (answer["event"], answer["variable"]) == ({"a": [1]}, "42")
    assert (answer["name"], answer["endpoint"]) == (name, sandbox.endpoint)
    assert answer["arn"] == f"arn:aws:lambda:eu-west-1:111111111111:function:{name}"
    assert 4000 < answer["remaining"] <= 5000
    log = sandbox.folder / "logs" / "functions" / f"{name}.log"
    assert "a line for the log" in log.read_text()


def test_a_function_stays_warm_in_a_process_of_its_own(sandbox, function):
    first, second = function("echo"), function("echo", suffix="-2")

    pids = [invoke(sandbox, name)[1]["pid"] for name in (first, second, first)]

    assert pids[0] == pids[2] != pids[1]


def test_a_version_keeps_what_it_was_published_with(sandbox, function):
    name = function("echo", Environment={"Variables": {"STAND_IN": "1"}})
    client = sandbox.client("lambda")
    version = client.publish_version(FunctionName=name)["FunctionArn"]
    client.update_function_configuration(
        FunctionName=name, Environment={"Variables": {"STAND_IN": "2"}}
    )

    answers = {which: invoke(sandbox, which)[1] for which in (version, name, f"{name}:1")}

    assert {which: each["variable"] for which, each in answers.items()} == {
        version: "1", name: "2", f"{name}:1": "1",
    }  # fmt: skip
    assert answers[version]["arn"] == version
    assert version.endswith(f"{name}:1")


def test_an_error_comes_back_with_its_class_name(sandbox, function):
    error, answer = invoke(sandbox, function("fail"))

    assert error == "Unhandled"
    assert (answer["errorType"], answer["errorMessage"]) == ("StandInError", "no luck")
    assert "stand_ins.py" in answer["stackTrace"][-1]


def test_a_function_that_takes_too_long_is_ended(sandbox, function):
    started = time.monotonic()

    error, answer = invoke(sandbox, function("sleep", Timeout=1))

    assert (error, answer["errorType"]) == ("Unhandled", "Sandbox.Timedout")
    assert "Task timed out after 1.00 seconds" in answer["errorMessage"]
    assert time.monotonic() - started < 10


def test_a_function_that_crashes_says_so_and_works_again(sandbox, function):
    name = function("crash")

    answers = [invoke(sandbox, name) for _ in range(2)]

    assert {answer["errorType"] for _, answer in answers} == {"Runtime.ExitError"}
    assert "exit code 3" in answers[0][1]["errorMessage"]


def test_a_missing_function_is_not_found(sandbox):
    client = sandbox.client("lambda")
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        client.invoke(FunctionName="nobody")
