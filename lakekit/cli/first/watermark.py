"""Whether an API gives what has changed since a time: which parameter asks for it, and is tried."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from lakekit.cli.first.dialogue import Doubt, Question
from lakekit.contract.endpoint.paths import path_of
from lakekit.contract.endpoint.placeholders import FORMATS
from lakekit.discover.columns import ColumnGuess
from lakekit.discover.draft import Draft
from lakekit.discover.proofs import Proof
from lakekit.discover.roles import since_param
from lakekit.records.json_values import Fields, Number

NONE = "none"
_FIRST = "1970-01-01T00:00:00Z"
_USUAL = "updated_since"

Ask = Callable[[Question[Any]], Any]
# Asks for the first page with parameters; returns what came, and the times of its records.
TryParams = Callable[[dict[str, list[str]]], tuple[Proof, list[Any]]]


def ask_watermark(
    ask: Ask,
    draft: Draft,
    column: ColumnGuess,
    records: Sequence[Fields],
    times: Sequence[Any],
    try_params: TryParams,
) -> Draft:
    """Ask for the parameter of a watermark, and where the first run begins.

    Args:
        ask: Asks a question.
        draft: What was chosen; its column of the last change is the watermark.
        column: That column.
        records: The records that were seen.
        times: The values of the column.
        try_params: Asks the API for a page.
    """
    kind = _kind_of(column, records)
    known = since_param(dict(draft.params))
    about = f"the address has the parameter {known}" if known else f"{_USUAL} is usual, and a guess"

    saw: dict[str, str] = {}

    def read(text: str, again: bool) -> str | None:
        if text == NONE:
            return None
        if not again:
            _refuse(text, sorted(times), kind, draft, try_params)
        saw["since"] = "as it was given" if again else f"{text} was tried: no older record came"
        return text

    text = "Which parameter asks for what has changed since a time? It is tried; none has no such."
    param = ask(Question("since", text, known or _USUAL, read, [about]))
    if param is None:
        return draft
    given = draft.params.get(param, [_FIRST])[0]
    start = ask(Question("start", "Where does the first run begin?", given, _time, []))
    incremental = {"watermark": path_of(column.steps), "type": kind, "start": start}
    params = {**draft.params, param: ["{watermark}"]}
    return replace(draft, incremental=incremental, params=params, saw={**draft.saw, **saw})


def _kind_of(column: ColumnGuess, records: Sequence[Fields]) -> str:
    first: Any = records[0]
    for name in column.steps:
        first = first.named().get(name) if isinstance(first, Fields) else None
    if isinstance(first, Number):
        return "unix"
    return "date" if column.type.name == "date" else "timestamp"


def _time(text: str, _: bool) -> str:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"'{text}' is no time; write one as in {_FIRST}") from None
    return text if found.tzinfo else f"{found.isoformat()}Z"


def _refuse(
    param: str, times: Sequence[Any], kind: str, draft: Draft, try_params: TryParams
) -> None:
    """Doubt a parameter with which older records come than were asked for."""
    middle = times[len(times) // 2]
    if middle == times[0]:
        raise Doubt(f"all records have the time {middle}, so that {param} cannot be tried")
    proof, found = try_params({**draft.params, param: [_written(middle, kind)]})  # type: ignore[dict-item]
    if not proof.pages:
        raise Doubt(proof.saw)
    older = sum(each is not None and each < middle for each in found)
    if older:
        raise Doubt(
            f"{param} was tried: {older} of {len(found)} records are older than what was asked for"
        )


def _written(value: date, kind: str) -> str:
    time = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    form = {"timestamp": "iso", "date": "date", "unix": "unix"}[kind]
    return FORMATS[form](time.replace(tzinfo=UTC))
