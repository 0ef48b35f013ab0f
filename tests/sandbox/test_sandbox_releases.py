"""A release is deployed while a run of the one before is at work."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lakekit import layout
from lakekit.sandbox import Sandbox
from tests.worlds import World, until

LAKEKIT = str(Path(sys.executable).parent / "lakekit")
NEXT = {"StartAt": "NextRelease", "States": {"NextRelease": {"Type": "Succeed"}}}
STEPS = ("start_run", "extract_pages", "claim_landings", "validate_landing", "plan_tables",
         "complete_run")  # fmt: skip


@pytest.fixture
def deploy(sandbox: Sandbox) -> Iterator[Callable[[str], None]]:
    """Deploys the next release, in which no function works and the definition has other states.

    Or this one, in its place: a deployment of the commit before.
    """
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

    releases = {
        "next": ("tests.sandbox.stand_ins.fail", json.dumps(NEXT)),
        "this": ("lambdas.{step}.handler.handler", before),
    }
    yield lambda release: put(*releases[release])
    put(*releases["this"])


def test_a_run_keeps_its_definition_and_its_functions(
    sandbox: Sandbox, world: World, deploy: Callable[[str], None]
) -> None:
    serve_nothing(world)
    before = log(sandbox)
    world.api.open.clear()
    run = world.start(1)
    until(lambda: world.api.calls)

    deploy("next")
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


def serve_nothing(world: World) -> None:
    """Leave nothing to merge, so that no job is needed."""
    world.change_contract("max_deleted_ratio: 1", "deletes: ignore")
    world.change_contract("page_number, total_path: $.pages", "page_number")
    world.serve([])


@pytest.mark.long
def test_a_release_that_fails_its_smoke_run_is_taken_back_and_loses_nothing(
    sandbox: Sandbox, world: World, deploy: Callable[[str], None], tmp_path: Path
) -> None:
    serve_nothing(world)
    (tmp_path / "state.json").write_text(json.dumps({"endpoint": sandbox.endpoint}))

    def smoke() -> tuple[int, str]:
        arguments = ["smoke", "--sandbox", "--source", world.source, "--data", str(tmp_path)]
        done = subprocess.run([LAKEKIT, *arguments], capture_output=True, text=True, timeout=120,
                              check=False)  # fmt: skip
        return done.returncode, done.stderr

    assert smoke() == (0, "")
    deploy("next")
    assert smoke() == (1, "smoke: it has loaded no table: does a contract name the source?\n")

    # What the next release has landed, with a field that this one does not know, is loaded by it.
    world.put(f"inbox/{world.source}/{world.table}/next.jsonl", b"")
    waiting = layout.index_prefix("pending", world.source, world.table)
    [pending] = until(lambda: world.keys(waiting))
    landing = pending.replace(layout.index_prefix("pending"), layout.RAW)
    manifest = f"{landing}/manifest.json"
    document = world.document(manifest)
    world.put(manifest, json.dumps({**document, "of_the_next_release": True}).encode())
    deploy("this")

    assert smoke() == (0, "")
    assert world.keys(waiting) == []
    assert f"{landing}/.complete" in world.keys(landing)


def log(sandbox: Sandbox) -> dict[str, str]:
    """Return what each function has logged."""
    folder = sandbox.folder / "logs" / "functions"
    paths = {step: folder / f"{sandbox.names['functions'][step]}.log" for step in STEPS}
    return {step: path.read_text() if path.exists() else "" for step, path in paths.items()}
