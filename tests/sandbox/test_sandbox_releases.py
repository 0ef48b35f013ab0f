"""A release is deployed while a run of the one before is at work."""

import json
from collections.abc import Callable, Iterator

import pytest

from lakekit.sandbox import Sandbox
from tests.worlds import World, until

NEXT = {"StartAt": "NextRelease", "States": {"NextRelease": {"Type": "Succeed"}}}
STEPS = ("start_run", "extract_pages", "claim_landings", "validate_landing", "plan_tables",
         "complete_run")  # fmt: skip


@pytest.fixture
def deploy_next(sandbox: Sandbox) -> Iterator[Callable[[], None]]:
    """Deploys a release in which no function works and the definition has other states."""
    functions, machines = sandbox.client("lambda"), sandbox.client("stepfunctions")
    arn = sandbox.names["machines"]["load_source"]
    before = machines.describe_state_machine(stateMachineArn=arn)["definition"]
    names = {step: sandbox.names["functions"][step] for step in STEPS}

    def put(handler: str, definition: str) -> None:
        for step, name in names.items():
            functions.update_function_configuration(
                FunctionName=name, Handler=handler.format(step=step)
            )
        machines.update_state_machine(stateMachineArn=arn, definition=definition)

    yield lambda: put("tests.sandbox.stand_ins.fail", json.dumps(NEXT))
    put("lambdas.{step}.handler.handler", before)


def test_a_run_keeps_its_definition_and_its_functions(
    sandbox: Sandbox, world: World, deploy_next: Callable[[], None]
) -> None:
    # Nothing to merge, so that no job is needed.
    world.change_contract("max_deleted_ratio: 1", "deletes: ignore")
    world.change_contract("page_number, total_path: $.pages", "page_number")
    world.serve([])
    before = log(sandbox)
    world.api.open.clear()
    run = world.start(1)
    until(lambda: world.api.calls)

    deploy_next()
    meanwhile = sandbox.wait(world.start(2))
    world.api.open.set()
    outcome = sandbox.wait(run)

    assert (outcome.status, outcome.error) == ("SUCCEEDED", None)
    assert outcome.output["completed"]["outcome"] == "done"
    assert "20260101_000000/.complete" in world.marks()
    # The next run is of the next release.
    assert (meanwhile.status, "completed" in meanwhile.output) == ("SUCCEEDED", False)
    for step, text in log(sandbox).items():
        own = text.removeprefix(before[step])
        assert own.count("START RequestId") == own.count("Version: 1\n") == 1, step


def log(sandbox: Sandbox) -> dict[str, str]:
    """Return what each function has logged."""
    folder = sandbox.folder / "logs" / "functions"
    paths = {step: folder / f"{sandbox.names['functions'][step]}.log" for step in STEPS}
    return {step: path.read_text() if path.exists() else "" for step, path in paths.items()}
