"""What the tasks of state machines need, from their definitions."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.rights.recording import Call

ROOT = Path(__file__).parents[2]
PLACE = "eu-west-1:111111111111"
# https://docs.aws.amazon.com/step-functions/latest/dg/connect-glue.html
SYNC = ("StartJobRun", "GetJobRun", "GetJobRuns", "BatchStopJobRun")
KEYS = ("kms:Decrypt", "kms:GenerateDataKey")


def calls() -> Iterator[Call]:
    """Yield what each task of each machine asks for."""
    for file in sorted((ROOT / "state_machines").glob("*.asl.json")):
        machine = file.name.removesuffix(".asl.json")
        role = f"machines{machine.replace('_', '')}"
        for state in _tasks(json.loads(file.read_text())):
            for action, resource in _needs(state["Resource"], state.get("Parameters", {})):
                yield role, action, resource


def _tasks(definition: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for state in definition["States"].values():
        if state["Type"] == "Task":
            yield state
        for inner in (*state.get("Branches", ()), state.get("ItemProcessor")):
            if inner:
                yield from _tasks(inner)


def _needs(resource: str, parameters: dict[str, Any]) -> Iterator[tuple[str, str]]:
    service = resource.rpartition(":::")[2]
    if resource.startswith("${"):
        function = f"function:lakekit-dev-{_snake(resource, 'Function')}:1"
        yield "lambda:InvokeFunction", f"arn:aws:lambda:{PLACE}:{function}"
    elif service == "glue:startJobRun.sync":
        job = f"arn:aws:glue:{PLACE}:job/lakekit-dev-{_snake(parameters['JobName'], 'Job')}"
        yield from ((f"glue:{action}", job) for action in SYNC)
    elif service == "states:startExecution":
        machine = _snake(parameters["StateMachineArn"], "StateMachine")
        yield "states:StartExecution", f"arn:aws:states:{PLACE}:stateMachine:lakekit-dev-{machine}"
    elif service == "sns:publish":
        yield "sns:Publish", f"arn:aws:sns:{PLACE}:lakekit-dev-failures"
        yield from ((action, f"arn:aws:kms:{PLACE}:key/logs") for action in KEYS)
    else:
        raise LookupError(f"{resource}: nobody has written down which rights it needs")


def _snake(token: str, ending: str) -> str:
    """Return the name behind a token: `${MergeScd2Job}` is `merge_scd2`."""
    name = token.removeprefix("${").removesuffix("}").removesuffix(ending)
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")
