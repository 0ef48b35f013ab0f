"""Events of OpenLineage: read by the classes of its own client, and what they say."""

import importlib
import json
from typing import Any

import pytest
from openlineage.client import event_v2
from openlineage.client.generated import base

from lakekit import layout
from lakekit.config.source import load_source
from lakekit.contract.contract import Contract, load_contract
from lakekit.lineage.datasets import Deployed
from lakekit.lineage.events import end_event, openlineage_id, start_event
from lakekit.runs.complete_run import TableLoaded
from lakekit.runs.documents import Run
from tests.unit.runs.kit import NOON

DEPLOYED = Deployed("dev", "landing", "lakekit_dev", "arn:aws:glue:eu-west-1:111111111111")
SOURCE = load_source("source: shop\ndescription: The shop\nbase_url: https://shop.example/v1\n")
CONTRACT = load_contract(
    "contract: orders\ndescription: Orders\nsource: shop\nendpoint: {path: /orders}\nschema:\n"
    "  - {name: id, type: int, description: Number}\n"
    "  - {name: city, type: string, from: $.address.city}\nhistory: {keys: [id]}\n"
)
LOADED = TableLoaded(
    table="orders", run_id="r", source="shop", snapshot_id=7, opened=3, closed=1, unchanged=5,
    quarantined=2, rows=10, bytes=99,
)  # fmt: skip
# The facet of each name, by the module of the client that has its class.
FACETS = {
    "schema": "schema_dataset.SchemaDatasetFacet",
    "dataSource": "datasource_dataset.DatasourceDatasetFacet",
    "documentation": "documentation_dataset.DocumentationDatasetFacet",
    "columnLineage": "column_lineage_dataset.ColumnLineageDatasetFacet",
    "version": "dataset_version_dataset.DatasetVersionDatasetFacet",
    "inputStatistics": "input_statistics_input_dataset.InputStatisticsInputDatasetFacet",
    "outputStatistics": "output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet",
    "nominalTime": "nominal_time_run.NominalTimeRunFacet",
    "tags": "tags_run.TagsRunFacet",
    "errorMessage": "error_message_run.ErrorMessageRunFacet",
    "jobType": "job_type_job.JobTypeJobFacet",
}


def run(contract: Contract = CONTRACT, **changes: Any) -> Run:
    return Run(run_id="r", started_at=NOON, extraction_time=NOON, source=SOURCE,
               contracts=(contract,), **changes)  # fmt: skip


def checked(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event as JSON has it, after the classes of the client have taken all of it."""
    found: dict[str, Any] = json.loads(json.dumps(event))
    made = event_v2.RunEvent(
        eventType=event_v2.RunState[found["eventType"]], eventTime=found["eventTime"],
        run=event_v2.Run(runId=found["run"]["runId"], facets={}),
        job=event_v2.Job(found["job"]["namespace"], found["job"]["name"]),
        producer=found["producer"],
    )  # fmt: skip
    assert made.schemaURL == found["schemaURL"]
    for part in (found["run"], found["job"], *found["inputs"], *found["outputs"]):
        for kind in ("facets", "inputFacets", "outputFacets"):
            for name, facet in part.get(kind, {}).items():
                check_facet("documentation_job.DocumentationJobFacet"
                            if name == "documentation" and part is found["job"]
                            else FACETS[name], facet)  # fmt: skip
    for each in found["inputs"]:
        base.InputDataset(each["namespace"], each["name"])
    return found


def check_facet(place: str, facet: dict[str, Any]) -> None:
    module, name = place.split(".")
    made = getattr(importlib.import_module(f"openlineage.client.generated.{module}"), name)
    fields = {key: value for key, value in facet.items() if not key.startswith("_")}
    made(**fields)
    # Of one major version all are read.
    url, schema = facet["_schemaURL"], made._get_schema()
    assert url.rpartition("/")[2] == schema.rpartition("/")[2]
    assert url.split("/")[5].split("-")[0] == schema.split("/")[5].split("-")[0]


def test_a_run_starts_with_what_it_reads() -> None:
    event = checked(start_event(DEPLOYED, run()))

    assert (event["eventType"], event["eventTime"]) == ("START", "2026-01-01T12:00:00+00:00")
    assert event["job"]["namespace"] == "lakekit://dev"
    assert event["job"]["name"] == "load_source.shop"
    assert [(each["namespace"], each["name"]) for each in event["inputs"]] == [
        ("https://shop.example", "/v1/orders"), ("s3://landing", "raw/shop/orders"),
    ]  # fmt: skip
    fields = event["inputs"][0]["facets"]["schema"]["fields"]
    assert fields == [{"name": "id", "type": "int"}, {"name": "address.city", "type": "string"}]
    assert event["outputs"] == []


def test_a_run_that_loads_files_calls_no_api() -> None:
    event = checked(start_event(DEPLOYED, run(origin="file")))

    assert [each["namespace"] for each in event["inputs"]] == ["s3://landing"]


def test_a_run_completes_with_columns_lineage_and_counts() -> None:
    event = checked(end_event(DEPLOYED, run(), NOON, [LOADED]))

    table, quarantine = event["outputs"]
    assert event["eventType"] == "COMPLETE"
    assert table["namespace"] == "arn:aws:glue:eu-west-1:111111111111"
    assert table["name"] == "table/lakekit_dev/orders"
    assert table["facets"]["schema"]["fields"][0] == {
        "name": "id", "type": "int", "description": "Number",
    }  # fmt: skip
    assert table["facets"]["version"]["datasetVersion"] == "7"
    [city] = table["facets"]["columnLineage"]["fields"]["city"]["inputFields"]
    assert (city["namespace"], city["name"], city["field"]) == (
        "https://shop.example", "/v1/orders", "address.city",
    )  # fmt: skip
    assert table["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert quarantine["name"] == f"table/lakekit_dev/{layout.quarantine_table('orders')}"
    assert quarantine["outputFacets"]["outputStatistics"]["rowCount"] == 2
    assert event["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 10


def test_a_run_fails_with_its_error_and_what_it_did_nevertheless() -> None:
    event = checked(end_event(DEPLOYED, run(), NOON, [LOADED], "E: no"))

    assert event["eventType"] == "FAIL"
    assert event["run"]["facets"]["errorMessage"]["message"] == "E: no"
    assert len(event["outputs"]) == 2


def test_events_of_one_run_have_one_id_and_those_of_others_another() -> None:
    ids = {checked(each)["run"]["runId"] for each in (
        start_event(DEPLOYED, run()), end_event(DEPLOYED, run(), NOON, []))}  # fmt: skip

    assert ids == {str(openlineage_id(DEPLOYED, "r"))}
    assert openlineage_id(DEPLOYED, "r") != openlineage_id(DEPLOYED, "s")


def test_a_wrong_facet_would_be_found() -> None:
    event = end_event(DEPLOYED, run(), NOON, [LOADED])
    event["outputs"][0]["facets"]["schema"]["filds"] = []

    with pytest.raises(TypeError):
        checked(event)
