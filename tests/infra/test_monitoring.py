"""What an operator sees and hears of: an alarm for each way in which data stops."""

import json
import re
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk import Environment as Place
from aws_cdk.assertions import Template

from cdk.constructs.keys import PUBLISHERS
from cdk.stacks.monitoring import WATCHED_METRICS, MonitoringStack
from lakekit.aws.telemetry.metrics import LOAD_METRICS, WATCH_METRICS
from lakekit.config.environment import Environment
from lakekit.config.functions import MEMORY_MB
from lakekit.operate.cost import STREAM_ALARMS
from tests.infra.conftest import ROOT, Stacks

Json = dict[str, Any]
RUNBOOKS = ROOT / "docs/runbooks"
# Each way in which data stops, and what hears of it.
WAYS = {
    "a run fails": "load_source_failed",
    "a run never ends": "load_source_timed_out",
    "a run is stopped": "load_source_aborted",
    "runs are started faster than AWS allows": "load_source_throttled",
    "maintenance fails": "maintain_tables_failed",
    "maintenance never ends": "maintain_tables_timed_out",
    "a schedule never fires": "sources_overdue",
    "a start is refused": "schedules_dead",
    "a table is not loaded": "tables_stale",
    "a file cannot be landed": "inbox_dead",
    "a file is not looked at": "inbox_age",
    "the function of the inbox fails": "route_file_failed",
    "a landing waits without end": "backlog_age",
    "a landing waits for a person": "landings_blocked",
    "records are rejected": "quarantine_ratio",
    "a rebuild fails": "rebuild_failed",
    "a rebuild never ends": "rebuild_timed_out",
    "functions are throttled": "complete_run_throttled",
    "what looks after all this fails": "sweep_failed",
    "what looks after all this is not called": "sweep_silent",
    "nobody hears of it": "notices_dead",
}


@pytest.fixture(scope="module")
def more() -> Stacks:
    """The monitoring alone, of an environment with a stream, copies and metrics of requests."""
    key = f"arn:aws:kms:eu-west-2:{'1' * 12}:key/01234567-89ab-cdef-0123-456789abcdef"
    copies = {"landing": "arn:aws:s3:::copy-landing", "lake": "arn:aws:s3:::copy-lake", "key": key}
    environment = Environment.model_validate(
        {"environment": "dev", "account": "1" * 12, "region": "eu-west-1",
         "streams": [{"source": "shop", "contract": "orders"}],
         "storage": {"replication": copies, "request_metrics": True}}
    )  # fmt: skip
    place = Place(account=environment.account, region=environment.region)
    app = App(analytics_reporting=False)
    stack = MonitoringStack(app, "monitoring", environment=environment, env=place)
    return {"monitoring": Template.from_stack(stack)}


def alarms(stacks: Stacks) -> dict[str, Json]:
    """Return the properties of each alarm by its name without the environment."""
    found = stacks["monitoring"].find_resources("AWS::CloudWatch::Alarm").values()
    return {each["Properties"]["AlarmName"].split("-", 2)[2]: each["Properties"] for each in found}


def runbook(alarm: Json) -> str:
    [name] = re.findall(r"Runbook: docs/runbooks/([a-z-]+)\.md", alarm["AlarmDescription"])
    return str(name)


def test_each_way_in_which_data_stops_has_an_alarm(stacks: Stacks) -> None:
    assert set(WAYS.values()) <= alarms(stacks).keys()


@pytest.mark.parametrize(
    ("kind", "name"),
    [("AWS::SQS::Queue", "QueueName"), ("AWS::StepFunctions::StateMachine", "StateMachineName"),
     ("AWS::Lambda::Function", "FunctionName")],
)  # fmt: skip
def test_whatever_holds_data_or_moves_it_has_an_alarm(stacks: Stacks, kind: str, name: str) -> None:
    watched = json.dumps(list(alarms(stacks).values()))
    found = [
        each["Properties"][name]
        for stack in ("compute", "orchestration")
        for each in stacks[stack].find_resources(kind).values()
    ]

    assert found
    assert [each for each in found if f'{each}"' not in watched] == []


def test_what_a_stream_holds_back_has_an_alarm(more: Stacks) -> None:
    found = {
        part: (*(metric[name] for name in ("Namespace", "MetricName")), alarm["Threshold"],
               metric["Dimensions"][0]["Value"])
        for part, alarm in alarms(more).items()
        if "_stream_" in part
        for metric in [alarm["Metrics"][0]["MetricStat"]["Metric"]]
    }  # fmt: skip

    name = "lakekit-dev-orders"
    assert len(found) == STREAM_ALARMS
    assert found == {
        "orders_stream_late": ("AWS/Firehose", "DeliveryToS3.DataFreshness", 3600, name),
        "orders_stream_behind": ("AWS/Firehose", "KinesisMillisBehindLatest", 3_600_000, name),
        "orders_stream_refused": ("AWS/Kinesis", "WriteProvisionedThroughputExceeded", 0, name),
    }


def test_a_copy_that_is_not_made_has_an_alarm(more: Stacks) -> None:
    metric = alarms(more)["lake_copy_failed"]["Metrics"][0]["MetricStat"]["Metric"]

    assert metric["MetricName"] == "OperationsFailedReplication"
    assert {each["Name"]: each["Value"] for each in metric["Dimensions"]} == {
        "SourceBucket": f"lakekit-dev-lake-{'1' * 12}-eu-west-1",
        "DestinationBucket": "copy-lake",
        "RuleId": "copy",
    }


def test_requests_are_shown_where_they_are_counted(more: Stacks, dev: Stacks) -> None:
    def shown(stacks: Stacks) -> str:
        [board] = stacks["monitoring"].find_resources("AWS::CloudWatch::Dashboard").values()
        return json.dumps(board["Properties"]["DashboardBody"])

    assert "5xxErrors" in shown(more)
    assert "5xxErrors" not in shown(dev)


def test_every_alarm_notifies_the_failure_topic(stacks: Stacks) -> None:
    for alarm in alarms(stacks).values():
        [action] = alarm["AlarmActions"]
        assert json.dumps(action).rstrip('"]}').endswith("-failures")
        assert alarm["ActionsEnabled"] is True


def test_every_alarm_names_its_runbook_and_each_runbook_its_alarms(
    environments: dict[str, Stacks], more: Stacks
) -> None:
    named: dict[str, set[str]] = {}
    for part, alarm in (
        each for stacks in (*environments.values(), more) for each in alarms(stacks).items()
    ):
        named.setdefault(runbook(alarm), set()).add(part)

    assert {page.stem for page in RUNBOOKS.glob("*.md")} == named.keys()
    for page, parts in named.items():
        text = (RUNBOOKS / f"{page}.md").read_text()
        for part in parts:
            step = part.removesuffix("_throttled")
            written = part.replace("orders", "{contract}")
            assert written in text or ("{step}_throttled" in text and step in MEMORY_MB), (
                page,
                part,
            )


def test_each_alarm_has_its_line_in_the_docs(environments: dict[str, Stacks], more: Stacks) -> None:
    page = (ROOT / "docs/monitoring.md").read_text()
    table = page.partition("## Alarms")[2].partition("## Own metrics")[0]
    found = {part for stacks in (*environments.values(), more) for part in alarms(stacks)}

    # Each function has one of them.
    named = {part for part in found if part.removesuffix("_throttled") not in MEMORY_MB}
    assert [p for p in sorted(named) if f"`{p.replace('orders', '{contract}')}`" not in table] == []


def test_silence_is_an_alarm_where_the_sweeper_is_watched_and_nowhere_else(
    stacks: Stacks,
) -> None:
    missing = {part: each["TreatMissingData"] for part, each in alarms(stacks).items()}

    assert missing.pop("sweep_silent") == "breaching"
    assert set(missing.values()) == {"notBreaching"}


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_a_landing_may_wait_as_long_as_a_run_may_take(
    environments: dict[str, Stacks], name: str
) -> None:
    functions = environments[name]["compute"].find_resources("AWS::Lambda::Function").values()
    variables = next(iter(functions))["Properties"]["Environment"]["Variables"]

    threshold = alarms(environments[name])["backlog_age"]["Threshold"]
    assert threshold == int(variables["LAKEKIT_LEASE_SECONDS"])


def test_own_metrics_are_those_that_functions_print(stacks: Stacks) -> None:
    [dashboard] = stacks["monitoring"].find_resources("AWS::CloudWatch::Dashboard").values()
    body = json.dumps(dashboard["Properties"]["DashboardBody"]).replace("\\", "")
    shown = set(re.findall(r'"Lakekit","(\w+)"', body))

    assert shown == {*LOAD_METRICS, *WATCH_METRICS}
    assert set(WATCHED_METRICS) == set(WATCH_METRICS)


def test_the_monitoring_imports_nothing_and_exports_nothing(stacks: Stacks) -> None:
    text = json.dumps(stacks["monitoring"].to_json())

    assert "Fn::ImportValue" not in text
    assert "Export" not in stacks["monitoring"].to_json().get("Outputs", {})


def test_what_publishes_notices_may_use_the_key_of_logs() -> None:
    assert PUBLISHERS == ("budgets", "cloudwatch", "costalerts")


def test_each_own_metric_has_its_line_in_the_docs() -> None:
    page = (ROOT / "docs/monitoring.md").read_text()

    for metric in (*LOAD_METRICS, *WATCH_METRICS):
        assert f"| `{metric}` |" in page
