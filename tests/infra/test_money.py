"""What a month may cost, and when nothing runs."""

import json
from typing import Any

import pytest

from lakekit.aws.telemetry.metrics import LOAD_METRICS, WATCH_METRICS
from lakekit.config.environment import load_environment
from lakekit.operate import cost
from tests.infra.conftest import PROJECT, Stacks

Json = dict[str, Any]


def only(stacks: Stacks, stack: str, kind: str) -> Json:
    [found] = stacks[stack].find_resources(kind).values()
    properties: Json = found["Properties"]
    return properties


@pytest.mark.parametrize(("name", "dollars"), [("staging", 200), ("prod", 1000)])
def test_a_budget_notifies_the_topic_at_its_shares_and_at_its_forecast(
    environments: dict[str, Stacks], name: str, dollars: int
) -> None:
    budget = only(environments[name], "monitoring", "AWS::Budgets::Budget")
    notices = [
        (each["Notification"]["Threshold"], each["Notification"]["NotificationType"])
        for each in budget["NotificationsWithSubscribers"]
    ]

    assert budget["Budget"]["BudgetLimit"] == {"Amount": dollars, "Unit": "USD"}
    assert budget["Budget"]["CostFilters"] == {"TagKeyValue": [f"user:environment${name}"]}
    assert notices == [(50, "ACTUAL"), (80, "ACTUAL"), (100, "ACTUAL"), (100, "FORECASTED")]
    for each in budget["NotificationsWithSubscribers"]:
        [subscriber] = each["Subscribers"]
        assert subscriber["SubscriptionType"] == "SNS"
        assert json.dumps(subscriber["Address"]).rstrip('"]}').endswith("-failures")


def test_unusual_costs_of_the_environment_notify_the_topic(environments: dict[str, Stacks]) -> None:
    monitor = only(environments["prod"], "monitoring", "AWS::CE::AnomalyMonitor")
    subscription = only(environments["prod"], "monitoring", "AWS::CE::AnomalySubscription")

    assert json.loads(monitor["MonitorSpecification"]) == {
        "Tags": {"Key": "environment", "Values": ["prod"]}
    }
    assert json.loads(subscription["ThresholdExpression"])["Dimensions"]["Values"] == ["50"]
    assert [each["Type"] for each in subscription["Subscribers"]] == ["SNS"]


def test_without_a_budget_there_is_none(dev: Stacks) -> None:
    dev["monitoring"].resource_count_is("AWS::Budgets::Budget", 0)
    dev["monitoring"].resource_count_is("AWS::CE::AnomalyMonitor", 0)


def test_a_pause_is_called_at_its_times_in_its_zone(environments: dict[str, Stacks]) -> None:
    template = environments["staging"]["orchestration"]
    calls = {
        each["Properties"]["Name"]: each["Properties"]
        for each in template.find_resources("AWS::Scheduler::Schedule").values()
    }

    assert {name: each["ScheduleExpression"] for name, each in calls.items()} == {
        "pause": "cron(0 20 ? * MON-FRI *)", "resume": "cron(0 6 ? * MON-FRI *)"
    }  # fmt: skip
    for name, each in calls.items():
        assert each["ScheduleExpressionTimezone"] == "Europe/Berlin"
        assert json.loads(each["Target"]["Input"]) == {"action": name}


def test_a_pause_switches_the_schedules_of_sources_and_no_others(
    environments: dict[str, Stacks],
) -> None:
    template = environments["staging"]["orchestration"]
    granted = {
        action: json.dumps(statement["Resource"])
        for name, policy in template.find_resources("AWS::IAM::Policy").items()
        if name.startswith("pauseschedules")
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        for action in [statement["Action"], *statement["Action"]]
        if isinstance(action, str)
    }
    schedules = ":schedule/lakekit-staging-sources/*"

    assert schedules in granted["scheduler:UpdateSchedule"]
    assert schedules in granted["scheduler:GetSchedule"]
    [passed] = [
        statement
        for policy in template.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "iam:PassRole"
    ]
    assert passed["Condition"]["StringEquals"] == {"iam:PassedToService": "scheduler.amazonaws.com"}
    assert "schedulesrole" in json.dumps(passed["Resource"])


def test_the_sweeper_knows_when_nothing_is_expected(environments: dict[str, Stacks]) -> None:
    def variables(name: str) -> Json:
        functions = environments[name]["compute"].find_resources("AWS::Lambda::Function").values()
        [sweep] = [f for f in functions if "sweep" in f["Properties"]["Handler"]]
        given: Json = sweep["Properties"]["Environment"]["Variables"]
        return given

    assert variables("dev")["LAKEKIT_SCHEDULES"] == "false"
    assert "LAKEKIT_PAUSE" not in variables("prod")
    assert json.loads(variables("staging")["LAKEKIT_PAUSE"])["time_zone"] == "Europe/Berlin"


def test_without_a_pause_nothing_may_switch_schedules(environments: dict[str, Stacks]) -> None:
    for name in ("dev", "prod"):
        for template in environments[name].values():
            assert "scheduler:UpdateSchedule" not in json.dumps(template.to_json())


def test_what_is_due_without_a_run_is_counted_as_it_is_deployed(
    environments: dict[str, Stacks],
) -> None:
    prod = load_environment("prod", folder=PROJECT / "config/environments")
    counted = {
        "AWS::CloudWatch::Alarm": cost.alarms_of(prod),
        "AWS::CloudWatch::Dashboard": cost.DASHBOARDS,
        "AWS::KMS::Key": cost.keys_of(prod),
        # One of them is the gateway of S3, which costs nothing.
        "AWS::EC2::VPCEndpoint": cost.endpoints_of(prod) + 1,
    }

    for kind, number in counted.items():
        stacks = environments["prod"].values()
        assert sum(len(each.find_resources(kind)) for each in stacks) == number, kind
    assert (
        len(LOAD_METRICS) + len(WATCH_METRICS), len(LOAD_METRICS)
    ) == (cost.OWN_METRICS, cost.TABLE_METRICS)  # fmt: skip
