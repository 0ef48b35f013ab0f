"""An operator's commands in the sandbox: a corrupt landing, from the notice to a decision."""

import json
import subprocess
import sys
from pathlib import Path

from lakekit import layout
from lakekit.landing.index import PENDING
from tests.worlds import until

LAKEKIT = str(Path(sys.executable).parent / "lakekit")
STAMP = "20260101_000000"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LAKEKIT, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_a_corrupt_landing_is_seen_retried_and_rejected(world, sandbox, tmp_path):
    (tmp_path / "state.json").write_text(json.dumps({"endpoint": sandbox.endpoint}))
    place = ("--sandbox", "--data", str(tmp_path))

    def value(*arguments: str):
        lists = arguments[0] in ("runs", "landings", "status")
        done = run(*arguments, *place, *(("--format", "json") if lists else ("--json",)))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    # A landing whose manifest is damaged: a run blocks it, and needs no Spark for that.
    manifest = f"{layout.endpoint_prefix(world.source, world.table)}{STAMP}/manifest.json"
    world.put(manifest, b"{}")
    world.put(layout.index_key(PENDING, manifest), b"")

    first = value("retry", world.table, STAMP)["started"]
    [failed] = until(lambda: [
        each for each in value("runs", "--source", world.source) if each["outcome"] == "failed"
    ])  # fmt: skip
    [waiting] = value("landings", "--blocked", "--source", world.source)
    approval = run("approve", first, "--reason", "so it is", *place)
    rejection = run("reject", first, "--reason", "half a file", *place)
    [status] = value("status", "--source", world.source)

    assert (failed["run_id"], failed["error"]) == (first, "LandingCorruptError")
    assert (waiting["manifest"], waiting["blocked"]["run_id"]) == (manifest, first)
    assert "LandingCorruptError is beyond an approval" in approval.stderr
    assert (approval.returncode, rejection.returncode) == (1, 0)
    assert (status["pending"], status["blocked"], status["held_by"]) == (0, 0, None)
    assert value("landings", world.table, STAMP)[0]["rejection"]["reason"] == "half a file"
