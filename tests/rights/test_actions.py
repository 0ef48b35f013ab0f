"""Each action of each policy exists, and fits the resources that it is given.

The actions of AWS and their resources are those that policy-sentry knows.
"""

import re
from collections.abc import Iterator

import pytest
from policy_sentry.querying.actions import get_action_data
from policy_sentry.util.arns import does_arn_match

from lakekit.config.environment import environment_names
from tests.rights.roles import PROJECT, documents, listed

ENVIRONMENTS = environment_names(PROJECT / "config/environments")


def faults(action: str, resources: list[str]) -> Iterator[str]:
    """Yield what is wrong with an action on some resources."""
    service, _, name = action.partition(":")
    found = get_action_data(service, name)
    if not found:
        yield f"{action}: there is no such action"
        return
    forms = {each["resource_arn_format"] for each in found[service]}
    # `*` is in the data of many actions that have resources too.
    forms = forms - {"*"} or forms
    for resource in resources:
        if not _fits(resource, forms):
            yield f"{action}: not on {resource}, but on {', '.join(sorted(forms))}"


def _fits(resource: str, forms: set[str]) -> bool:
    if "*" in (resource, *forms):
        return {resource} == forms
    return any(_is_of_streams(resource, form) or does_arn_match(resource, form) for form in forms)


def _is_of_streams(resource: str, form: str) -> bool:
    """Say whether a pattern of log groups has their streams too: it goes on after the name."""
    return ":log-stream:" in form and ":log-group:" in resource and resource.endswith("*")


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_each_action_exists_and_fits_its_resources(environment: str) -> None:
    found = {
        f"{role}: {fault}"
        for role, document in documents(environment)
        for statement in document["Statement"]
        if statement["Effect"] == "Allow"
        for action in listed(statement["Action"])
        for fault in faults(action, listed(statement["Resource"]))
    }

    assert sorted(found) == []


@pytest.mark.parametrize(
    ("action", "resource", "fault"),
    [
        ("s3:GetObjects", "arn:aws:s3:::b/k", "there is no such action"),
        ("nothing:Get", "*", "there is no such action"),
        ("s3:GetObject", "arn:aws:s3:::b", "not on arn:aws:s3:::b"),
        ("s3:ListBucket", "arn:aws:s3:::b/raw/*", "not on arn:aws:s3:::b/raw"),
        ("glue:GetTable", "*", "not on \\*"),
        (
            "glue:GetDatabase",
            "arn:aws:glue:eu-west-1:111111111111:table/d/t",
            "not on .*:table/d/t",
        ),
    ],
)
def test_a_fault_would_be_found(action: str, resource: str, fault: str) -> None:
    [found] = faults(action, [resource])

    assert found.startswith(action)
    assert re.search(fault, found)
