"""What an environment costs in a month, from its configuration and the sizes of its loads.

An estimate: it counts the firings of schedules exactly, and what each run needs by the assumptions
below. What runs have cost is in their results.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from lakekit.config import prices
from lakekit.config.environment import Environment
from lakekit.config.firings import firings, is_paused
from lakekit.config.functions import Step
from lakekit.config.source import Source
from lakekit.config.storage import Storage
from lakekit.config.workers import Jobs
from lakekit.models import Model

MONTH = timedelta(days=30)
MEGABYTE = 1_000_000
# What a merge takes on Glue: its start and its commits, and 100 MB for each worker in a minute.
JOB_SECONDS = 90
WORKER_MEGABYTES_PER_SECOND = 100 / 60
# A table asks for maintenance after about so many loads; it takes so long.
LOADS_PER_MAINTENANCE = 10
MAINTENANCE_SECONDS = 180
DPU_PER_WORKER = {"G.1X": 1, "G.2X": 2}
# Functions of one run, without those that are called for each table.
RUN_STEPS: tuple[Step, ...] = ("start_run", "claim_landings", "plan_tables", "complete_run")
TABLE_STEPS: tuple[Step, ...] = ("extract_pages", "validate_landing")
STEP_SECONDS = 2
STEP_MEGABYTES_PER_SECOND = 10
SWEEPS = 4 * 24 * 30
RUN_TRANSITIONS, TABLE_TRANSITIONS = 22, 5
RUN_PUTS, TABLE_PUTS, TABLE_GETS = 40, 60, 300
LOG_BYTES_PER_RUN = 2 * MEGABYTE
# A table's files against one load: versions that have ended, and columns of Lakekit's own.
TABLE_GROWTH = 1.5
# Interface endpoints of a network that is made, and one more for a pause.
ENDPOINTS, PAUSE_ENDPOINTS = 8, 1
KEYS, ALARMS, DASHBOARDS, OWN_METRICS, TABLE_METRICS = 2, 32, 1, 18, 13
# More of them: the key of the audit; alarms of a stream, of ShareTable, of refreshes, and of what
# the last two leave.
AUDIT_KEYS, STREAM_ALARMS, SHARING_ALARMS, REFRESH_ALARMS, LOADED_ALARMS = 1, 3, 3, 4, 1

_STREAM = prices.HOURS_OF_A_MONTH * prices.STREAM_HOUR + STREAM_ALARMS * prices.ALARM


class SourceCost(Model):
    """What one source costs in a month.

    loads: runs that its schedule starts. tables: how many it feeds. gigabytes: what all its loads
    land. glue, functions, states, storage: US dollars. total: their sum.
    """

    source: str
    loads: int
    tables: int
    gigabytes: float
    glue: float
    functions: float
    states: float
    storage: float
    total: float


class Estimate(Model):
    """A month of an environment, in US dollars.

    fixed: what it costs without a run: keys, alarms, dashboard, metrics, secrets, the sweeper,
    streams and a network of its own before their traffic.
    landings_in_a_year: what a year of landings costs in its last month.
    """

    environment: str
    fixed: float
    sources: tuple[SourceCost, ...]
    total: float
    landings_in_a_year: float
    prices_of: str = prices.AS_OF.isoformat()


def estimate_month(
    environment: Environment,
    sources: Iterable[Source],
    tables: Mapping[str, Iterable[str]],
    megabytes: Mapping[str, float],
    now: datetime,
    *,
    loads: Mapping[str, float],
) -> Estimate:
    """Return what the 30 days after `now` cost.

    Args:
        environment: Where the sources are loaded.
        sources: Those of the environment.
        tables: The tables of each source.
        megabytes: What one load of each source lands, all its tables together, unpacked.
        now: When the month begins.
        loads: Runs of a source, where its schedule does not say how many.
    """
    sources = [*sources]
    found = [
        _source_cost(
            environment,
            each.source,
            loads=round(loads[each.source])
            if each.source in loads
            else _loads(environment, each, now),
            tables=len([*tables.get(each.source, ())]),
            megabytes=megabytes[each.source],
        )
        for each in sources
    ]
    fixed = _fixed(environment, sources, sum(each.tables for each in found))
    yearly = sum(_landings(environment.storage, each.gigabytes, months=12) for each in found)
    return Estimate(
        environment=environment.environment,
        fixed=fixed,
        sources=tuple(found),
        total=fixed + sum(each.total for each in found),
        landings_in_a_year=yearly,
    )


def _loads(environment: Environment, source: Source, now: datetime) -> int:
    if not (environment.schedules and source.schedule):
        return 0
    pause = environment.pause
    times = firings(source.schedule, now, now + MONTH)
    return sum(1 for time in times if not (pause and is_paused(pause, time)))


def _source_cost(
    environment: Environment, source: str, *, loads: int, tables: int, megabytes: float
) -> SourceCost:
    gigabytes = loads * megabytes / 1000
    glue = loads * _glue(environment.jobs, tables, megabytes)
    functions = loads * _functions(environment, tables, megabytes)
    states = loads * (RUN_TRANSITIONS + tables * TABLE_TRANSITIONS) * prices.STATES_TRANSITION
    kept = _landings(environment.storage, gigabytes, months=1)
    kept += megabytes * TABLE_GROWTH / 1000 * prices.S3_STANDARD
    storage = kept + loads * (
        (RUN_PUTS + tables * TABLE_PUTS) * prices.S3_PUT + tables * TABLE_GETS * prices.S3_GET
    )
    return SourceCost(
        source=source,
        loads=loads,
        tables=tables,
        gigabytes=gigabytes,
        glue=glue,
        functions=functions,
        states=states,
        storage=storage,
        total=glue + functions + states + storage,
    )


def _glue(jobs: Jobs, tables: int, megabytes: float) -> float:
    """Return what the merge of one run costs, and its share of the maintenance."""
    workers = jobs.workers(round(megabytes * MEGABYTE))
    dpu = DPU_PER_WORKER[workers.type]
    merge = JOB_SECONDS + megabytes / WORKER_MEGABYTES_PER_SECOND / workers.number
    maintenance = MAINTENANCE_SECONDS * jobs.min_workers * tables / LOADS_PER_MAINTENANCE
    return prices.glue_cost(dpu * (merge * workers.number + maintenance), workers.execution_class)


def _functions(environment: Environment, tables: int, megabytes: float) -> float:
    """Return what the functions of one run cost, and what they log."""
    work = megabytes / STEP_MEGABYTES_PER_SECOND
    memory = environment.functions.memory_of
    gb_seconds = sum(memory(step) * STEP_SECONDS for step in RUN_STEPS) / 1024
    gb_seconds += sum(memory(s) * (STEP_SECONDS * tables + work) for s in TABLE_STEPS) / 1024
    calls = len(RUN_STEPS) + tables * len(TABLE_STEPS)
    logs = LOG_BYTES_PER_RUN / 1e9 * prices.LOG_GB
    return gb_seconds * prices.LAMBDA_GB_SECOND + calls * prices.LAMBDA_CALL + logs


def _landings(storage: Storage, gigabytes: float, *, months: int) -> float:
    """Return what the landings of so many months cost in the last of them."""
    days = months * 30
    if storage.raw_days:
        days = min(days, storage.raw_days)
    infrequent = storage.raw_infrequent_days or days
    archive = storage.raw_archive_days or days
    first = min(days, infrequent, archive)
    second = max(0, min(days, archive) - infrequent)
    third = max(0, days - first - second)
    by_tier = (
        (first, prices.S3_STANDARD), (second, prices.S3_INFREQUENT), (third, prices.S3_ARCHIVE)
    )  # fmt: skip
    return sum(gigabytes * each / 30 * price for each, price in by_tier)


def _fixed(environment: Environment, sources: Iterable[Source], tables: int) -> float:
    secrets = {secret for each in sources for _, secret in each.secrets()}
    metrics = OWN_METRICS + (tables * TABLE_METRICS if environment.table_metrics else 0)
    sweep = environment.functions.memory_of("sweep") / 1024 * STEP_SECONDS
    return (
        keys_of(environment) * prices.KMS_KEY
        + alarms_of(environment) * prices.ALARM
        + DASHBOARDS * prices.DASHBOARD
        + metrics * prices.METRIC
        + len(secrets) * prices.SECRET
        + SWEEPS * (sweep * prices.LAMBDA_GB_SECOND + prices.LAMBDA_CALL)
        + _network(environment)
        + len(environment.streams) * _STREAM
    )


def _network(environment: Environment) -> float:
    """Return what a VPC costs that is made; an existing one is paid by its owner."""
    network = environment.network
    if network is None or network.vpc_id:
        return 0
    return prices.network_cost(
        nat_gateways=network.zone_count if environment.is_production else 1,
        endpoints=endpoints_of(environment),
        zones=network.zone_count,
    )


def keys_of(environment: Environment) -> int:
    """Return how many keys an environment has."""
    return KEYS + (AUDIT_KEYS if environment.audit else 0)


def alarms_of(environment: Environment) -> int:
    """Return how many alarms an environment has, at least."""
    sharing = SHARING_ALARMS if environment.shares_tables else 0
    refreshing = REFRESH_ALARMS if environment.refreshes else 0
    return ALARMS + sharing + refreshing + (LOADED_ALARMS if sharing or refreshing else 0)


def endpoints_of(environment: Environment) -> int:
    """Return how many interface endpoints a network has that is made."""
    governed = (environment.queries.views, environment.lake_formation is not None)
    return ENDPOINTS + (PAUSE_ENDPOINTS if environment.pause else 0) + sum(governed)
