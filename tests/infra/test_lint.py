"""cfn-lint, over the templates as they are deployed; it also reads the state machines."""

from pathlib import Path

import pytest
from cfnlint.api import lint_file

from cdk.app import ENVIRONMENTS
from tests.infra.conftest import Stacks

ACCEPTED = {"W3005"}  # CDK names a dependency that a reference implies


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_templates_have_no_findings(
    environments: dict[str, Stacks], assembly: Path, name: str
) -> None:
    files = sorted((assembly / f"assembly-{name}").glob("*.template.json"))

    matches = [match for file in files for match in lint_file(file)]
    findings = [str(match) for match in matches if match.rule.id not in ACCEPTED]

    assert len(files) == 3
    assert findings == []


def test_a_fault_in_a_state_machine_would_be_found(
    environments: dict[str, Stacks], assembly: Path, tmp_path: Path
) -> None:
    (file,) = (assembly / "assembly-dev").glob("*orchestration*.template.json")
    broken = tmp_path / file.name
    broken.write_text(file.read_text().replace('\\"Task\\"', '\\"Tusk\\"', 1))

    assert "'Tusk' is not one of" in " ".join(str(match) for match in lint_file(broken))
