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
