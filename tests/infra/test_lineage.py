"""Where an environment wants events of lineage, three functions send them, with the right to."""

import json
from typing import Any

import pytest

from cdk.stacks.compute import FUNCTIONS, LINEAGE
from tests.infra.conftest import Stacks
from tests.infra.test_access import last_part, rights


def variables(stacks: Stacks, step: str) -> dict[str, Any]:
    functions = stacks["compute"].find_resources("AWS::Lambda::Function").values()
    found = [each["Properties"]["Environment"]["Variables"] for each in functions]
    return next(each for each in found if each["POWERTOOLS_SERVICE_NAME"] == step)


@pytest.mark.parametrize("step", FUNCTIONS)
def test_those_who_send_know_where_to(two: dict[str, Stacks], dev: Stacks, step: str) -> None:
    given = json.dumps(variables(two["pre-prod"], step).get("LAKEKIT_LINEAGE"))

    assert ("s3://catalogue/lineage" in given) == (step in LINEAGE)
    assert ("arn:aws:glue:eu-west-1:111111111111" in given.replace('\\"', "")) or (
        step not in LINEAGE or "AWS::Partition" in given
    )
    assert "LAKEKIT_LINEAGE" not in variables(dev, step)


@pytest.mark.parametrize("step", LINEAGE)
def test_they_write_below_the_prefix_alone(two: dict[str, Stacks], step: str) -> None:
    puts = {last_part(each) for each in rights(two["pre-prod"], step)["s3:PutObject"]}

    assert [each for each in puts if "catalogue" in each] == [":s3:::catalogue/lineage/*"]


@pytest.mark.parametrize("step", LINEAGE)
def test_they_read_the_token_of_an_address(two: dict[str, Stacks], step: str) -> None:
    [secrets] = rights(two["dev"], step)["secretsmanager:GetSecretValue"]

    assert last_part(secrets).endswith(":secret:lakekit/dev/lineage-??????")
