"""Schedules start runs by the clock, a pause switches them off, and dead letters come back."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakekit.sandbox import Sandbox
from lakekit.sandbox.bridges.schedules import is_due
from tests.worlds import World, until

PAUSE = "lambdas.pause_schedules.handler.handler"
MADE = datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "zone", "since", "now", "due"),
    [
        ("at(2026-01-01T06:00:00)", "UTC", "05:59:59", "06:00:00", True),
        ("at(2026-01-01T06:00:00)", "Europe/Berlin", "04:59:59", "05:00:01", True),
        ("at(2026-01-01T06:00:00)", "UTC", "06:00:00", "06:00:01", False),
        ("cron(0 6 * * ? *)", "UTC", "05:59:59", "06:00:01", True),
        ("cron(0 6 * * ? *)", "UTC", "06:00:00", "06:00:01", False),
        ("cron(0 6 * * ? *)", "Europe/Berlin", "04:59:59", "05:00:00", True),
        ("rate(5 minutes)", "UTC", "00:05:29", "00:05:30", True),
        ("rate(5 minutes)", "UTC", "00:05:30", "00:05:31", False),
        ("rate(5 minutes)", "UTC", "00:00:20", "00:00:31", False),
    ],
)
def test_a_schedule_is_due_once(
    expression: str, zone: str, since: str, now: str, due: bool
) -> None:
    schedule = {"ScheduleExpression": expression, "ScheduleExpressionTimezone": zone,
                "CreationDate": MADE}  # fmt: skip
    times = (datetime.fromisoformat(f"2026-01-01T{each}+00:00") for each in (since, now))

    assert is_due(schedule, *times) is due


class Group:
    """The schedules of sources in the sandbox."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.client: Any = sandbox.client("scheduler")
        [self.name] = [each["Name"] for each in self.client.list_schedule_groups()["ScheduleGroups"]
                       if each["Name"] != "default"]  # fmt: skip
        self.target = self.get("shop_api")["Target"]

    def get(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get_schedule(GroupName=self.name, Name=name)
        return found

    def add(self, name: str, arn: str, given: dict[str, str], *, group: str = "") -> None:
        """Add a schedule that fires in some seconds, also on a busy machine."""
        time = datetime.now(UTC) + timedelta(seconds=5)
        self.client.create_schedule(
            GroupName=group or self.name, Name=name, State="ENABLED",
            ScheduleExpression=f"at({time:%Y-%m-%dT%H:%M:%S})",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": arn, "RoleArn": self.target["RoleArn"], "Input": json.dumps(given)},
        )  # fmt: skip


def pausing(sandbox: Sandbox, group: Group) -> str:
    """Return the function PauseSchedules, which dev has not, with what a function of dev knows."""
    functions = sandbox.client("lambda")
    known = functions.get_function_configuration(FunctionName=sandbox.names["functions"]["sweep"])
    # Only staging's templates have the role of the function; one of the test's own may do all.
    trusted = {"Version": "2012-10-17", "Statement": []}
    role = sandbox.client("iam").create_role(
        RoleName="pausing", AssumeRolePolicyDocument=json.dumps(trusted)
    )["Role"]["Arn"]
    variables = {**known["Environment"]["Variables"], "LAKEKIT_SCHEDULE_GROUP": group.name}
    made = functions.create_function(
        FunctionName="pause_schedules", Handler=PAUSE, Role=role, Runtime="python3.11",
        Code={"ZipFile": b"PK\x05\x06" + bytes(18)}, Timeout=60,
        Environment={"Variables": variables},
    )  # fmt: skip
    return str(made["FunctionArn"])


def test_a_schedule_starts_a_run_until_a_pause_switches_it_off(
    sandbox: Sandbox, world: World
) -> None:
    group, machines = Group(sandbox), sandbox.client("stepfunctions")
    load = sandbox.names["machines"]["load_source"]

    def runs() -> list[dict[str, Any]]:
        found = machines.list_executions(stateMachineArn=load)["executions"]
        each = [machines.describe_execution(executionArn=e["executionArn"]) for e in found]
        return [e for e in each if json.loads(e["input"])["source"] == world.source]

    # Nothing is served, so that the run ends without Spark.
    group.add(world.source, load, {"source": world.source, "origin": "schedule"})
    [run] = until(lambda: [each for each in runs() if each["status"] == "FAILED"])
    assert json.loads(run["input"])["origin"] == "schedule"
    assert run["error"] == "SourceRejectedError"

    function = pausing(sandbox, group)
    for action, state in (("pause", "DISABLED"), ("resume", "ENABLED")):
        group.add(f"{action}_{world.source}", function, {"action": action}, group="default")
        until(lambda: group.get(world.source)["State"] == state)  # noqa: B023
    assert group.get("shop_api")["State"] == "DISABLED"
    assert len(runs()) == 1
