"""Each time-out fits into the next: job, state, lease, execution."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cdk.constructs.definitions import token
from lakekit.config.timeouts import EXTRACTION
from tests.infra.conftest import Stacks
from tests.infra.durations import duration, longest_path, pauses

Json = dict[str, Any]
# The first state of `load_source` that works under the leases of its tables.
CLAIMS = ("ClaimLandings", "ValidateLanding")
# A Map that is not of one wave: how often as many items as it takes at once may come.
WAVES = {"ValidateLandings": 4}


@pytest.fixture(params=["dev", "pre-prod", "staging", "prod"])
def deployment(
    request: pytest.FixtureRequest, environments: dict[str, Stacks], two: dict[str, Stacks]
) -> "Deployment":
    return Deployment({**environments, **two}[request.param])


class Deployment:
    """The time-outs of one environment, in seconds, as its templates have them."""

    def __init__(self, stacks: Stacks) -> None:
        def of(kind: str, stack: str = "compute") -> list[Json]:
            return [each["Properties"] for each in stacks[stack].find_resources(kind).values()]

        functions = {each["Handler"].split(".")[1]: each for each in of("AWS::Lambda::Function")}
        jobs = {each["Name"].rpartition("-")[2]: each for each in of("AWS::Glue::Job")}
        self.works = {
            **{token(step, "Function"): each["Timeout"] for step, each in functions.items()},
            **{token(name, "Job"): each["Timeout"] * 60 for name, each in jobs.items()},
        }
        self.machines = {
            each["StateMachineName"].rpartition("-")[2]: json.loads(each["DefinitionString"])
            for each in of("AWS::StepFunctions::StateMachine")
        }
        variables = [each["Environment"]["Variables"] for each in functions.values()]
        arguments = [each["DefaultArguments"] for each in jobs.values()]
        leases = {int(each["LAKEKIT_LEASE_SECONDS"]) for each in variables} | {
            int(each["--lease_seconds"]) for each in arguments if "--lease_seconds" in each
        }
        [self.lease] = leases

    def contradictions(self) -> list[str]:
        return [*self._states(), *self._executions(), *self._leases()]

    def _states(self) -> Iterator[str]:
        """A task ends after what it waits for, so that the error is that of the work."""
        for state, task in tasks(self.machines.values()):
            for name in re.findall(r"\$\{(\w+)\}", json.dumps(task)):
                if self.works.get(name, 0) >= task["TimeoutSeconds"]:
                    yield f"{state}: {task['TimeoutSeconds']} s for {self.works[name]} s of {name}"

    def _executions(self) -> Iterator[str]:
        for name, machine in self.machines.items():
            needed = longest_path(machine, machine["StartAt"], maps=self._maps(machine))
            if needed > machine["TimeoutSeconds"]:
                yield f"{name}: {machine['TimeoutSeconds']} s for a path of {needed} s"

    def _leases(self) -> Iterator[str]:
        machine = self.machines["load_source"]
        start = next(name for name in CLAIMS if name in machine["States"])
        needed = longest_path(machine, start, maps=self._maps(machine))
        # Maintenance and rebuilds take their leases inside their jobs.
        needed = max(needed, *self.works.values())
        if needed >= self.lease:
            yield f"lease: {self.lease} s for {needed} s of work"

    def _maps(self, machine: Json) -> dict[str, int]:
        maps = {"ExtractEndpoints": EXTRACTION}
        for name, waves in WAVES.items():
            if name in machine["States"]:
                inner = machine["States"][name]["ItemProcessor"]
                maps[name] = waves * longest_path(inner, inner["StartAt"], maps={})
        return maps


def tasks(machines: Any) -> Iterator[tuple[str, Json]]:
    for machine in machines:
        for name, state in machine["States"].items():
            if state["Type"] == "Task":
                yield name, state
            if "ItemProcessor" in state:
                yield from tasks([state["ItemProcessor"]])


def test_no_time_out_contradicts_another(deployment: Deployment) -> None:
    assert deployment.contradictions() == []


def test_every_function_and_job_that_a_machine_waits_for_is_compared(
    deployment: Deployment,
) -> None:
    text = json.dumps(deployment.machines)
    waited_for = set(re.findall(r"\$\{(\w+(?:Function|Job))\}", text))

    assert waited_for <= set(deployment.works)
    assert {"MergeScd2Job", "CompleteRunFunction"} <= waited_for


def test_an_extraction_has_the_time_that_the_path_counts_for_it(deployment: Deployment) -> None:
    machine = deployment.machines["load_source"]

    assert machine["TimeoutSeconds"] - EXTRACTION >= deployment.lease


@pytest.mark.parametrize(
    ("place", "seconds", "found"),
    [
        (("load_source", "States", "MergeScd2"), 3600, "MergeScd2: 3600 s for 3600 s of"),
        (("load_source", "States", "PlanTables"), 290, "PlanTables: 290 s for 290 s of"),
        (("load_source", "States", "MergeScd2"), 24_000, "lease: "),
        (("load_source",), 24 * 3600, "load_source: 86400 s for a path of"),
        (("maintain_tables",), 4200, "maintain_tables: 4200 s for a path of"),
    ],
)
def test_a_contradiction_would_be_found(
    environments: dict[str, Stacks], place: tuple[str, ...], seconds: int, found: str
) -> None:
    deployment = Deployment(environments["staging"])
    part: Any = deployment.machines
    for key in place:
        part = part[key]
    part["TimeoutSeconds"] = seconds

    assert any(line.startswith(found) for line in deployment.contradictions())


def test_a_path_counts_time_outs_that_are_retried_and_the_pauses_between() -> None:
    rule = {"ErrorEquals": ["X"], "IntervalSeconds": 30, "BackoffRate": 2, "MaxAttempts": 5,
            "MaxDelaySeconds": 300}  # fmt: skip
    late = {**rule, "ErrorEquals": ["States.Timeout"], "MaxAttempts": 2}
    task = {"Type": "Task", "TimeoutSeconds": 100, "Retry": [rule, late]}
    states = {
        "A": {"Type": "Choice", "Choices": [{"Next": "B"}], "Default": "C"},
        "B": {"Type": "Wait", "Seconds": 10, "Next": "C"},
        "C": {**task, "Catch": [{"Next": "D"}], "End": True},
        "D": {"Type": "Map", "End": True},
    }

    assert pauses(rule) == 30 + 60 + 120 + 240 + 300
    assert duration(task) == 300 + 750 + 90
    assert longest_path({"States": states}, "A", maps={"D": 5}) == 10 + 1140 + 5


def test_a_path_counts_what_is_done_once_more() -> None:
    states = {
        "A": {"Type": "Task", "TimeoutSeconds": 100, "Catch": [{"Next": "B"}], "Next": "C"},
        "B": {"Type": "Choice", "Choices": [{"Next": "OnceMore"}], "Default": "C"},
        "OnceMore": {"Type": "Pass", "Next": "A"},
        "C": {"Type": "Task", "TimeoutSeconds": 7, "End": True},
    }

    assert longest_path({"States": states}, "A", maps={}) == 100 + 100 + 7


def test_the_definitions_have_the_tokens_of_time_outs() -> None:
    """A literal in their place would hold for one environment alone."""
    for path in (Path(__file__).parents[2] / "state_machines").glob("*.asl.json"):
        machine = json.loads(path.read_text())
        jobs = [task for _, task in tasks([machine]) if "glue:" in task["Resource"]]

        assert machine["TimeoutSeconds"] == "${ExecutionTimeoutSeconds}"
        assert {job["TimeoutSeconds"] for job in jobs} == {"${JobTimeoutSeconds}"}
