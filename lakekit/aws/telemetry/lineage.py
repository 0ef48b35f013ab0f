"""Sends events of OpenLineage; what cannot be sent is logged and counted, and stops no run."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from lakekit.aws.settings import Settings, client, utc_now
from lakekit.aws.step import logger_of
from lakekit.aws.telemetry.metrics import LINEAGE_METRICS, put_metrics
from lakekit.config.addresses import Lineage
from lakekit.lineage.datasets import Deployed, Json
from lakekit.lineage.events import end_event, start_event
from lakekit.runs.complete_run import TableLoaded
from lakekit.runs.documents import read_run
from lakekit.steps.functions import CompleteRunResult, RecordFailure

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_SECONDS = 5


class RunLineage:
    """The events of one run, where its environment wants them; else nothing happens."""

    def __init__(self, settings: Settings, step: str, run_id: str) -> None:
        self._settings = settings
        self._step = step
        self._run_id = run_id
        self._loaded: list[TableLoaded] = []

    def keeping(self, announce: Callable[[TableLoaded], None]) -> Callable[[TableLoaded], None]:
        """Return what announces a table and keeps its counts for the event."""

        def both(loaded: TableLoaded) -> None:
            self._loaded.append(loaded)
            announce(loaded)

        return both

    def started(self) -> None:
        """Say that the run starts."""
        self._send(lambda deployed: start_event(deployed, self._run()))

    def completed(self, result: CompleteRunResult) -> None:
        """Say how the run ended, and what it did to its tables."""
        failed = result.outcome == "failed"
        error = f"{result.error}: {result.cause}" if failed else None
        self._send(lambda at: end_event(at, self._run(), utc_now(), self._loaded, error))

    def broken(self, step: RecordFailure) -> None:
        """Say that the run has failed, unless only an endpoint has."""
        if step.endpoint is None:
            error = f"{step.failure.error}: {step.failure.message}"
            self._send(lambda at: end_event(at, self._run(), utc_now(), (), error))

    def _run(self) -> Any:
        return read_run(self._settings.store, self._run_id)

    def _send(self, event: Callable[[Deployed], Json]) -> None:
        wanted = self._settings.lineage
        if wanted is None:
            return
        try:
            deployed = Deployed(
                self._settings.environment, self._settings.landing_bucket, self._settings.database,
                wanted.catalog,
            )  # fmt: skip
            send(wanted, event(deployed), self._run_id, self._settings.secret)
        except Exception as error:
            self._count(error)

    def _count(self, error: Exception) -> None:
        logger_of(self._step).warning("no lineage", error=type(error).__name__, cause=str(error))
        own = {"database": self._settings.database}
        put_metrics(LINEAGE_METRICS, {"failed": 1}, service=self._step, dimensions=own)


def send(wanted: Lineage, event: Json, run_id: str, secret: Callable[[str], str]) -> None:
    """Send an event to an address of HTTP, or put it below a prefix of S3.

    Raises:
        OSError: The address does not answer, or with another status than 2xx.
        ClientError: S3 refuses.
    """
    body = json.dumps(event).encode()
    place = urlsplit(wanted.url)
    if place.scheme == "s3":
        s3: S3Client = client("s3")
        key = (
            f"{place.path.strip('/')}/{event['eventTime'][:10]}/{run_id}-{event['eventType']}.json"
        )
        s3.put_object(
            Bucket=place.netloc, Key=key.lstrip("/"), Body=body, ContentType="application/json"
        )
        return
    headers = {"Content-Type": "application/json"}
    if wanted.secret:
        headers["Authorization"] = f"Bearer {secret(wanted.secret)}"
    request = Request(wanted.url, data=body, headers=headers, method="POST")  # noqa: S310  checked
    with build_opener(_NoRedirect).open(request, timeout=_SECONDS):
        pass


class _NoRedirect(HTTPRedirectHandler):
    """The token goes to the address that the environment names, and nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
