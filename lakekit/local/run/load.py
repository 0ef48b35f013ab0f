"""`load_source` on this machine: the functions of its steps and the code of its jobs, in its order.

What the state machine decides between steps, this module does: it waits for a source, goes on with
an extraction, keeps errors, and starts the next run where one is left to do.
"""

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lakekit import layout
from lakekit.config.source import Source
from lakekit.config.workers import Jobs
from lakekit.contract.contract import Contract
from lakekit.errors import (
    LakekitError,
    SourceThrottledError,
    SourceUnavailableError,
)
from lakekit.extract import RunLimits, SourceClient
from lakekit.local.run.place import LocalPlace, Tables, utc_now
from lakekit.project.product import ENVIRONMENT
from lakekit.runs.claim_landings import claim_landings
from lakekit.runs.complete_run import complete_run
from lakekit.runs.documents import read_optional, read_plan
from lakekit.runs.extract_pages import ENDPOINTS_AT_ONCE, extract_pages
from lakekit.runs.plan_tables import plan_tables
from lakekit.runs.record_failure import record_failure
from lakekit.runs.start_run import start_run
from lakekit.runs.validate_landing import validate_landing
from lakekit.spark_conf import LOCAL_DATABASE
from lakekit.steps import functions as steps
from lakekit.steps.jobs import CreateTables, MaintainTables, MergeScd2Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# As long as a function has, so that progress is kept as often as there.
CALL_SECONDS = 890.0
# How often a source that fails is asked again, and the first and the longest pause.
ATTEMPTS, PAUSE_SECONDS, LONGEST_PAUSE = 4, 5.0, 60.0


@dataclass(frozen=True)
class Loaded:
    """What one run did to one table; counts as in `lakekit.batch.MergeMetrics`."""

    table: str
    opened: int
    closed: int
    deleted: int
    unchanged: int
    quarantined: int
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What a load did to each table, and what failed."""

    tables: tuple[Loaded, ...]
    error: str | None = None
    cause: str | None = None


@dataclass(frozen=True)
class LocalLoad:
    """One load of a source.

    spark: opens the session of the warehouse, for jobs alone. secret: returns a secret by its name.
    say: takes a line for the person who waits.
    """

    place: LocalPlace
    source: Source
    contracts: tuple[Contract, ...]
    spark: Callable[[], AbstractContextManager["SparkSession"]]
    secret: Callable[[str], str]
    say: Callable[[str], None]

    def load(self) -> Outcome:
        """Extract, merge, and go on while landings are pending.

        Raises:
            LakekitError: The run could not begin, or a step in its middle failed.
        """
        runs = self.place.runs
        request = {"source": self.source.source}
        runs.waiting.append((f"local-{utc_now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}", request))
        tables: list[Loaded] = []
        result = steps.CompleteRunResult(outcome="done")
        # What failed is for the person who waits here: it is not tried again at once.
        while runs.waiting and result.outcome != "failed":
            runs.current, payload = runs.waiting.popleft()
            result = self._run(runs.current, steps.LoadRequest.from_event(payload))
            tables += self._loaded(runs.current)
        runs.current = ""
        return Outcome(tuple(tables), result.error, result.cause)

    def _run(self, run_id: str, request: steps.LoadRequest) -> steps.CompleteRunResult:
        store, name = self.place.store, self.source.source
        started = steps.StartRun(run_id=run_id, started_at=utc_now(), source=name, request=request)
        begun = start_run(started, store, self.source, self.contracts)
        try:
            with ThreadPoolExecutor(ENDPOINTS_AT_ONCE) as pool:
                list(pool.map(partial(self._extract, run_id), begun.endpoints))
            claim = claim_landings(steps.ClaimLandings(run_id=run_id, source=name), self.place.flow)
            failure = self._merge(run_id, claim.shares) if claim.shares else None
            done = complete_run(
                steps.CompleteRun(run_id=run_id, source=name, failure=failure),
                self.place.flow, Tables(self.place.warehouse), lambda _: None,
            )  # fmt: skip
        except LakekitError as error:
            self._record(run_id, error)
            raise
        if done.maintain:
            self._maintain(run_id)
        return done

    def _extract(self, run_id: str, endpoint: str) -> None:
        """Land the pages of an endpoint; its error is kept, and the others go on."""
        try:
            for done in self._pages(run_id, endpoint):
                rows, pages = _counted(done.rows, "record"), _counted(done.pages, "page")
                self.say(f"{endpoint}: {rows} on {pages}")
        except LakekitError as error:
            self._record(run_id, error, endpoint)

    def _pages(self, run_id: str, endpoint: str) -> Iterator[steps.ExtractPagesResult]:
        """Yield how far an extraction is, until it is done."""
        continuation: steps.Continuation | None = None
        failed = 0
        while True:
            step = steps.ExtractPages(
                run_id=run_id, source=self.source.source, endpoint=endpoint,
                continuation=continuation,
            )  # fmt: skip
            until = time.monotonic() + CALL_SECONDS
            try:
                done = extract_pages(
                    step, self.place.store, self._client,
                    lambda until=until: until - time.monotonic(), ENVIRONMENT,  # type: ignore[misc]
                )  # fmt: skip
            except (SourceThrottledError, SourceUnavailableError) as error:
                failed += 1
                if failed >= ATTEMPTS:
                    raise
                pause = error.retry_after_seconds or PAUSE_SECONDS * 2 ** (failed - 1)
                self._wait(endpoint, min(pause, LONGEST_PAUSE), str(error))
                continue
            yield done
            if done.done:
                return
            failed, continuation = 0, done.continuation
            if continuation and continuation.wait_seconds:
                self._wait(endpoint, continuation.wait_seconds, "the source wants a pause")

    def _wait(self, endpoint: str, seconds: float, why: str) -> None:
        self.say(f"{endpoint}: again in {seconds:.0f} s: {why}")
        time.sleep(seconds)

    def _client(self, source: Source, limits: RunLimits) -> SourceClient:
        # It asks boto3, which takes its time, for sources that want AWS's signature alone.
        from lakekit.aws.signing import sign  # noqa: PLC0415

        return SourceClient(source, self.secret, limits=limits, sign=sign)

    def _merge(self, run_id: str, shares: tuple[int, ...]) -> steps.Failure | None:
        """Validate, plan and merge what is claimed; return what stopped a job."""
        store, name = self.place.store, self.source.source
        for share in shares:
            validate_landing(steps.ValidateLanding(run_id=run_id, source=name, share=share), store)
        plan = plan_tables(
            steps.PlanTables(run_id=run_id, source=name),
            store, Tables(self.place.warehouse), Jobs(),
        )  # fmt: skip
        if not plan.merge:
            return None
        self.say("merging")
        try:
            with self.spark() as session:
                from lakekit.spark.jobs import create_tables, merge_tables  # noqa: PLC0415

                arguments = CreateTables(**self._arguments(run_id))
                if plan.create:
                    create_tables(session, store, arguments, clock=utc_now)
                merge_tables(session, store, arguments, clock=utc_now)
        # A job ends with RuntimeError where a table failed by no error of ours.
        except (LakekitError, RuntimeError) as error:
            return _failure(error)
        return None

    def _maintain(self, run_id: str) -> None:
        self.say("maintaining")
        with self.spark() as session:
            from lakekit.spark.jobs import maintain_tables  # noqa: PLC0415

            arguments = MaintainTables(**self._arguments(run_id), lease_seconds=3600)
            maintain_tables(
                session, self.place.store, arguments, self.contracts,
                leases=self.place.flow.leases, clock=utc_now,
            )  # fmt: skip

    def _arguments(self, run_id: str) -> dict[str, str]:
        return {
            "run_id": run_id,
            "source": self.source.source,
            "landing_bucket": str(self.place.warehouse),
            "database": LOCAL_DATABASE,
            "warehouse": self.place.warehouse.resolve().as_uri(),
        }

    def _record(self, run_id: str, error: LakekitError, endpoint: str | None = None) -> None:
        step = steps.RecordFailure(
            run_id=run_id, source=self.source.source, failure=_failure(error), endpoint=endpoint
        )
        record_failure(step, self.place.flow)

    def _loaded(self, run_id: str) -> Iterator[Loaded]:
        store = self.place.store
        if store.head(layout.plan_key(run_id)) is None:
            return
        for plan in read_plan(store, run_id).tables:
            key = layout.result_key(run_id, "merge_scd2", plan.table)
            found = read_optional(store, key, MergeScd2Result)
            merges = found.merges if found else ()
            yield Loaded(
                plan.table,
                opened=sum(each.opened for each in merges),
                closed=sum(each.closed for each in merges),
                deleted=sum(each.deleted for each in merges),
                unchanged=sum(each.unchanged for each in merges),
                quarantined=sum(each.quarantined for each in merges),
                seconds=round(found.seconds, 1) if found else 0,
            )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _failure(error: Exception) -> steps.Failure:
    return steps.Failure.from_event({"Error": type(error).__name__, "Cause": str(error)})
