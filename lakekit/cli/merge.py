"""The commands that write a local warehouse, and the one that only says what would be written."""

import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import typer

from lakekit.batch import Batch, Extract, MergeResult, refuse_extract
from lakekit.cli.arguments import given, pair_runs
from lakekit.cli.output import render_samples, say, say_rebuilt, why, write
from lakekit.contract.contract import Contract, load_contract
from lakekit.errors import InvalidStepInputError, LakekitError, TooManyRejectedError
from lakekit.local.files import CONVERTED, broken_gzip, form_fault, place_fault
from lakekit.local.landing import Landing
from lakekit.local.receive import received
from lakekit.local.run.place import refuse_loaded, source_of
from lakekit.local.run.rebuild import rebuild_loaded
from lakekit.local.warehouse import (
    Warehouse,
    identifier,
    opened,
    read_contract,
    read_text,
    spark_faults,
    staging_of,
    tidy_staging,
)
from lakekit.replay.merged_runs import MergedRun
from lakekit.values import parse_time, to_json

# How many files of a run an error names.
FEW_FILES = 3
Promise = Annotated[Path, typer.Option(help="The table's contract.")]
Inputs = Annotated[
    list[Path], typer.Option(help="Files of a run: NDJSON, JSON, CSV, .gz of these, Parquet, zip.")
]
Extracts = Annotated[
    Literal["full", "incremental", "changes"] | None,
    typer.Option(help="Instead of the contract's."),
]


def merge(
    contract: Promise,
    warehouse: Warehouse,
    input: Inputs,
    at: Annotated[list[str], typer.Option(help="Extraction time of the inputs before it.")],
    extract: Extracts = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per run.")] = False,
) -> None:
    r"""Merge files into a table of the local warehouse, one run per --at.

    Example:
    lakekit merge --contract c.yaml --input a.ndjson \
      --at 2026-01-01T00:00:00Z --warehouse warehouse
    """
    promise, text = read_contract(contract), read_text(contract)
    refuse_loaded(warehouse, promise)
    kind = extract or promise.endpoint.extract
    refuse_extract(promise, kind)
    runs = [(time, make_batch(time, files, kind)) for time, files in pair_runs(given())]
    landing, table = Landing(warehouse, promise.contract), identifier(promise.contract)
    files = [file for _, batch in runs for file in batch.files]
    # Before Spark starts, which takes its time.
    with (
        _received(runs, promise) as reads,
        opened(warehouse, make=True, inputs=files) as spark,
        landing.locked(waits=True),
    ):
        from lakekit.spark.iceberg.published_runs import published_runs  # noqa: PLC0415
        from lakekit.spark.merge_scd2 import merge_scd2  # noqa: PLC0415
        from lakekit.spark.schema.create_tables import create_or_evolve  # noqa: PLC0415

        if spark.catalog.tableExists(table):
            create_or_evolve(spark, promise, table)
        landing.keep_contract(text)
        tidy_staging(warehouse)
        staging = staging_of(warehouse)

        def published() -> Container[str]:
            return published_runs(spark, table) if spark.catalog.tableExists(table) else ()

        for time, batch in runs:
            with naming_run(time, batch.files) as kept:
                if promise.history.ordered_by_extraction:
                    landing.refuse_late(batch)
                try:
                    landed = landing.land(text, batch, published(), reads)
                    kept.update(_names(landed.files, batch.files))
                    result = merge_scd2(spark, promise, landed, table, staging=staging)
                except Exception:
                    if batch.run_id not in published():
                        landing.discard(batch.run_id)
                    raise
                landing.mark_merged(batch.run_id)
            shown = _shown(result, promise.contract)
            say(to_json(shown) if as_json else _sentence(shown))


def plan_merge(  # noqa: PLR0913, PLR0917  each is an option
    contract: Promise,
    warehouse: Warehouse,
    input: Inputs,
    at: Annotated[str, typer.Option(help="Extraction time of the inputs.")],
    extract: Extracts = None,
    rows: Annotated[int, typer.Option(min=0, help="Sample rows of each kind.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    r"""Say what a merge would open, close, delete and quarantine, and commit nothing.

    Example:
    lakekit plan-merge --contract c.yaml --input a.ndjson \
      --at 2026-01-01T00:00:00Z --warehouse warehouse
    """
    promise = read_contract(contract)
    kind = extract or promise.endpoint.extract
    refuse_extract(promise, kind)
    batch = make_batch(at, [str(file) for file in input], kind)
    table = identifier(promise.contract)
    with (
        _received([(at, batch)], promise) as reads,
        _as_it_is(warehouse) as place,
        opened(place, inputs=batch.files) as spark,
    ):
        from lakekit.spark.preview import preview_merge  # noqa: PLC0415

        with naming_run(at, batch.files) as kept, _showing_rejected(as_json):
            if promise.history.ordered_by_extraction:
                Landing(warehouse, promise.contract).refuse_late(batch)
            staging = staging_of(place)
            read = tuple(str(reads[file]) for file in batch.files)
            kept.update(_names(read, batch.files))
            batch = batch.model_copy(update={"files": read})
            plan = preview_merge(spark, promise, batch, table, staging=staging, rows=rows)
    shown = _shown(plan.result, promise.contract)
    if as_json:
        del shown["committed"]
        state = {"merged": plan.merged, "creates": plan.creates, "evolves": plan.evolves}
        say(to_json({**shown, **state, "samples": plan.samples}))
        return
    if plan.merged:
        say(f"{promise.contract}: this run is merged; it would change nothing")
        return
    for statement in plan.evolves:
        say(f"would run: {statement}")
    made = "; the table would be created" if plan.creates else ""
    say(f"{_sentence(shown, would='would have ')}{made}")
    write(render_samples(plan.samples or {}))


def rebuild(
    table: Annotated[str, typer.Option(help="Name of the table.")],
    warehouse: Warehouse,
    since: Annotated[
        str | None, typer.Option("--from", help="Only versions that held at or after this time.")
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Only these keys: NDJSON, one object per line.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    r"""Derive a table again from its landed runs and publish what is right.

    The table has one commit; its change journal, if there is one, has its own before it.

    Example: lakekit rebuild --table airports --warehouse warehouse

    Example:
    lakekit rebuild --table airports --from 2025-01-01T00:00:00Z \
      --warehouse warehouse

    Example:
    lakekit rebuild --table airports --keys keys.ndjson \
      --warehouse warehouse
    """
    if since and keys:
        raise InvalidStepInputError("give --from or --keys, not both")
    if keys:
        refuse_other_form("--keys", str(keys))
    after = parse_time("--from", since) if since else None
    if source := source_of(warehouse, table):
        rebuilt = rebuild_loaded(warehouse, source, table, after, keys)
        say(to_json(rebuilt) if as_json else say_rebuilt(rebuilt))
        return
    landing, name = Landing(warehouse, table), identifier(table)
    today = load_contract(landing.contract(), name=table)
    with opened(warehouse) as spark, landing.locked():
        from lakekit.spark.iceberg.published_runs import journal_runs, published_runs  # noqa: PLC0415
        from lakekit.spark.rebuild.job import read_keys  # noqa: PLC0415
        from lakekit.spark.rebuild.rebuild import Scope, rebuild_table  # noqa: PLC0415

        exists = spark.catalog.tableExists(name)
        # A crash may have come before a run was marked as merged.
        recorded = {each.run_id for each in journal_runs(spark, name)} if exists else set()
        published = recorded.union(published_runs(spark, name)) if exists else recorded
        landed = landing.merged_runs(published)
        runs = [MergedRun(load_contract(text, name=table), batch) for text, batch in landed]
        scope = Scope(since=after)
        if keys:
            with naming(f"--keys {keys}", [str(keys)]):
                scope = Scope(since=after, keys=read_keys(spark, today, str(keys)))
        tidy_staging(warehouse)
        staging = staging_of(warehouse)
        done = rebuild_table(spark, today, runs, name, staging=staging, scope=scope)
    shown = {**done.model_dump(), "table": table}
    say(to_json(shown) if as_json else say_rebuilt(shown))


@contextmanager
def _received(runs: Sequence[tuple[str, Batch]], promise: Contract) -> Iterator[Mapping[str, Path]]:
    """Give what a merge reads of each file of some runs; see `received`."""
    with ExitStack() as stack:
        reads: dict[str, Path] = {}
        for time, batch in runs:
            with naming_run(time, batch.files):
                reads |= stack.enter_context(received(batch.files, promise))
        yield reads


def _names(read: Sequence[str], given: Sequence[str]) -> dict[str, str]:
    """Return how errors call the files that are read."""
    pairs = zip(read, given, strict=True)
    return {own: f"{name} as NDJSON" if own.endswith(CONVERTED) else name for own, name in pairs}


@contextmanager
def naming_run(time: str, files: Sequence[str]) -> Iterator[dict[str, str]]:
    """Let an error say which run of a call it belongs to; see `naming`."""
    more = f" and {len(files) - FEW_FILES} more" if len(files) > FEW_FILES else ""
    name = f"--at {time} --input {' '.join(files[:FEW_FILES])}{more}"
    with naming(name, files) as kept:
        yield kept


@contextmanager
def naming(name: str, files: Sequence[str]) -> Iterator[dict[str, str]]:
    """Let an error begin with a name; if a file that is read is broken, it says so instead.

    Give to the dictionary which copies of the files are read: the error has the files' own names.
    """
    kept: dict[str, str] = {}
    try:
        with spark_faults():
            yield kept
    except OSError as error:
        raise InvalidStepInputError(f"{name}: {why(error)}") from None
    except LakekitError as error:
        broken = broken_gzip(files) if isinstance(error, InvalidStepInputError) else None
        text = broken or str(error)
        for copy, file in kept.items():
            text = text.replace(copy, file)
        error.args = (f"{name}: {text}",)
        raise


@contextmanager
def _showing_rejected(as_json: bool) -> Iterator[None]:
    """Show the lines for which a run is refused, with their texts."""
    try:
        yield
    except TooManyRejectedError as error:
        if not as_json:
            write(render_samples({"rejected": [line._asdict() for line in error.rejected]}))
        raise


@contextmanager
def _as_it_is(warehouse: Path) -> Iterator[Path]:
    """Give a warehouse, an empty one for a while where there is none: a plan makes nothing."""
    if (warehouse / "catalog.db").is_file():
        yield warehouse
        return
    with TemporaryDirectory() as folder:
        place = Path(folder) / "warehouse"
        with opened(place, make=True) as spark:
            try:
                yield place
            finally:
                # Its catalog goes with the folder.
                spark.stop()


def _shown(result: MergeResult, table: str) -> dict[str, Any]:
    """Return what is shown of a merge: its table and run, then the metrics."""
    rest = result.model_dump(exclude={"table", "run_id", "pass_id"})
    return {"table": table, "run_id": result.run_id, **rest}


def _sentence(r: dict[str, object], would: str = "") -> str:
    state = f"snapshot {r['snapshot_id']}" if r["committed"] else "nothing to commit"
    names = ("unchanged", "duplicates", "quarantined")
    rare = (name for name in ("superseded", "deletes", "restored") if r[name])
    counts = ", ".join(f"{name} {r[name]}" for name in (*names, *rare))
    opened = f"{would}opened {r['opened']}, closed {r['closed']} ({r['deleted']} deleted)"
    return f"{r['table']}: {opened}, {counts}" + ("" if would else f"; {state}")


def refuse_other_form(option: str, file: str) -> None:
    """Raise if a file is not one of lines of JSON, as far as its beginning shows.

    Raises:
        InvalidStepInputError: It is missing, no file, unreadable, or of another form.
    """
    try:
        fault = form_fault(Path(file))
    except OSError as error:
        fault = error.strerror
    if fault:
        raise InvalidStepInputError(f"{option} {file}: {fault}")


def make_batch(time: str, files: Sequence[str], extract: Extract) -> Batch:
    """Return the batch of one local run; the same files at the same time are the same run.

    Raises:
        InvalidStepInputError: A file cannot be read, or the time has no zone.
    """
    extraction_time = parse_time("--at", time)
    digest = hashlib.sha256(f"{extract} {extraction_time.isoformat()}".encode())
    for file in files:
        try:
            if fault := place_fault(Path(file)):
                raise InvalidStepInputError(f"--at {time} --input {file}: {fault}")
            with Path(file).open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError as error:
            raise InvalidStepInputError(f"--at {time} --input {file}: {error.strerror}") from None
    return Batch(
        run_id=f"local-{digest.hexdigest()[:24]}",
        extract=extract,
        extraction_time=extraction_time,
        files=tuple(files),
    )
