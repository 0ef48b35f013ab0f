"""What a release leaves to the runs that have begun before it."""

import json
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from cdk.constructs.definitions import TOKENS, token
from cdk.stacks.compute import FUNCTIONS
from tests.infra.conftest import ROOT, SOURCES, TWO, Stacks, make_project, synthesise

Json = dict[str, Any]
KEPT = ("RetainExceptOnCreate", "Retain")
PRODUCT = (
    "glue_jobs", "lakekit", "lambdas", "pyproject.toml", "requirements.txt", "state_machines",
)  # fmt: skip
# Nothing that a run waits for: a call of it begins and ends by itself.
BY_EVENTS = {"route_file", "sweep"}


def resources(stacks: Stacks, kind: str) -> dict[str, Json]:
    return {name: each for template in stacks.values()
            for name, each in template.find_resources(kind).items()}  # fmt: skip


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Stacks, Stacks]:
    """Two releases: the second has a line more in two steps."""
    root, project = tmp_path_factory.mktemp("product"), tmp_path_factory.mktemp("project")
    for name in PRODUCT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, root / name)
    make_project(project, environments=TWO, sources=SOURCES)
    first = synthesise(tmp_path_factory.mktemp("cdk.out"), "pre-prod", project=project, root=root)
    for folder, changed in (("lambdas", "start_run/handler.py"), ("glue_jobs", "merge_scd2.py")):
        file = root / folder / changed
        file.write_text(file.read_text() + "\n# The next release.\n")
    second = synthesise(tmp_path_factory.mktemp("cdk.out"), "pre-prod", project=project, root=root)
    return first["pre-prod"], second["pre-prod"]


def machines(stacks: Stacks) -> Iterator[tuple[str, Json]]:
    """Yield those of definition files."""
    for each in stacks["compute"].find_resources("AWS::StepFunctions::StateMachine").values():
        yield each["Properties"]["StateMachineName"].rpartition("-")[2], each["Properties"]


def test_a_definition_names_versions_of_functions(stacks: Stacks) -> None:
    """A run that has begun keeps its definition, and thereby its functions."""
    versions = resources(stacks, "AWS::Lambda::Version")
    functions = resources(stacks, "AWS::Lambda::Function")

    for name, machine in machines(stacks):
        given = machine["DefinitionSubstitutions"]
        for step in FUNCTIONS:
            if (key := token(step, "Function")) in TOKENS[name]:
                version = versions[given[key]["Ref"]]
                of = functions[version["Properties"]["FunctionName"]["Ref"]]
                assert of["Properties"]["Handler"] == f"lambdas.{step}.handler.handler"
    assert len(versions) == len(FUNCTIONS.keys() - BY_EVENTS)


def test_versions_of_functions_and_machines_stay_unless_their_deployment_fails(
    stacks: Stacks,
) -> None:
    for kind in ("AWS::Lambda::Version", "AWS::StepFunctions::StateMachineVersion"):
        found = resources(stacks, kind).values()
        assert {(each["DeletionPolicy"], each["UpdateReplacePolicy"]) for each in found} == {KEPT}


def test_each_machine_publishes_a_version_of_its_own_definition(stacks: Stacks) -> None:
    found = resources(stacks, "AWS::StepFunctions::StateMachineVersion").values()

    published = {each["Properties"]["StateMachineArn"]["Ref"] for each in found}
    # That of refreshes calls nothing that has versions.
    machines = stacks["compute"].find_resources("AWS::StepFunctions::StateMachine")
    assert published == machines.keys()
    for each in found:
        revision = each["Properties"]["StateMachineRevisionId"]["Fn::GetAtt"]
        assert revision == [each["Properties"]["StateMachineArn"]["Ref"], "StateMachineRevisionId"]


def test_a_machine_may_invoke_all_versions_of_its_functions_and_only_versions(
    stacks: Stacks,
) -> None:
    """The role is shared by releases: a right to one version alone would end the runs of others."""
    allowed = {
        json.dumps(statement["Resource"])
        for policy in stacks["compute"].find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "lambda:InvokeFunction"
    }
    resources_of = [each for text in allowed for each in as_list(json.loads(text))]

    assert len(allowed) == len(TOKENS)
    assert all(each["Fn::Join"][1][1] == ":*" for each in resources_of)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_nothing_starts_a_version_of_a_machine(stacks: Stacks) -> None:
    """Starts are of the newest definition, which a deployment decides."""
    started = [
        arn
        for policy in resources(stacks, "AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Action"] == "states:StartExecution"
        for arn in as_list(statement["Resource"])
    ]

    assert len(started) == 7 + ("refresh_datasets" in json.dumps(stacks["orchestration"].to_json()))
    assert not [arn for arn in started if "*" in json.dumps(arn)]


def test_another_release_publishes_other_versions_and_the_same_one_none(
    releases: tuple[Stacks, Stacks], two: dict[str, Stacks]
) -> None:
    first, second = (resources(each, "AWS::Lambda::Version").keys() for each in releases)

    assert first == resources(two["pre-prod"], "AWS::Lambda::Version").keys()
    assert not first & second
    assert len(first) == len(second)


def test_no_stack_exports_what_changes_with_a_release(releases: tuple[Stacks, Stacks]) -> None:
    """CloudFormation does not let go of an export that another stack still imports."""
    names = [
        {
            output["Export"]["Name"]
            for template in stacks.values()
            for output in template.to_json().get("Outputs", {}).values()
        }
        for stacks in releases
    ]

    assert names[0] == names[1]
    assert names[0]


def test_a_job_run_reads_packages_whose_names_are_hashes_of_what_they_hold(
    releases: tuple[Stacks, Stacks],
) -> None:
    """So a run that has begun never reads those of another release in their place."""
    for job in resources(releases[0], "AWS::Glue::Job").values():
        text = json.dumps(job["Properties"])
        keys = re.findall(r"s3://[^\"]*?/([^/\"]+\.(?:py|zip))", text)
        assert len(keys) == 3
        assert all(re.fullmatch(r"[0-9a-f]{64}\.(py|zip|gluewheels\.zip)", key) for key in keys)


def test_a_changed_script_of_a_job_has_another_name(
    releases: tuple[Stacks, Stacks],
) -> None:
    before, after = map(packages, releases)

    assert before["merge_scd2"][0] != after["merge_scd2"][0]
    assert before["create_tables"][0] == after["create_tables"][0]
    assert {each[1] for each in before.values()} == {each[1] for each in after.values()}


def packages(stacks: Stacks) -> dict[str, tuple[str, str]]:
    """Return the addresses of the script and the library of each job."""
    jobs = [each["Properties"] for each in resources(stacks, "AWS::Glue::Job").values()]
    return {
        each["Name"].rpartition("-")[2]: (
            json.dumps(each["Command"]["ScriptLocation"]),
            json.dumps(each["DefaultArguments"]["--extra-py-files"]),
        )
        for each in jobs
    }
