"""Two deployments of one account: their names, what stays of them, what is protected."""

import json
from pathlib import Path

import pytest

from tests.infra.conftest import Stacks
from tests.infra.limits import NAMES


def test_two_deployments_of_one_account_and_region_share_no_name(
    two: dict[str, Stacks],
) -> None:
    def names(stacks: Stacks) -> set[tuple[str, str]]:
        found = {
            (kind, json.dumps(each["Properties"].get(key)))
            for template in stacks.values()
            for kind, (key, _) in NAMES.items()
            # A schedule's name is its own within its group.
            if kind != "AWS::Scheduler::Schedule"
            for each in template.find_resources(kind).values()
            if key in each["Properties"]
        }
        [database] = stacks["storage"].find_resources("AWS::Glue::Database").values()
        return found | {("database", database["Properties"]["DatabaseInput"]["Name"])}

    one, other = names(two["dev"]), names(two["pre-prod"])
    assert len(one) == len(other) > 30
    assert one & other == set()


def test_a_function_reads_the_secrets_of_its_own_deployment(
    two: dict[str, Stacks],
) -> None:
    for name, secrets in (("dev", {"lakekit/dev/lineage-??????"}), ("pre-prod", set())):
        may = json.dumps(two[name]["compute"].to_json()).split(":secret:")[1:]
        assert {arn.partition('"')[0] for arn in may} == secrets


@pytest.mark.parametrize(
    ("name", "kept"),
    [("dev", ("Delete", "Delete")), ("pre-prod", ("RetainExceptOnCreate", "Retain"))],
)
def test_data_stays_where_it_is_retained_but_not_after_a_failed_first_deployment(
    two: dict[str, Stacks], name: str, kept: tuple[str, str]
) -> None:
    template = two[name]["storage"].to_json()["Resources"].values()
    stateful = [r for r in template if r["Type"] in ("AWS::S3::Bucket", "AWS::Glue::Database")]

    assert len(stateful) == 5
    assert {(r["DeletionPolicy"], r["UpdateReplacePolicy"]) for r in stateful} == {kept}


@pytest.mark.parametrize(("name", "protected"), [("dev", False), ("pre-prod", True)])
def test_a_stack_whose_data_is_retained_is_protected_against_termination(
    two: dict[str, Stacks], two_folder: Path, name: str, protected: bool
) -> None:
    manifest = json.loads((two_folder / f"assembly-{name}/manifest.json").read_text())
    stacks = {
        each["properties"]["stackName"].rpartition("-")[2]: each["properties"]
        for each in manifest["artifacts"].values()
        if each["type"] == "aws:cloudformation:stack"
    }

    assert stacks["storage"].get("terminationProtection", False) == protected


def test_a_boundary_bounds_every_role_where_the_environment_names_one(
    two: dict[str, Stacks],
) -> None:
    for name, bounded in (("dev", False), ("pre-prod", True)):
        for template in two[name].values():
            for role in template.find_resources("AWS::IAM::Role").values():
                assert ("PermissionsBoundary" in role["Properties"]) == bounded


def test_free_tags_are_on_all_that_takes_tags(two: dict[str, Stacks]) -> None:
    [*buckets] = two["pre-prod"]["storage"].find_resources("AWS::S3::Bucket").values()

    for bucket in buckets:
        assert {"Key": "cost-center", "Value": "4711"} in bucket["Properties"]["Tags"]
