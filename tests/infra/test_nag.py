"""What the five packs of cdk-nag find in prod: all of it is known, with a reason.

A rule counts once, whichever packs have it. The reasons are a table of docs/security.md.
"""

import json
import re
from contextlib import suppress

import cdk_nag
import pytest
from aws_cdk import Validations
from syrupy.assertion import SnapshotAssertion

from cdk.app import build
from tests.infra.conftest import CONTEXT, PROJECT, ROOT

PACKS = (
    cdk_nag.AwsSolutionsChecks, cdk_nag.ServerlessChecks, cdk_nag.HIPAASecurityChecks,
    cdk_nag.NIST80053R5Checks, cdk_nag.PCIDSS321Checks,
)  # fmt: skip
MOST_RULES = 12
# A name of AwsSolutions for what other packs call otherwise.
SAME = {"L1": "LambdaLatestVersion"}
# Hashes of CDK in the names of exports and logical ids.
_HASHES = re.compile(
    r"(?<=[a-z])[0-9A-F]{8}(?=Arn)|(?<=Arn)[0-9A-F]{8}|(?<=[a-z])[0-9A-F]{8}(?=[.])"
)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Return the rule and the place of each finding."""
    folder = tmp_path_factory.mktemp("cdk.out")
    app = build(["prod"], project=PROJECT, out=str(folder), context=CONTEXT)
    Validations.of(app).add_plugins(*(pack(app) for pack in PACKS))
    with suppress(RuntimeError):  # there are findings, which the report has
        app.synth()
    report = json.loads((folder / "validation-report.json").read_text())
    assert len(report["pluginReports"]) == len(PACKS)
    return [
        (violation["ruleName"], place["constructPath"])
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for place in violation["violatingConstructs"]
    ]


def rule(finding: str) -> str:
    """Return a rule without its pack and without what it found.

    `NIST.800.53.R5-LambdaDLQ` and `Serverless-LambdaDLQ` are one.
    """
    name = finding.partition("[")[0].rpartition("-")[2]
    return SAME.get(name, name)


def reasons() -> dict[str, str]:
    page = (ROOT / "docs/security.md").read_text()
    table = page.partition("### Findings that stay")[2].partition("\n##")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    return {name.strip(" `"): reason.strip() for name, reason in rows}


def test_every_finding_is_acknowledged_with_a_reason(findings: list[tuple[str, str]]) -> None:
    found = {rule(name) for name, _ in findings}

    assert found == reasons().keys()
    assert len(found) <= MOST_RULES
    assert all(len(reason) > 40 for reason in reasons().values())


def test_the_findings_are_those_that_were_looked_at(
    findings: list[tuple[str, str]], snapshot: SnapshotAssertion
) -> None:
    lines = {f"{_HASHES.sub('', name)} {place}" for name, place in findings}

    assert "\n".join(sorted(lines)) == snapshot
