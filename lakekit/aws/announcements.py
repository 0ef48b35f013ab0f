"""What others hear of a load: an event on the default bus, and metrics in the log."""

import json
from typing import TYPE_CHECKING

from aws_lambda_powertools.metrics import MetricUnit, single_metric

from lakekit.aws.errors import translated
from lakekit.errors import StorageUnavailableError
from lakekit.runs.complete_run import TableLoaded

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE = "lakekit"
NAMESPACE = "Lakekit"
METRICS = {
    "VersionsOpened": "opened",
    "VersionsClosed": "closed",
    "RecordsUnchanged": "unchanged",
    "RecordsQuarantined": "quarantined",
}


class Announcer:
    """Announces every table that was loaded."""

    def __init__(self, database: str, client: "EventBridgeClient") -> None:
        self._database = database
        self._client = client

    def __call__(self, loaded: TableLoaded) -> None:
        """Send a `TableLoaded` event, then print the metrics in CloudWatch's embedded format."""
        detail = {"database": self._database, **loaded.model_dump(mode="json")}
        with translated(f"event of {loaded.table}"):
            answer = self._client.put_events(
                Entries=[
                    {
                        "Source": SOURCE,
                        "DetailType": "TableLoaded",
                        "Detail": json.dumps(detail),
                        "Resources": [f"{self._database}.{loaded.table}"],
                    }
                ]
            )
        if answer["FailedEntryCount"]:
            code = answer["Entries"][0].get("ErrorCode")
            raise StorageUnavailableError(f"event of {loaded.table}: {code}")
        dimensions = {"database": self._database, "table": loaded.table}
        for name, field in METRICS.items():
            with single_metric(
                name=name,
                unit=MetricUnit.Count,
                value=getattr(loaded, field),
                namespace=NAMESPACE,
                default_dimensions=dimensions,
            ):
                pass
