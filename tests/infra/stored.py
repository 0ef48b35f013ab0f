"""The templates of the tests' environments as they are stored, without what a release changes.

`pytest tests/infra/test_snapshots.py --snapshot-update` stores them again.
"""

import json
import re
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FILE = "test_a_template_is_as_stored[{stack}-{environment}].json"
FOLDER = Path(__file__).parent / "__snapshots__" / "test_snapshots"
STACKS = ("storage", "network", "compute", "orchestration", "monitoring", "delivery")
# Names of packages and of versions of functions are hashes of what they hold.
HASHES = (
    (re.compile(r"[0-9a-f]{64}"), "<hash>"),
    (re.compile(r"(?<=CurrentVersion)[0-9A-F]{8}[0-9a-f]{32}"), "<version>"),
)


def masked(template: Json) -> Json:
    """Return a template without hashes, and without the text of state machines.

    That text is in `state_machines/`; test_timeouts looks at what is put into it.
    """
    text = json.dumps(template)
    for pattern, name in HASHES:
        text = pattern.sub(name, text)
    found: Json = json.loads(text, object_hook=_ordered)
    for resource in found["Resources"].values():
        if resource["Type"] == "AWS::StepFunctions::StateMachine":
            resource["Properties"]["DefinitionString"] = "<definition>"
    return found


def _ordered(part: Json) -> Json:
    """Order the resources of a statement: CDK orders them by what hashes are in them, too."""
    if isinstance(part.get("Resource"), list):
        part["Resource"] = sorted(part["Resource"], key=json.dumps)
    return part


def read(environment: str) -> dict[str, Json]:
    """Return the stored templates of an environment, by stack."""
    files = {stack: FOLDER / FILE.format(environment=environment, stack=stack) for stack in STACKS}
    return {stack: json.loads(file.read_text()) for stack, file in files.items() if file.is_file()}
