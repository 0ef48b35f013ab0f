"""The datasets of a run, by OpenLineage's rules for names: an API, landings, Iceberg tables."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from lakekit import __version__, layout
from lakekit.config.source import Source
from lakekit.contract.contract import Contract

Json = dict[str, Any]
PRODUCER = f"urn:lakekit:{__version__}"
_FACETS = "https://openlineage.io/spec/facets"


@dataclass(frozen=True)
class Deployed:
    """Where a run works: its environment, its landing bucket, its catalog.

    catalog: `arn:aws:glue:{region}:{account}`.
    """

    environment: str
    bucket: str
    database: str
    catalog: str

    @property
    def namespace(self) -> str:
        """The namespace of its jobs."""
        return f"lakekit://{self.environment}"


def facet(name: str, version: str, /, **fields: Any) -> Json:
    """Return a facet of OpenLineage's own; the rest of its name says what it is of."""
    url = f"{_FACETS}/{version}/{name}.json#/$defs/{name}"
    return {"_producer": PRODUCER, "_schemaURL": url, **fields}


def api(source: Source, contract: Contract) -> Json:
    """Return the endpoint of an API, with the fields that are read."""
    place = urlsplit(source.address)
    path = f"{place.path.rstrip('/')}{contract.endpoint.path}"
    fields = [{"name": ".".join(column.steps), "type": column.type} for column in contract.columns]
    return {
        "namespace": f"{place.scheme}://{place.netloc}",
        "name": path,
        "facets": {
            "schema": facet("SchemaDatasetFacet", "1-2-0", fields=fields),
            "dataSource": facet(
                "DatasourceDatasetFacet", "1-0-1", name=source.source, uri=source.base_url
            ),
        },
    }


def landing(deployed: Deployed, source: Source, contract: Contract) -> Json:
    """Return the landings of an endpoint."""
    prefix = layout.endpoint_prefix(source.source, contract.contract)
    return {"namespace": f"s3://{deployed.bucket}", "name": prefix.rstrip("/"), "facets": {}}


def table(deployed: Deployed, contract: Contract, origin: Json | None = None) -> Json:
    """Return a table with its columns; `origin` is the dataset from which they are read."""
    fields = [
        {"name": c.name, "type": c.type, **_described(c.description)} for c in contract.stored
    ]
    facets = {"schema": facet("SchemaDatasetFacet", "1-2-0", fields=fields)}
    if contract.description:
        facets["documentation"] = facet(
            "DocumentationDatasetFacet", "1-1-0", description=contract.description
        )
    if origin:
        lineage = {c.name: _from(origin, ".".join(c.steps)) for c in contract.stored}
        facets["columnLineage"] = facet("ColumnLineageDatasetFacet", "1-2-0", fields=lineage)
    name = f"table/{deployed.database}/{contract.contract}"
    return {"namespace": deployed.catalog, "name": name, "facets": facets}


def _described(text: str) -> Json:
    return {"description": text} if text else {}


def _from(origin: Json, field: str) -> Json:
    same = {"type": "DIRECT", "subtype": "IDENTITY"}
    place = {"namespace": origin["namespace"], "name": origin["name"], "field": field}
    return {"inputFields": [{**place, "transformations": [same]}]}
