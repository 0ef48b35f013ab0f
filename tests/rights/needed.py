"""Which right of a role which recorded call needs: what would be refused without it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from lakekit.sandbox.rights.policies import Need, Statement, allowed, parse_document
from tests.rights import definitions
from tests.rights.recording import FOLDER, Call
from tests.rights.roles import documents

PAGE = Path(__file__).parents[2] / "docs/security.md"
HEADING = "### Rights that nothing here asks for"
Roles = dict[str, tuple[Statement, ...]]
ACCOUNTS = {"dev": "1" * 12, "staging": "2" * 12, "prod": "3" * 12}


@dataclass(frozen=True)
class Right:
    """One action of a role on one resource."""

    role: str
    action: str
    resource: str
    conditions: tuple[tuple[str, str, tuple[str, ...]], ...]


@cache
def roles() -> Roles:
    """Return what each role may do in any of the tests' environments, by dev's names."""
    found: Roles = {}
    for environment, account in ACCOUNTS.items():
        for role, document in documents(environment):
            text = json.dumps(document).replace(account, ACCOUNTS["dev"])
            for name in ("lakekit-{}", "/lakekit/{}/", "lakekit_{}"):
                text = text.replace(name.format(environment), name.format("dev"))
            found[role] = (*found.get(role, ()), *parse_document(json.loads(text)))
    return found


def rights() -> Iterator[Right]:
    """Yield each right of each role once."""
    found = {
        Right(role, action, resource, statement.conditions): None
        for role, statements in roles().items()
        for statement in statements
        if statement.allows
        for action in statement.actions
        for resource in statement.resources
    }
    yield from found


@cache
def recorded() -> dict[str, list[Call]]:
    """Return the calls of each kind of tests, and those that the machines' definitions say."""
    found = {"definitions": list(definitions.calls())}
    for file in sorted(FOLDER.glob("*.json")):
        calls = json.loads(file.read_text())
        found[file.stem] = [(role, action, resource) for role, action, resource in calls]
    return found


def need(call: Call) -> Need:
    """Return what a call needs; a key is used, and a role passed on, for one service."""
    role, action, resource = call
    service = "sns" if role.startswith("machines") else "s3"
    context = {
        "kms:ViaService": f"{service}.eu-west-1.amazonaws.com",
        "iam:PassedToService": "scheduler.amazonaws.com",
    }
    return Need(action, resource, context)


def without(statements: tuple[Statement, ...], right: Right) -> Iterator[Statement]:
    """Yield statements that allow all but one right."""
    for each in statements:
        if not (each.allows and each.conditions == right.conditions
                and right.action in each.actions and right.resource in each.resources):  # fmt: skip
            yield each
            continue
        others = tuple(action for action in each.actions if action != right.action)
        rest = tuple(resource for resource in each.resources if resource != right.resource)
        yield Statement(others, each.resources, conditions=each.conditions)
        yield Statement((right.action,), rest, conditions=each.conditions)


def shown_by(right: Right) -> list[str]:
    """Return the kinds of tests of which a call would be refused if the right were taken away."""
    mine = roles()[right.role]
    rest = tuple(without(mine, right))
    return [
        kind
        for kind, calls in recorded().items()
        if any(
            call[0] == right.role and call[1] == right.action
            and allowed(mine, need(call)) and not allowed(rest, need(call))
            for call in calls
        )
    ]  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """Why some rights are not asked for in any test; patterns of `fnmatch`."""

    roles: str
    actions: tuple[str, ...]
    resources: str
    why: str

    def covers(self, right: Right) -> bool:
        return (
            any(fnmatchcase(right.role, each) for each in self.roles.split(", "))
            and any(fnmatchcase(right.action, each) for each in self.actions)
            and fnmatchcase(right.resource, self.resources)
        )


def reasons() -> list[Reason]:
    """Return the rows of the page's table: role, actions, resource, why."""
    table = PAGE.read_text().partition(HEADING)[2].partition("\n##")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in table.splitlines()
        if line.startswith("| `")
    ]
    return [
        Reason(role.replace("`", ""), tuple(actions.replace("`", "").split(", ")),
               resource.replace("`", ""), why)
        for role, actions, resource, why in rows
    ]  # fmt: skip
