"""PauseSchedules on moto's EventBridge Scheduler."""

from typing import Any

import boto3
import pytest

from tests.lambdas.conftest import ACCOUNT, MACHINE, Account

TARGET = {"Arn": MACHINE, "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/schedules",
          "Input": '{"source": "shop"}'}  # fmt: skip


@pytest.fixture
def scheduler(account: Account, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("LAKEKIT_SCHEDULE_GROUP", "sources")
    client: Any = boto3.client("scheduler")
    client.create_schedule_group(Name="sources")
    for name, state in (("shop", "ENABLED"), ("by_hand", "DISABLED")):
        client.create_schedule(
            GroupName="sources", Name=name, State=state, ScheduleExpression="rate(1 hour)",
            FlexibleTimeWindow={"Mode": "OFF"}, Target=TARGET,
        )  # fmt: skip
    return client


def test_a_pause_switches_schedules_off_and_leaves_all_else_of_them(
    account: Account, scheduler: Any
) -> None:
    def schedule(name: str) -> tuple[str, Any, str]:
        found = scheduler.get_schedule(GroupName="sources", Name=name)
        return found["State"], found["Target"]["Input"], found["ScheduleExpression"]

    assert account.call("pause_schedules", {"action": "pause"}) == {"switched": 1}
    assert schedule("shop") == ("DISABLED", TARGET["Input"], "rate(1 hour)")
    assert account.call("pause_schedules", {"action": "resume"}) == {"switched": 1}
    assert schedule("shop")[0] == "ENABLED"
    assert schedule("by_hand")[0] == "DISABLED"
