"""`lakekit backfill` refuses what no run could do, before it starts one."""

from pathlib import Path

import boto3
import pytest

from lakekit.aws.object_store import S3ObjectStore
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from tests.unit.cli.test_operate import REGION, call, store

__all__ = ["store"]
WINDOWS = """
contract: visits
source: shop
endpoint:
  path: /visits
  params: {from: "{window.start}", to: "{window.end}"}
  extract: incremental
  incremental: {window: {days: 1}, start: 2026-01-01}
schema: [{name: id, type: bigint}, {name: at, type: timestamp}]
history: {keys: [id], sequence_by: at}
"""
LATE = WINDOWS.replace("visits", "late").replace(", sequence_by: at", "")
FULL = """
contract: full
source: shop
endpoint: {path: /full}
schema: [{name: id, type: bigint}]
history: {keys: [id]}
"""
DAY = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-01-02T00:00:00Z")


@pytest.mark.parametrize(("words", "error", "text"), [
    (("--endpoint", "full", *DAY), InvalidStepInputError, "full: a backfill needs endpoint.incr"),
    (("--endpoint", "late", *DAY), InvalidStepInputError, "late: a backfill needs history.sequ"),
    (("--endpoint", "other", *DAY), UnknownSourceError, "has no contract other"),
    (("--from", DAY[3], "--to", DAY[1]), InvalidStepInputError, "--from must be before --to"),
    (("--from", "x", "--to", DAY[3]), InvalidStepInputError, "--from x: not a time like"),
    (("--from", DAY[1], "--to", "2999-01-01T00:00:00Z"), InvalidStepInputError, "in the future"),
])  # fmt: skip
def test_what_is_wrong_is_said(
    store: S3ObjectStore,
    tmp_path: Path,
    words: tuple[str, ...],
    error: type,
    text: str,
) -> None:
    folder = tmp_path / "config/contracts"
    folder.mkdir()
    for name, contract in (("visits", WINDOWS), ("late", LATE), ("full", FULL)):
        (folder / f"{name}.yaml").write_text(contract)

    failed = call("backfill", "--source", "shop", *words).exception

    assert isinstance(failed, error)
    assert text in str(failed)
    machines = boto3.client("stepfunctions", REGION).list_state_machines()["stateMachines"]
    [load] = [each["stateMachineArn"] for each in machines if "load" in each["name"]]
    found = boto3.client("stepfunctions", REGION).list_executions(stateMachineArn=load)
    assert found["executions"] == []
