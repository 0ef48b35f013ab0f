"""What others hear of a load: an event on the default bus, and metrics in the log."""

import json
from typing import TYPE_CHECKING, Any

from lakekit.aws.errors import translated
from lakekit.aws.telemetry.metrics import LOAD_METRICS, put_metrics
from lakekit.errors import StorageUnavailableError
from lakekit.runs.complete_run import TableLoaded

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE = "lakekit"
STEP = "complete_run"


class Announcer:
    """Announces every table that was loaded.

    per_table: whether each table has metrics of its own. announced, cost_usd: what was announced so
    far, and what it cost.
    """

    def __init__(
        self, database: str, client: "EventBridgeClient", *, per_table: bool = False
    ) -> None:
        self._database = database
        self._client = client
        self._per_table = per_table
        self.announced: list[TableLoaded] = []
        self.cost_usd = 0.0

    def __call__(self, loaded: TableLoaded) -> None:
        """Send a `TableLoaded` event, then print the metrics in CloudWatch's embedded format."""
        detail = {"database": self._database, **loaded.model_dump(mode="json")}
        self._send(loaded.table, detail)
        self.announced.append(loaded)
        self.cost_usd += loaded.cost_usd
        values = {**detail, "quarantine_ratio": loaded.quarantine_ratio}
        about = {"table": loaded.table, "source": loaded.source, "run_id": loaded.run_id}
        own = {"database": self._database}
        put_metrics(LOAD_METRICS, values, service=STEP, dimensions=own, about=about)
        if self._per_table:
            table = own | {"table": loaded.table}
            put_metrics(LOAD_METRICS, values, service=STEP, dimensions=table)

    def _send(self, table: str, detail: dict[str, Any]) -> None:
        with translated(f"event of {table}"):
            answer = self._client.put_events(
                Entries=[
                    {
                        "Source": SOURCE,
                        "DetailType": "TableLoaded",
                        "Detail": json.dumps(detail),
                        "Resources": [f"{self._database}.{table}"],
                    }
                ]
            )
        if answer["FailedEntryCount"]:
            code = answer["Entries"][0].get("ErrorCode")
            raise StorageUnavailableError(f"event of {table}: {code}")
