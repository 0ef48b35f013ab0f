"""Three real releases of the airports, merged one after the other."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakekit.batch import Batch
from lakekit.contract.contract import load_contract
from lakekit.spark import merge_scd2 as scd2

pytestmark = pytest.mark.usefixtures("planned_as_in_production")


@pytest.mark.long
def test_merges_three_real_releases_of_the_airports(spark, table, tmp_path):
    contract = load_contract(Path("examples/airports/config/contracts/airports.yaml").read_text())
    results = []
    for release in ("20240806", "20250909", "20260905"):
        batch = Batch(
            run_id=release,
            extract="full",
            extraction_time=datetime.strptime(release, "%Y%m%d").replace(tzinfo=UTC),
            files=(f"examples/airports/data/{release}.ndjson.gz",),
        )
        done = scd2.merge_scd2(spark, contract, batch, table, staging=tmp_path.as_uri())
        results.append((done.opened, done.closed, done.deleted))

    assert results == [(28226, 0, 0), (814, 770, 53), (12690, 12662, 600)]
    assert spark.table(table).count() == 41730
    assert spark.table(table).where("_is_current").count() == 28298
