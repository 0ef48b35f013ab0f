"""What a run says of itself while it works and when it has ended; lines for 80 columns. Pure."""

from collections.abc import Iterator, Sequence

from lakekit.cli.operate.texts import wrapped
from lakekit.config.prices import AS_OF
from lakekit.operate.find import short_name
from lakekit.operate.run_report import EndpointReport, Failed, RunReport, TableReport
from lakekit.steps.jobs import MaintainTablesResult

# How much of a cause is shown: the landing and the run's documents have all of it.
_MOST_SHOWN = 400


def progress_lines(report: RunReport) -> list[str]:
    """Return how far a run is: a line for each endpoint and table that is at work."""
    lines = [_extracting(each) for each in report.endpoints if not (each.done or each.failed)]
    lines += [_merging(each) for each in report.tables if not (each.done or each.failed)]
    return lines


def outcome_lines(report: RunReport, where: str) -> list[str]:
    """Return what came of a run: what each table opened, closed, rejected, took and cost.

    Args:
        report: Of a run that has ended.
        where: The option of commands that names the place.
    """
    lines: list[str] = []
    for endpoint in report.endpoints:
        lines += _extracted(endpoint)
    for table in report.tables:
        lines += _loaded(table, where)
    for name in report.deferred:
        lines += wrapped(f"{name}: another run or maintenance holds it and sees to its landings")
    for name in report.waiting:
        lines += wrapped(f"{name}: waits; see lakekit status {where}".rstrip())
    used = sum(each.dpu_seconds for each in report.tables)
    if used:
        cost = sum(each.cost_usd for each in report.tables)
        lines += wrapped(f"Glue: {used:,.0f} DPU seconds, {_dollars(cost)} at prices of {AS_OF}")
    if not lines:
        lines.append("nothing was pending: no table has changed")
    return lines


def maintenance_lines(results: Sequence[MaintainTablesResult]) -> list[str]:
    """Return what maintenance did to each table."""
    lines: list[str] = []
    for result in results:
        if result.busy:
            lines += wrapped(f"{result.table}: left alone, {result.busy}")
        for each in result.maintained:
            name = each.table.rpartition(".")[2]
            if not each.actions:
                lines.append(f"{name}: healthy, nothing to do")
                continue
            before, after = each.before, each.after
            files = f"{before.data_files:,} → {after.data_files:,} data files"
            files += f", {before.delete_files:,} → {after.delete_files:,} delete files"
            files += f", {before.snapshots:,} → {after.snapshots:,} snapshots"
            lines += wrapped(f"{name}: {', '.join(each.actions)}; {files}")
    return lines or ["no table was there to maintain"]


def duration(seconds: float) -> str:
    """Return a time as a person says it.

    Example:
        >>> duration(9.04), duration(75), duration(7260)
        ('9.0 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _extracting(endpoint: EndpointReport) -> str:
    pages, rows = f"{endpoint.pages:,}", f"{endpoint.rows:,}"
    left = ""
    if endpoint.most_pages is not None:
        pages += f" of {endpoint.most_pages:,}"
        left = f", {max(endpoint.most_pages - endpoint.pages, 0):,} pages left"
    if endpoint.most_rows is not None:
        rows += f" of {endpoint.most_rows:,}"
        left = f", {max(endpoint.most_rows - endpoint.rows, 0):,} rows left"
    return f"extracting {endpoint.endpoint}: {pages} pages, {rows} rows{left}"


def _merging(table: TableReport) -> str:
    if table.landings == table.merged == 1:
        return f"merged {table.table}: {table.records:,} rows; measuring its health"
    landings = _counted(table.landings - table.merged, "landing")
    rows = _counted(max(table.rows - table.records, 0), "row")
    return f"merging {table.table}: {landings} with {rows} left"


def _extracted(endpoint: EndpointReport) -> Iterator[str]:
    if endpoint.failed:
        yield f"{endpoint.endpoint}: not extracted: {endpoint.failed.error}"
    elif endpoint.done:
        pages, rows = _counted(endpoint.pages, "page"), _counted(endpoint.rows, "row")
        yield f"{endpoint.endpoint}: {pages} with {rows} landed"


def _loaded(table: TableReport, where: str) -> Iterator[str]:
    deleted = f" ({table.deleted:,} deleted)" if table.deleted else ""
    counts = [f"opened {table.opened:,}", f"closed {table.closed:,}{deleted}"]
    counts += [f"unchanged {table.unchanged:,}", f"quarantined {table.quarantined:,}"]
    rare = ("duplicates", "superseded", "restored")
    counts += [f"{name} {getattr(table, name):,}" for name in rare if getattr(table, name)]
    if table.merged:
        made = "created; " if table.created else ""
        yield from wrapped(f"{table.table}: {made}{', '.join(counts)}")
        took = [duration(table.seconds)] if table.seconds else []
        if table.dpu_seconds:
            took += [f"{table.dpu_seconds:,.0f} DPU seconds", _dollars(table.cost_usd)]
        state = f"snapshot {table.snapshot_id}" if table.snapshot_id else "nothing to commit"
        yield from wrapped("; ".join([", ".join(took), state] if took else [state]), "  ")
    elif not table.failed:
        yield from wrapped(f"{table.table}: nothing merged")
    if table.quarantined:
        yield from wrapped(f"rejected records are in {table.table}_quarantine", "  ")
    if table.failed:
        then = "failed then" if table.merged else "failed"
        yield from _why(f"{table.table}: {then}", table.failed)
    if table.failed and table.failed.landing:
        name = f"{short_name(table.failed.landing)} {where}".rstrip()
        yield from wrapped("this landing waits for you, and later runs leave it out:", "  ")
        yield f"  lakekit landings {name}"
        yield f'  lakekit reject {name} --reason "…"'


def _why(what: str, failed: Failed) -> Iterator[str]:
    cause = failed.cause.strip()
    short = cause if len(cause) <= _MOST_SHOWN else f"{cause[:_MOST_SHOWN]} …"
    yield from wrapped(f"{what}: {failed.error}: {short}")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _dollars(cost: float) -> str:
    return f"${cost:.4f}" if cost < 1 else f"${cost:,.2f}"
