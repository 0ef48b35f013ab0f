"""Which landings a person means: by what mails, listings and errors call them."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from lakekit import layout
from lakekit.errors import InvalidStepInputError, LandingCorruptError, UnknownSourceError
from lakekit.landing.index import BLOCKED, PENDING, blocked, oldest, tables_with
from lakekit.ports import ObjectStore
from lakekit.runs.documents import Run, read_claim, read_optional
from lakekit.steps.events import RunId

_STAMP = re.compile(r"\d{8}_\d{6}(_\d{6})?")
# A landing's folder, any key in it, or its entry in the index; as an address, too.
_KEY = re.compile(
    r"(s3://[^/]+/)?(raw|index/(pending|blocked))/"
    rf"(?P<source>[a-z]\w*)/(?P<table>[a-z]\w*)/(?P<stamp>{_STAMP.pattern})(/.*)?"
)
_FORMS = "give a manifest's key, a table and a time, or a run id"
_RUN_ID = TypeAdapter(RunId)


def find_landings(store: ObjectStore, words: Sequence[str]) -> list[str]:
    """Return the manifests of the landings that a person has named.

    Args:
        store: The landing bucket.
        words: A key of the landing; or its table and its time; or a run, by its id or the address
            of its execution. Of a run it is what it has blocked, or else what it has claimed and
            what is still pending.

    Raises:
        UnknownSourceError: There is no such landing or run.
        InvalidStepInputError: The words have none of these forms, or nothing of the run waits.
    """
    match " ".join(words).split():
        case [key] if found := _KEY.fullmatch(key):
            manifest = _manifest(found["source"], found["table"], found["stamp"])
            if not store.head(manifest):
                raise UnknownSourceError(f"{key}: there is no such landing")
            return [manifest]
        case [run] if _is_run_id(run_id := run.rpartition(":")[2]):
            return _of_run(store, run_id)
        case [table, time]:
            return [_of_table(store, table, _stamp(time))]
        case given:
            raise InvalidStepInputError(f"'{' '.join(given)}' is no landing; {_FORMS}")


def find_landing(store: ObjectStore, words: Sequence[str]) -> str:
    """Return the manifest of the one landing that a person has named; see `find_landings`.

    Raises:
        InvalidStepInputError: There are several.
    """
    found = find_landings(store, words)
    if len(found) > 1:
        names = "\n".join(f"  {short_name(each)}" for each in found)
        raise InvalidStepInputError(f"{len(found)} landings of this run wait; name one:\n{names}")
    return found[0]


def short_name(manifest: str) -> str:
    """Return how a person names a landing.

    Example:
        >>> short_name("raw/shop/orders/20260101_060000/manifest.json")
        'orders 20260101_060000'
    """
    _, _, table, stamp, _ = manifest.split("/")
    return f"{table} {stamp}"


def _of_run(store: ObjectStore, run_id: str) -> list[str]:
    run = read_optional(store, layout.run_key(run_id), Run)
    if run is None:
        raise UnknownSourceError(f"there is no run {run_id}; {_FORMS}")
    source = run.source.source
    found = [
        manifest
        for table in tables_with(store, BLOCKED, source)
        for manifest in oldest(store, BLOCKED, source, table)
        if _blocked_by(store, manifest) == run_id
    ]
    claim = read_claim(store, run_id)
    for table in claim.tables if claim and not found else ():
        pending = {*oldest(store, PENDING, source, table.table)}
        found += [each for each in table.manifests if each in pending]
    if not found:
        raise InvalidStepInputError(
            f"no landing of run {run_id} waits: all are merged or decided, or it landed none"
        )
    return found


def _blocked_by(store: ObjectStore, manifest: str) -> str | None:
    with suppress(LandingCorruptError):  # of another run, perhaps; this one has more
        why = blocked(store, manifest)
        return why.run_id if why else None
    return None


def _of_table(store: ObjectStore, table: str, stamp: str) -> str:
    places = (layout.index_prefix(BLOCKED), layout.index_prefix(PENDING), layout.RAW)
    # The index first: it names few sources, and most likely the one that is meant.
    sources = dict.fromkeys(source for place in places for source in store.folders(place))
    for source in sources:
        manifest = _manifest(source, table, stamp)
        if store.head(manifest):
            return manifest
    raise UnknownSourceError(f"{table} {stamp}: there is no such landing")


def _stamp(time: str) -> str:
    if _STAMP.fullmatch(time):
        return time
    try:
        # The folder of any landing of that time ends in its stamp.
        return layout.raw_prefix("s", "t", datetime.fromisoformat(time)).split("/")[-2]
    except ValueError:
        raise InvalidStepInputError(
            f"{time} is no time of a landing, like 20260101_060000 or 2026-01-01T06:00:00Z"
        ) from None


def _manifest(source: str, table: str, stamp: str) -> str:
    try:
        return layout.manifest_key(f"{layout.endpoint_prefix(source, table)}{stamp}/")
    except ValueError as error:
        raise InvalidStepInputError(f"{error}; {_FORMS}") from None


def _is_run_id(text: str) -> bool:
    try:
        _RUN_ID.validate_python(text)
    except ValidationError:
        return False
    return True
