"""Every key of the landing bucket and every derived table name, as functions."""

import hashlib
import re
from datetime import UTC, datetime

STAGING = ".staging/"
# After so many days a change set that a killed merge left behind is removed.
STAGING_DAYS = 7
# Begins the names of a run's branches, and of its change set in a local warehouse.
OWN = "lakekit_"
MAINTENANCE = "maintain-"
RAW = "raw/"
RUNS = "runs/"
# The one place where functions delete: all below it can be derived again from the landings.
INDEX = "index/"
# The sweeper watches the ages of what is below: when sources were started, and tables loaded.
STARTED = "watch/started/"
LOADED = "watch/loaded/"
# The names of the schedules that a pause has switched off.
PAUSED = "watch/paused"
# In the bucket of results: the runs that the page of an environment shows.
PUBLISHED = "page/runs.json"
# One name for all its runs: Glue lets one at a time, so the next takes over what one left behind.
# No execution can have it: Step Functions allows no angle brackets in a name.
REBUILD_OWNER = "<rebuild_table>"
_SEGMENT = re.compile(r"^[A-Za-z0-9_-][A-Za-z0-9._:-]*$")


def raw_prefix(source: str, endpoint: str, extraction_time: datetime) -> str:
    """Return the folder of one landing, with its closing slash.

    Extractions have whole seconds. Files have microseconds too, since many arrive in one second.

    Example:
        >>> raw_prefix("airports_api", "airports", datetime(2024, 8, 6, tzinfo=UTC))
        'raw/airports_api/airports/20240806_000000/'
    """
    if extraction_time.tzinfo is None:
        raise ValueError("extraction_time must carry a time zone")
    form = "%Y%m%d_%H%M%S_%f" if extraction_time.microsecond else "%Y%m%d_%H%M%S"
    stamp = extraction_time.astimezone(UTC).strftime(form)
    return f"{endpoint_prefix(source, endpoint)}{stamp}/"


def source_prefix(source: str) -> str:
    """Return the folder of all landings of a source."""
    return f"{RAW}{_segment(source)}/"


def endpoint_prefix(source: str, endpoint: str) -> str:
    """Return the folder of all landings of an endpoint."""
    return f"{source_prefix(source)}{_segment(endpoint)}/"


def part_key(prefix: str, number: int) -> str:
    """Return the key of one object of records.

    Example:
        >>> part_key("raw/s/e/20240806_000000/", 7)
        'raw/s/e/20240806_000000/part-00007.ndjson.gz'
    """
    return f"{prefix}part-{number:05d}.ndjson.gz"


def manifest_key(prefix: str) -> str:
    """Return the key of a landing's manifest."""
    return f"{prefix}manifest.json"


def pending_key(prefix: str) -> str:
    """Return the key of the marker: landed, not merged."""
    return f"{prefix}.pending"


def complete_key(prefix: str) -> str:
    """Return the key of the marker: merged everywhere."""
    return f"{prefix}.complete"


def rejected_key(prefix: str) -> str:
    """Return the key of the marker that a person writes: never merge this landing."""
    return f"{prefix}.rejected"


def approved_key(prefix: str) -> str:
    """Return the key of the marker that a person writes: the guards let this landing pass."""
    return f"{prefix}.approved"


def original_key(prefix: str, ending: str) -> str:
    """Return the key of a file as it was received, if it is not one of records.

    Example:
        >>> original_key("raw/s/e/20240806_000000/", ".csv.gz")
        'raw/s/e/20240806_000000/original.csv.gz'
    """
    return f"{prefix}original{ending}"


def owner_key(prefix: str) -> str:
    """Return the key of the marker that reserves a landing's folder for one file."""
    return f"{prefix}.owner"


def prefix_of(manifest_key: str) -> str:
    """Return the folder of the landing whose manifest this is."""
    return manifest_key.removesuffix("manifest.json")


def progress_key(prefix: str, run_id: str) -> str:
    """Return the key of how far a run has come with an extraction."""
    return f"{prefix}.progress-{_segment(run_id)}.json"


def run_of(key: str) -> str:
    """Return the id of the run to which a key below `runs/` belongs.

    Example:
        >>> run_of("runs/r-1/plan.json")
        'r-1'
    """
    return key.removeprefix(RUNS).partition("/")[0]


def run_prefix(run_id: str) -> str:
    """Return the folder of a run's documents."""
    return f"{RUNS}{_segment(run_id)}/"


def run_key(run_id: str) -> str:
    """Return the key of the run document."""
    return f"{RUNS}{_segment(run_id)}/run.json"


def calls_key(run_id: str) -> str:
    """Return the key of how many requests a run has sent to its source."""
    return f"{RUNS}{_segment(run_id)}/calls.json"


def plan_key(run_id: str) -> str:
    """Return the key of what PlanTables decided."""
    return f"{RUNS}{_segment(run_id)}/plan.json"


def result_key(run_id: str, step: str, table: str) -> str:
    """Return the key of what a step says it did to one table."""
    return f"{RUNS}{_segment(run_id)}/results/{_segment(step)}/{_segment(table)}.json"


def failure_key(run_id: str, endpoint: str | None = None) -> str:
    """Return the key of a run's recorded failure, or of that of one endpoint."""
    name = f"failure-{_segment(endpoint)}" if endpoint else "failure"
    return f"{RUNS}{_segment(run_id)}/{name}.json"


def failures_prefix(run_id: str) -> str:
    """Return what the keys of the failures of single endpoints begin with."""
    return f"{RUNS}{_segment(run_id)}/failure-"


def job_failure_key(run_id: str, step: str, table: str) -> str:
    """Return the key of why a job could not do its step for one table."""
    return f"{RUNS}{_segment(run_id)}/results/{_segment(step)}/{_segment(table)}-failure.json"


def claim_key(run_id: str) -> str:
    """Return the key of what a run claimed."""
    return f"{RUNS}{_segment(run_id)}/claim.json"


def verdicts_key(run_id: str, share: int) -> str:
    """Return the key of what a run found in one share of its landings."""
    return f"{RUNS}{_segment(run_id)}/verdicts/{share:04d}.json"


def index_prefix(state: str, source: str | None = None, name: str | None = None) -> str:
    """Return a folder of the index, with its closing slash.

    Example:
        >>> index_prefix("pending", "shop", "orders")
        'index/pending/shop/orders/'
    """
    parts = [each for each in (source, name) if each is not None]
    return f"{INDEX}{'/'.join([state, *map(_segment, parts)])}/"


def index_key(state: str, manifest: str) -> str:
    """Return the key of a landing's entry in the index.

    Example:
        >>> index_key("pending", "raw/shop/orders/20260101_000000/manifest.json")
        'index/pending/shop/orders/20260101_000000'
    """
    _, source, table, stamp, _ = manifest.split("/")
    return f"{index_prefix(state, source, table)}{stamp}"


def open_run_key(source: str, run_id: str) -> str:
    """Return the key that says that a run has not ended."""
    return f"{index_prefix('open', source)}{_segment(run_id)}"


def backoff_key(source: str, table: str) -> str:
    """Return the key that says how long a table whose merges fail is left alone."""
    return f"{index_prefix('backoff', source)}{_segment(table)}"


def routed_key(inbox_key: str, etag: str) -> str:
    """Return the key that says that a file of the inbox has become a landing.

    Example:
        >>> routed_key("inbox/shop/orders/day.csv", '"abc"')
        'index/routed/shop/orders/day.csv/abc'
    """
    return f"{INDEX}routed/{inbox_key.removeprefix('inbox/')}/{etag.strip(chr(34))}"


def started_key(source: str) -> str:
    """Return the key whose age says when a source was last started to extract."""
    return f"{STARTED}{_segment(source)}"


def loaded_key(source: str, table: str) -> str:
    """Return the key whose age says when a landing of a table was last complete."""
    return f"{LOADED}{_segment(source)}/{_segment(table)}"


def newest_key(source: str, table: str) -> str:
    """Return the key of what names the newest landings of a table that are complete."""
    return f"tables/{_segment(source)}/{_segment(table)}/newest.json"


def watermark_key(source: str, table: str) -> str:
    """Return the key of up to where everything of an incremental table is complete."""
    return f"tables/{_segment(source)}/{_segment(table)}/watermark.json"


def table_runs_prefix(source: str, table: str) -> str:
    """Return the folder that names the runs that planned a table."""
    return f"tables/{_segment(source)}/{_segment(table)}/runs/"


def table_run_key(source: str, table: str, epoch: int, run_id: str) -> str:
    """Return the key that says that a run planned a table, in the order of the leases."""
    return f"{table_runs_prefix(source, table)}{epoch:010d}-{_segment(run_id)}"


def lease_key(table: str) -> str:
    """Return the key of a table's lease."""
    return f"leases/{_segment(table)}.json"


def inbox_prefix(source: str, endpoint: str) -> str:
    """Return the folder into which others drop files."""
    return f"inbox/{_segment(source)}/{_segment(endpoint)}/"


def quarantine_table(table: str) -> str:
    """Return the name of the table that keeps a table's rejected records."""
    return f"{table}_quarantine"


def current_view(table: str) -> str:
    """Return the name of the view of a table's current rows."""
    return f"{table}_current"


def journal_table(table: str) -> str:
    """Return the name of the change journal: events that no version of the table records."""
    return f"{table}_journal"


def shadow_tables(table: str) -> tuple[str, ...]:
    """Return the names of the tables that a rebuild works in; the last is the table's shadow.

    Example:
        >>> shadow_tables("t")
        ('t__rebuild_journal', 't__rebuild_quarantine', 't__rebuild')
    """
    shadow = f"{table}__rebuild"
    return journal_table(shadow), quarantine_table(shadow), shadow


def staging_folder(warehouse: str, run_id: str, table: str) -> str:
    """Return where a run keeps a table's change set; `STAGING` is what a lifecycle rule tidies.

    Example:
        >>> staging_folder("s3://lake/warehouse", "run-1", "airports")
        's3://lake/warehouse/.staging/run-1/airports'
    """
    return f"{warehouse}/{STAGING}{_segment(run_id)}/{_segment(table)}"


def maintenance_owner(run_id: str) -> str:
    """Return by which name maintenance holds a table's lease."""
    return f"{MAINTENANCE}{run_id}"


def _segment(text: str) -> str:
    if not _SEGMENT.match(text):
        raise ValueError(f"'{text}' cannot be a part of a key")
    return text


def branch_name(run_id: str) -> str:
    """Return the name of a run's branch."""
    return f"{OWN}{hashlib.sha256(run_id.encode()).hexdigest()[:16]}"
