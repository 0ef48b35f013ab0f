"""The airports source end to end: its API, its two files of configuration, two real releases."""

from pathlib import Path

import pytest

from examples.airports.server import AirportsServer
from lakekit import layout
from lakekit.cli.readers import count_with_pyiceberg, open_table
from lakekit.sandbox import Sandbox
from lakekit.steps.jobs import MergeScd2Result
from tests.sandboxes import ROOT, SECRET

RELEASES = {"20240806": (28_226, 0), "20250909": (814, 770)}


@pytest.mark.long
def test_two_releases_leave_their_history(sandbox: Sandbox, config: Path) -> None:
    found = {}
    with AirportsServer("20240806", api_key=SECRET) as api:
        _configure(config, api.address)
        for release in RELEASES:
            api.release = release
            found[release] = _load(sandbox, release)

    assert found == RELEASES
    table = open_table(sandbox.environment, f"{sandbox.names['database']}.airports")
    counts = count_with_pyiceberg(table)
    assert (counts.total, counts.current) == (29_040, 28_270)


def _configure(config: Path, address: str) -> None:
    """Write the two files of the repository, with the address and the secret of this test."""
    source = (ROOT / "examples/airports/config/sources/airports_api.yaml").read_text()
    source = source.replace("http://127.0.0.1:8080", address)
    source = source.replace("lakekit/{environment}/airports_api", "lakekit/{environment}/tests")
    (config / "sources/airports_api.yaml").write_text(source)
    contract = (ROOT / "examples/airports/config/contracts/airports.yaml").read_text()
    (config / "contracts/airports.yaml").write_text(contract)


def _load(sandbox: Sandbox, release: str) -> tuple[int, int]:
    extraction_time = f"{release[:4]}-{release[4:6]}-{release[6:]}T00:00:00Z"
    request = {"source": "airports_api", "extraction_time": extraction_time}
    outcome = sandbox.wait(sandbox.start("load_source", request, name=release), timeout=120)
    assert outcome.status == "SUCCEEDED", outcome.cause
    bucket = sandbox.names["landing_bucket"]
    key = layout.result_key(release, "merge_scd2", "airports")
    body = sandbox.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    (done,) = MergeScd2Result.model_validate_json(body).merges
    return done.opened, done.closed
