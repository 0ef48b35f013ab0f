"""IAM by removal: each right, taken away, would refuse a call that the tests make, or has a reason.

Calls are recorded where roles are enforced: handlers on moto in `tests/lambdas`, and the whole
chain with its jobs in the sandbox; and what functions do in simulated schedules. To record them
again:

    pytest --long --record-rights tests/lambdas tests/infra/test_rights.py
    pytest --long --record-rights tests/state_machines tests/sandbox/test_sandbox_rebuild.py

(without `-n`), and then `pytest tests/rights --snapshot-update`.
"""

import re

import pytest
from syrupy.assertion import SnapshotAssertion

from lakekit.sandbox.rights.policies import allowed
from tests.rights.needed import Right, need, reasons, recorded, rights, roles, shown_by

RIGHTS = list(rights())


def name(right: Right) -> str:
    return f"{right.role}: {right.action} on {right.resource}"


@pytest.mark.parametrize("kind", ["functions", "sandbox"])
def test_what_was_recorded_is_allowed(kind: str) -> None:
    """A right that is taken away is missed here, and where roles are enforced."""
    refused = [call for call in recorded()[kind] if not allowed(roles()[call[0]], need(call))]

    assert refused == []
    assert len(recorded()[kind]) > 100


def test_each_right_is_needed_by_a_recorded_call_or_has_a_reason() -> None:
    unused = [right for right in RIGHTS if not shown_by(right)]
    given = reasons()

    without = [right for right in unused if not any(reason.covers(right) for reason in given)]
    assert sorted(map(name, without)) == []
    stale = [reason for reason in given if not any(map(reason.covers, unused))]
    assert stale == []


def test_the_rights_are_those_that_were_looked_at(snapshot: SnapshotAssertion) -> None:
    """One line each: role, action, resource, and the kinds of tests that ask for it."""
    place = re.compile(r"arn:aws:|-111111111111-eu-west-1|:eu-west-1:111111111111")
    lines = {
        f"{right.role} {right.action} {place.sub('', right.resource)}: "
        f"{', '.join(shown_by(right)) or 'not asked for'}"
        for right in RIGHTS
    }

    assert "\n".join(sorted(lines)) == snapshot


def test_a_right_too_many_would_be_found() -> None:
    """So would a call that nobody may make: `shown_by` is not true of everything."""
    right = Right("startrun", "s3:DeleteObject", "arn:aws:s3:::x/*", ())

    assert shown_by(right) == []
