"""cfn-lint, over the templates as they are deployed; it also reads the state machines."""

from pathlib import Path

import pytest
from cfnlint.api import lint_file

from tests.infra.conftest import ENVIRONMENTS, Stacks

ACCEPTED = {"W3005"}  # CDK names a dependency that a reference implies


def findings(file: Path) -> list[str]:
    return [str(match) for match in lint_file(file) if match.rule.id not in ACCEPTED]


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_templates_have_no_findings(
    environments: dict[str, Stacks], assembly: Path, name: str
) -> None:
    files = sorted((assembly / f"assembly-{name}").glob("*.template.json"))

    assert len(files) == len(environments[name])
    if name != "prod":  # those of others are parts of it
        files = [file for file in files if "monitoring" not in file.name]
    assert [line for file in files for line in findings(file)] == []


def test_schedules_with_a_zone_and_a_window_have_no_findings(
    two: dict[str, Stacks], two_folder: Path
) -> None:
    (file,) = (two_folder / "assembly-pre-prod").glob("*orchestration*.template.json")

    assert findings(file) == []


def test_a_fault_in_a_state_machine_would_be_found(
    environments: dict[str, Stacks], assembly: Path, tmp_path: Path
) -> None:
    (file,) = (assembly / "assembly-dev").glob("*compute*.template.json")
    broken = tmp_path / file.name
    broken.write_text(file.read_text().replace('\\"Task\\"', '\\"Tusk\\"', 1))

    assert "'Tusk' is not one of" in " ".join(str(match) for match in lint_file(broken))
