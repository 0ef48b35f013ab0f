"""Schedules of sources, in the environments that have them."""

import json
from typing import Any

import pytest

from lakekit.steps.functions import LoadRequest
from tests.infra.conftest import Stacks

Json = dict[str, Any]


@pytest.fixture(scope="module")
def schedules(two: dict[str, Stacks]) -> dict[str, Json]:
    found = two["pre-prod"]["orchestration"].find_resources("AWS::Scheduler::Schedule")
    return {each["Properties"]["Name"]: each["Properties"] for each in found.values()}


def test_a_source_with_a_schedule_has_one_of_its_name_in_each_of_its_environments(
    two: dict[str, Stacks], schedules: dict[str, Json]
) -> None:
    in_dev = two["dev"]["orchestration"].find_resources("AWS::Scheduler::Schedule")

    assert set(schedules) == {
        "shop", "hourly", "group", "inbox", "of", "role", "schedules",
    }  # fmt: skip
    assert {each["Properties"]["Name"] for each in in_dev.values()} == {*schedules, "new_one"}


def test_a_schedule_has_its_time_zone_and_window(schedules: dict[str, Json]) -> None:
    def timing(name: str) -> tuple[object, ...]:
        keys = ("ScheduleExpression", "ScheduleExpressionTimezone", "FlexibleTimeWindow", "State")
        return tuple(schedules[name][key] for key in keys)

    window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}
    assert timing("shop") == ("cron(0 6 ? * MON-FRI *)", "Europe/London", window, "ENABLED")
    assert timing("hourly") == ("rate(1 hour)", "UTC", {"Mode": "OFF"}, "ENABLED")


def test_an_environment_may_disable_its_schedules(two: dict[str, Stacks]) -> None:
    found = two["dev"]["orchestration"].find_resources("AWS::Scheduler::Schedule")

    assert {each["Properties"]["State"] for each in found.values()} == {"DISABLED"}


def test_a_schedule_starts_a_run_that_knows_who_started_it(schedules: dict[str, Json]) -> None:
    request = LoadRequest.from_event(json.loads(schedules["shop"]["Target"]["Input"]))

    assert (request.source, request.origin) == ("shop", "schedule")


def test_all_schedules_share_one_group_one_role_and_one_queue(
    two: dict[str, Stacks], schedules: dict[str, Json]
) -> None:
    template = two["pre-prod"]["orchestration"]
    [group] = template.find_resources("AWS::Scheduler::ScheduleGroup")
    ways = {
        json.dumps([each["GroupName"], *(each["Target"][key] for key in (
            "Arn", "RoleArn", "DeadLetterConfig", "RetryPolicy"))])
        for each in schedules.values()
    }  # fmt: skip

    [way] = map(json.loads, ways)
    assert way[0] == {"Ref": group}
    assert way[4] == {"MaximumEventAgeInSeconds": 7200, "MaximumRetryAttempts": 10}
    policies = [
        policy["Properties"]["PolicyDocument"]["Statement"]
        for policy in template.find_resources("AWS::IAM::Policy").values()
        if {"Fn::GetAtt": [policy["Properties"]["Roles"][0].get("Ref"), "Arn"]} == way[2]
    ]
    [statements] = policies
    assert {(s["Action"], json.dumps(s["Resource"])) for s in statements} == {
        ("states:StartExecution", json.dumps(way[1])),
        ("sqs:SendMessage", json.dumps(way[3]["Arn"])),
    }
