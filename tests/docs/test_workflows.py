"""The workflows: what they may, in which order they deliver, and that nothing in them moves."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github/workflows"
NAMES = ("test", "nightly", "deliver", "deploy")
ROW = ("dev", "staging", "prod")
Json = dict[str, Any]


def text(name: str) -> str:
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def workflow(name: str) -> Json:
    document: Json = yaml.safe_load(text(name))
    # YAML reads `on` as true.
    return {"on" if key is True else key: value for key, value in document.items()}


def jobs(name: str) -> dict[str, Json]:
    found: dict[str, Json] = workflow(name)["jobs"]
    return found


def steps(job: Json) -> list[Json]:
    return list(job.get("steps", []))


def test_these_are_all_workflows() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_pinned_by_the_hash_of_a_commit_with_its_version(name: str) -> None:
    used = re.findall(r"uses: (\S+)(.*)", text(name))
    for action, comment in used:
        if not action.startswith("./.github/workflows/"):
            assert re.fullmatch(r"(actions|aws-actions)/[a-z-]+@[0-9a-f]{40}", action)
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment)
    assert used


def test_an_action_has_one_hash_in_all_workflows() -> None:
    pins: dict[str, set[str]] = {}
    for name in NAMES:
        for action, pin in re.findall(r"uses: ([a-z/-]+)@([0-9a-f]{40})", text(name)):
            pins.setdefault(action, set()).add(pin)

    assert {action: len(each) for action, each in pins.items()} == dict.fromkeys(pins, 1)
    assert "aws-actions/configure-aws-credentials" in pins


@pytest.mark.parametrize("name", NAMES)
def test_no_key_is_stored(name: str) -> None:
    assert "secrets." not in text(name)
    assert "aws-access-key-id" not in text(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_job_may_read_the_repository_and_only_those_with_a_role_ask_for_a_token(
    name: str,
) -> None:
    assert workflow(name)["permissions"] == {"contents": "read"}
    for job in jobs(name).values():
        takes_role = "configure-aws-credentials" in json.dumps(job) or "deploy.yaml" in str(
            job.get("uses")
        )
        wanted = {"contents": "read", "id-token": "write"} if takes_role else None
        assert job.get("permissions") == wanted


def test_a_checkout_leaves_no_token_behind() -> None:
    checkouts = [
        step
        for name in NAMES
        for job in jobs(name).values()
        for step in steps(job)
        if step.get("uses", "").startswith("actions/checkout@")
    ]

    assert len(checkouts) == 4
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@pytest.mark.parametrize("name", NAMES)
def test_no_script_takes_text_of_an_event(name: str) -> None:
    """What others write, such as a title, would become a part of the script."""
    for job in jobs(name).values():
        for step in steps(job):
            found = re.findall(r"\$\{\{ *([\w.]+)", step.get("run", ""))
            assert set(found) <= {"matrix.target"}


def test_it_is_tested_then_synthesised_once_then_delivered_one_environment_after_the_other() -> (
    None
):
    found = jobs("deliver")

    assert found["synth"]["needs"] == "test"
    assert found["diff"]["needs"] == "synth"
    assert [found[name]["needs"] for name in ROW] == [
        "synth", ["synth", "dev"], ["synth", "staging"],
    ]  # fmt: skip
    assert [found[name]["with"]["environment"] for name in ROW] == list(ROW)
    assert sum("make synth" in json.dumps(job) for job in found.values()) == 1
    assert "make synth" not in text("deploy")
    assert {"lint", "test"} <= {*jobs("test")["make"]["strategy"]["matrix"]["target"]}


def test_a_pull_request_shows_the_difference_and_deploys_nothing() -> None:
    found = jobs("deliver")

    assert "github.event_name == 'pull_request'" in found["diff"]["if"]
    assert "head.repo.full_name == github.repository" in found["diff"]["if"]
    assert "github.event_name != 'pull_request'" in found["dev"]["if"]
    assert "cdk deploy" not in text("deliver")
    # Without always(), a job that was skipped keeps those that need it from running.
    assert "always()" not in text("deliver")


def test_github_asks_who_must_approve_and_one_deployment_runs_at_a_time() -> None:
    [job] = jobs("deploy").values()

    assert job["environment"] == "${{ inputs.environment }}"
    assert job["concurrency"]["cancel-in-progress"] is False
    assert workflow("deliver")["concurrency"]["cancel-in-progress"] == (
        "${{ github.event_name == 'pull_request' }}"
    )


def test_a_deployment_takes_the_artifact_deploys_it_and_tries_it_last() -> None:
    [job] = jobs("deploy").values()
    done = [step.get("run") or step["uses"].partition("@")[0] for step in steps(job)]

    order = [
        "actions/download-artifact",
        "aws-actions/configure-aws-credentials",
        'cdk deploy --app cdk.out --require-approval never --progress events "$ENVIRONMENT/*"',
        '.venv/bin/lakekit smoke --environment "$ENVIRONMENT"',
    ]
    assert [each for each in done if each in order] == order
    assert done[-1] == order[-1]


def test_the_cdk_cli_has_one_version_which_the_page_names() -> None:
    versions = {v for name in NAMES for v in re.findall(r"aws-cdk@(\S+)", text(name))}

    [version] = versions
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert f"by its version, {version}" in (ROOT / "docs/deploy.md").read_text()
    for page in ("docs/deploy.md", "lakekit/project/template/README.md"):
        assert f"npm install -g aws-cdk@{version}\n" in (ROOT / page).read_text()


def test_the_page_has_the_costs_of_the_price_file() -> None:
    from cdk.constructs.endpoints import interface_services  # noqa: PLC0415
    from lakekit.config.environment import Environment  # noqa: PLC0415
    from lakekit.config.prices import network_cost  # noqa: PLC0415

    page = (ROOT / "docs/deploy.md").read_text()
    plain = Environment(environment="dev", account="1" * 12, region="us-east-1")
    endpoints = len(interface_services(plain))
    for gateways, zones in ((1, 2), (2, 2), (3, 3)):
        cost = network_cost(gateways, endpoints, zones)
        assert f"| {gateways} | {endpoints} in {zones} zones | {cost:.0f} |" in page


@pytest.mark.parametrize(("name", "of"), [("workflow", "deliver"), ("deploy", "deploy")])
def test_a_projects_workflow_has_the_same_actions_by_the_same_hashes(name: str, of: str) -> None:
    pins = re.compile(r"uses: (\S+@[0-9a-f]{40} # v\S+)")

    found = pins.findall(of_project(name))
    assert found == pins.findall(text(of))
    assert "secrets." not in of_project(name)
    assert f"aws-cdk@{cdk_version(text(of))}\n" in of_project(name)


def test_a_projects_workflow_delivers_as_that_of_a_checkout() -> None:
    flow, ours = yaml.safe_load(of_project("workflow"))["jobs"], jobs("deliver")

    assert flow["diff"] == ours["diff"]
    for name, needs in (("dev", "synth"), ("prod", ["synth", "dev"])):
        uses = {"uses": "./.github/workflows/deploy.yml", "needs": needs}
        assert flow[name] == {**ours[name], **uses}
    done = [step["run"] for step in flow["synth"]["steps"] if "run" in step]
    assert done[:3] == ["pip install -r requirements.txt", "lakekit check", "lakekit synth"]
    [deploy] = yaml.safe_load(of_project("deploy"))["jobs"].values()
    assert deploy["steps"][-1]["run"] == 'lakekit smoke --environment "$ENVIRONMENT"'


def of_project(name: str) -> str:
    return (ROOT / f"lakekit/project/template/{name}.yml").read_text(encoding="utf-8")


def cdk_version(workflow: str) -> str:
    [version] = re.findall(r"aws-cdk@(\S+)", workflow)
    return str(version)
