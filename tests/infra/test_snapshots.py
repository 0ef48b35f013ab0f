"""The templates of all environments are those that were looked at.

`pytest tests/infra/test_snapshots.py --snapshot-update` stores them.
"""

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.infra.conftest import ENVIRONMENTS, STACKS, Stacks
from tests.infra.stored import masked

# What CloudFormation would replace if its logical id changed: with it would go what it holds.
STATEFUL = {
    "AWS::Glue::Database": {"database"},
    "AWS::KMS::Key": {"datakey65037D28", "logskey9DD79193"},
    "AWS::S3::Bucket": {"access85AB777E", "lakeDBDDD6F6", "landing85924BD5", "results7EA05C64"},
    "AWS::SNS::Topic": {"failurestopic7E912037"},
    "AWS::SQS::Queue": {
        "failuresnoticesdead2EDC1739", "inbox73B08561", "inboxinboxdead749843B4",
        "schedulesdeadDB118CF5",
    },
}  # fmt: skip
# What prod has besides, as it is governed.
GOVERNED = {
    "AWS::KMS::Key": {"trailkey3EDDADA9"},
    "AWS::S3::Bucket": {"trail671F64C4"},
    "AWS::SQS::Queue": {"loadeddeadFF7B9270", "sharingloaded16D82361"},
}


@pytest.fixture
def stored(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JSONSnapshotExtension)


@pytest.mark.parametrize("environment", ENVIRONMENTS)
@pytest.mark.parametrize("stack", STACKS)
def test_a_template_is_as_stored(
    environments: dict[str, Stacks], environment: str, stack: str, stored: SnapshotAssertion
) -> None:
    template = environments[environment].get(stack)
    if template is None:
        pytest.skip(f"{environment} has no {stack}")

    assert masked(template.to_json()) == stored


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_what_holds_something_has_the_logical_id_that_it_had(
    environments: dict[str, Stacks], environment: str
) -> None:
    more = GOVERNED if environment == "prod" else {}
    for kind, names in STATEFUL.items():
        stacks = environments[environment].values()
        found = {name for each in stacks for name in each.find_resources(kind)}
        assert found == names | more.get(kind, set()), kind
