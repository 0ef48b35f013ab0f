"""Lakekit's own metrics: lines of the log in CloudWatch's embedded format.

Those of the environment have the dimensions `database` and `service`, the step. What is counted by
table is in the line too, where Logs Insights finds it; as a dimension each table would cost as much
as a whole environment.
"""

from collections.abc import Mapping

from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

NAMESPACE = "Lakekit"
COUNT, SECONDS, BYTES, NONE = (
    MetricUnit.Count, MetricUnit.Seconds, MetricUnit.Bytes, MetricUnit.NoUnit,
)  # fmt: skip
# Of each load of a table, by CompleteRun: the metric, the field, the unit.
LOAD_METRICS = {
    "VersionsOpened": ("opened", COUNT),
    "VersionsClosed": ("closed", COUNT),
    "RecordsRead": ("rows", COUNT),
    "RecordsUnchanged": ("unchanged", COUNT),
    "RecordsQuarantined": ("quarantined", COUNT),
    "QuarantineRatio": ("quarantine_ratio", NONE),
    "BytesRead": ("bytes", BYTES),
    "MergeSeconds": ("seconds", SECONDS),
    "DataFiles": ("data_files", COUNT),
    "DeleteFiles": ("delete_files", COUNT),
    "Snapshots": ("snapshots", COUNT),
    "DpuSeconds": ("dpu_seconds", SECONDS),
    "CostUsd": ("cost_usd", NONE),
}
# Of the whole environment, by each sweep.
WATCH_METRICS = {
    "SourcesOverdue": ("overdue", COUNT),
    "TablesStale": ("stale", COUNT),
    "LandingsPending": ("pending", COUNT),
    "OldestPendingSeconds": ("oldest_pending_seconds", SECONDS),
    "LandingsBlocked": ("blocked", COUNT),
}


# Of each event of OpenLineage that could not be sent.
LINEAGE_METRICS = {"LineageEventsFailed": ("failed", COUNT)}


def put_metrics(
    metrics: Mapping[str, tuple[str, MetricUnit]],
    values: Mapping[str, float],
    *,
    service: str,
    dimensions: Mapping[str, str],
    about: Mapping[str, str] | None = None,
) -> None:
    """Print a line with some metrics.

    Args:
        metrics: The field and the unit of each metric.
        values: The fields.
        service: The step, which is a dimension.
        dimensions: The other dimensions.
        about: What is in the line alone.
    """
    line = EphemeralMetrics(namespace=NAMESPACE, service=service)
    for name, value in dimensions.items():
        line.add_dimension(name, value)
    for name, (field, unit) in metrics.items():
        line.add_metric(name, unit, values[field])
    for name, value in (about or {}).items():
        line.add_metadata(name, value)
    line.flush_metrics()
