"""`lakekit try`: the table that the first pages of a source would make; nothing is written."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from lakekit.cli.first.places import (
    ENVIRONMENT,
    SecretOption,
    read_secrets,
    reader_of,
    stored_secrets,
)
from lakekit.cli.first.trial import Trial, run_trial
from lakekit.cli.formats import FormatOption
from lakekit.cli.output import say, show
from lakekit.cli.project import place
from lakekit.config.load import read_contracts
from lakekit.config.source import Source
from lakekit.contract.contract import Contract
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.errors import InvalidStepInputError, LakekitError, UnknownSourceError
from lakekit.extract import SourceClient, extract_steps, values_of_steps
from lakekit.landing.census import coverage
from lakekit.landing.writer import one_line
from lakekit.records.reader import read_record

_MOST_SAMPLES = 3
_MOST_CHARACTERS = 160
LimitOption = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="At most so many rows, 0 for all; a terminal shows 100."),
]


@dataclass
class _Pages:
    """The records of the pages that came, and how their sequence ended."""

    lines: list[bytes] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    is_last: bool = False
    total: int | None = None
    requests: int = 0
    error: Exception | None = None


def try_source(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")],
    endpoint: Annotated[
        str | None, typer.Option(help="Name of the contract, if the source has several.")
    ] = None,
    pages: Annotated[int, typer.Option(min=1, metavar="N", help="How many pages.")] = 3,
    secret: SecretOption = None,
    form: FormatOption = "table",
    limit: LimitOption = None,
) -> None:
    """Show the table that the first pages of a source would make; nothing is written.

    Records are read as the merge reads them, without Spark.

    Example: lakekit try airports_api --pages 3
    """
    project = place.required()
    folder, secrets = project.config, stored_secrets(project) | read_secrets(secret)
    known = place.source_named(project, source)
    contract = _contract(folder, source, endpoint)
    place.refuse_files(project, known, contract.contract)
    found = _fetch(known, contract, pages, secrets)
    records = [read_record(line, contract) for line in found.lines]
    trial = run_trial(records, contract)
    columns = [column.name for column in contract.stored]
    show(columns, [[row[name] for name in columns] for row in trial.rows], form, limit)
    for line in _report(found, trial, contract):
        say(line, err=True)
    if found.error:
        raise found.error


def _contract(folder: Path, source: str, endpoint: str | None) -> Contract:
    contracts = {each.contract: each for each in read_contracts(folder, source)}
    names = ", ".join(contracts)
    if not contracts:
        raise UnknownSourceError(f"no contract in {folder / 'contracts'} names source {source}")
    if endpoint is None and len(contracts) > 1:
        raise InvalidStepInputError(f"{source} has {names}; give --endpoint NAME")
    if endpoint is not None and endpoint not in contracts:
        raise UnknownSourceError(f"{source} has no endpoint {endpoint}; there are {names}")
    return contracts[endpoint or next(iter(contracts))]


def _fetch(source: Source, contract: Contract, most: int, secrets: dict[str, str]) -> _Pages:
    """Return the first pages, and the error at which they end.

    Raises:
        LakekitError: No page came; as an extraction says it, with no secret in its message.
    """
    client, found = SourceClient(source, reader_of(secrets)), _Pages()
    now = datetime.now(UTC)
    try:
        incremental = contract.endpoint.incremental
        since = incremental.start if incremental else ""
        steps = values_of_steps(incremental, since, RunValues(now, now, ENVIRONMENT))
        for page in islice(extract_steps(source, contract, client, steps), most):
            lines = [one_line(record) for record in page.records]
            found.lines += lines
            found.counts.append(len(lines))
            found.is_last = page.last
            found.total = (page.resume["within"] or {}).get("total") or found.total
    except LakekitError as error:
        found.error = client.redacted_error(error)
        if not found.counts:
            raise found.error from None
    finally:
        found.requests = client.calls
        client.close()
    return found


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _report(found: _Pages, trial: Trial, contract: Contract) -> list[str]:
    kind = contract.endpoint.paginator.type
    end = "the last page is the end" if found.is_last else "there are more pages"
    if found.error:
        end = "the next page fails"
    if found.total is not None:
        end += f"; the source states a total of {found.total}"
    sizes = ", ".join(map(str, found.counts))
    lines = [
        f"{contract.contract}: {_counted(len(found.counts), 'page')} by {kind} in "
        f"{_counted(found.requests, 'request')} ({sizes} records)",
        end,
        f"{_counted(trial.records, 'record')}: {_counted(len(trial.rows), 'row')}, "
        f"{trial.repeated} replaced or repeated by another of the key, "
        f"{len(trial.rejected)} rejected",
    ]
    if found.is_last and contract.endpoint.extract == "full" and contract.keys:
        lines.append("a full extract: keys that are in the table and not here would be deleted")
    for fault, count in trial.faults.items():
        lines.append(f"rejected ({count}): {fault}")
        samples = [each.raw for each in trial.rejected if each.fault == fault][:_MOST_SAMPLES]
        lines += [f"  {raw[:_MOST_CHARACTERS].decode(errors='replace')}" for raw in samples]
    allowed = contract.quality.max_rejected_ratio
    if trial.records and len(trial.rejected) / trial.records > allowed:
        lines.append(f"a run would fail: quality.max_rejected_ratio allows {allowed}")
    counts = coverage(found.lines, contract)
    if counts.unknown_fields:
        lines.append(f"fields that no column reads: {', '.join(counts.unknown_fields)}")
    if counts.absent_fields:
        lines.append(f"columns whose field no record has: {', '.join(counts.absent_fields)}")
    if contract.endpoint.extract == "changes" and contract.history.apply_as_deletes:
        lines.append(
            "history.apply_as_deletes is not evaluated here: records that delete are shown as rows"
        )
    return lines
