"""What steps ask of the landing bucket lies within the rights of their roles."""

from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase

import pytest

from cdk.constructs.access import FUNCTION_ACCESS
from tests.flow import functions
from tests.flow.functions import Event
from tests.flow.play import play
from tests.flow.store import WATCH
from tests.flow.world import World
from tests.rights import recording

SCHEDULES, MANY = 10, 150
LANDING = "lakekit-dev-landing-111111111111-eu-west-1"
KEY = "arn:aws:kms:eu-west-1:111111111111:key/data"
ACTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "GET": ("GetObject", ("Decrypt",)),
    "HEAD": ("GetObject", ()),
    "PUT": ("PutObject", ("GenerateDataKey",)),
    "DELETE": ("DeleteObject", ()),
}


@pytest.fixture
def asked(
    monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> Iterator[set[tuple[str, str, str]]]:
    """Return what functions ask for, as it comes: step, verb and key."""
    found: set[tuple[str, str, str]] = set()
    request = World.request

    @contextmanager
    def noted(world: World, what: str) -> Iterator[None]:
        verb, _, key = what.partition(" ")
        step = world.kernel.current.notes.get("step")
        # S3 answers 404 of what is not there to whoever may list.
        is_there = verb in ("PUT", "DELETE") or key in world.plain.objects
        if step and is_there and not key.startswith(WATCH):
            found.add((step, verb, key))
        with request(world, what):
            yield

    def named(step: str) -> None:
        function = functions.FUNCTIONS[step]

        def call(world: World, event: Event) -> Event:
            world.kernel.current.notes["step"] = step
            return function(world, event)

        monkeypatch.setitem(functions.FUNCTIONS, step, call)

    for step in functions.FUNCTIONS:
        named(step)
    monkeypatch.setattr(World, "request", noted)
    yield found
    if pytestconfig.getoption("record_rights"):
        recording.store("schedules", calls(found))


def calls(asked: set[tuple[str, str, str]]) -> Iterator[recording.Call]:
    """Yield one of each kind as a call of S3, which uses the bucket's key for it."""
    kinds = {(step, verb, *_kind(key)): key for step, verb, key in sorted(asked, reverse=True)}
    for (step, verb, *_), key in kinds.items():
        if verb in ACTIONS:
            role, (action, used) = step.replace("_", ""), ACTIONS[verb]
            yield role, f"s3:{action}", f"arn:aws:s3:::{LANDING}/{key}"
            yield from ((role, f"kms:{each}", KEY) for each in used)


def _kind(key: str) -> tuple[str, str]:
    """Return what rights may be narrowed to: the first folder, or two, and the last name."""
    first, *rest = key.split("/")
    return (f"{first}/{rest[0]}", "") if first == "index" else (first, "/".join(rest[-1:]))


def test_each_step_may_do_what_it_does(
    asked: set[tuple[str, str, str]], pytestconfig: pytest.Config
) -> None:
    for seed in range(MANY if pytestconfig.getoption("record_rights") else SCHEDULES):
        play(seed)

    assert {step for step, _, _ in asked} >= {"claim_landings", "extract_pages", "route_file"}
    assert sorted({_place(*each) for each in asked if not _is_allowed(*each)}) == []


def _is_allowed(step: str, verb: str, key: str) -> bool:
    access = FUNCTION_ACCESS[step]
    rights = {"GET": access.read, "HEAD": access.read, "PUT": access.write, "DELETE": access.delete}
    return verb not in rights or any(fnmatchcase(key, f"{prefix}*") for prefix in rights[verb])


def _place(step: str, verb: str, key: str) -> str:
    return f"{step} {verb} {'/'.join(key.split('/')[:2])}"
