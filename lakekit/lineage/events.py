"""Events of a run: it starts, it completes, it fails. A job of OpenLineage is a source's load."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import NAMESPACE_URL, UUID, uuid5

from lakekit import layout
from lakekit.contract.contract import Contract
from lakekit.lineage import datasets
from lakekit.lineage.datasets import PRODUCER, Deployed, Json, facet
from lakekit.runs.complete_run import TableLoaded
from lakekit.runs.documents import Run

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
# Runs that call the API; the others only load what is landed.
_EXTRACTING = ("person", "schedule")
Kind = Literal["START", "COMPLETE", "FAIL"]


def start_event(deployed: Deployed, run: Run) -> Json:
    """Return the event of a run that starts, with what it reads."""
    inputs = [each for contract in run.contracts for each in _inputs(deployed, run, contract)]
    return {**_event("START", run.started_at, deployed, run), "inputs": inputs, "outputs": []}


def end_event(
    deployed: Deployed,
    run: Run,
    time: datetime,
    loaded: Sequence[TableLoaded],
    error: str | None = None,
) -> Json:
    """Return the event of a run that ends: with an error, it has failed.

    Tables that were loaded nevertheless are its outputs, with their counts.
    """
    inputs = [
        {**each, **_read(found)}
        for found in loaded
        for each in _inputs(deployed, run, run.contract(found.table))
    ]
    outputs = [each for found in loaded for each in _outputs(deployed, run, found)]
    kind: Kind = "FAIL" if error is not None else "COMPLETE"
    event = _event(kind, time, deployed, run, error)
    return {**event, "inputs": inputs, "outputs": outputs}


def openlineage_id(deployed: Deployed, run_id: str) -> UUID:
    """Return the id of a run in OpenLineage, which takes no other names: always the same one."""
    return uuid5(NAMESPACE_URL, f"{deployed.namespace}/{deployed.bucket}/{run_id}")


def _event(
    kind: Kind, time: datetime, deployed: Deployed, run: Run, error: str | None = None
) -> Json:
    return {
        "eventType": kind,
        "eventTime": time.isoformat(),
        "producer": PRODUCER,
        "schemaURL": SCHEMA,
        "run": {
            "runId": str(openlineage_id(deployed, run.run_id)),
            "facets": _run_facets(run, error),
        },
        "job": {
            "namespace": deployed.namespace,
            "name": f"load_source.{run.source.source}",
            "facets": _job_facets(run),
        },
    }


def _run_facets(run: Run, error: str | None) -> Json:
    tags = [{"key": "lakekit.run_id", "value": run.run_id, "source": "lakekit"},
            {"key": "lakekit.origin", "value": run.origin, "source": "lakekit"}]  # fmt: skip
    found = {
        "nominalTime": facet(
            "NominalTimeRunFacet", "1-0-1", nominalStartTime=run.extraction_time.isoformat()
        ),
        "tags": facet("TagsRunFacet", "1-0-0", tags=tags),
    }
    if error is not None:
        found["errorMessage"] = facet(
            "ErrorMessageRunFacet", "1-0-1", message=error, programmingLanguage="PYTHON"
        )
    return found


def _job_facets(run: Run) -> Json:
    kind = {"processingType": "BATCH", "integration": "LAKEKIT", "jobType": "JOB"}
    found = {"jobType": facet("JobTypeJobFacet", "2-0-3", **kind)}
    if run.source.description:
        found["documentation"] = facet(
            "DocumentationJobFacet", "1-1-0", description=run.source.description
        )
    return found


def _inputs(deployed: Deployed, run: Run, contract: Contract) -> list[Json]:
    """Return the landings of an endpoint, with the endpoint first if the run calls it."""
    landed = datasets.landing(deployed, run.source, contract)
    is_called = run.origin in _EXTRACTING and contract.endpoint.path
    called = [datasets.api(run.source, contract)] if is_called else []
    return [*called, landed]


def _read(loaded: TableLoaded) -> Json:
    counts = {"rowCount": loaded.rows, "size": loaded.bytes}
    return {"inputFacets": {
        "inputStatistics": facet("InputStatisticsInputDatasetFacet", "1-0-0", **counts)
    }}  # fmt: skip


def _outputs(deployed: Deployed, run: Run, loaded: TableLoaded) -> list[Json]:
    """Return a table as it is after a run, and its quarantine if records were rejected."""
    contract = run.contract(loaded.table)
    origin = _inputs(deployed, run, contract)[0]
    table = datasets.table(deployed, contract, origin)
    if loaded.snapshot_id is not None:
        table["facets"]["version"] = facet(
            "DatasetVersionDatasetFacet", "1-0-1", datasetVersion=str(loaded.snapshot_id)
        )
    found = [{**table, **_written(loaded.opened)}]
    if loaded.quarantined:
        name = f"table/{deployed.database}/{layout.quarantine_table(loaded.table)}"
        rejected = {"namespace": deployed.catalog, "name": name, "facets": {}}
        found.append({**rejected, **_written(loaded.quarantined)})
    return found


def _written(rows: int) -> Json:
    return {"outputFacets": {
        "outputStatistics": facet("OutputStatisticsOutputDatasetFacet", "1-0-2", rowCount=rows)
    }}  # fmt: skip
