"""What the measurement of extraction says, and that memory does not grow with an answer."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.extraction import __main__ as extraction
from benchmarks.extraction.bodies import BODIES, KINDS, body_of, split_name
from benchmarks.extraction.landed import landed
from benchmarks.extraction.ratios import aims, contest_rows, contest_table, memory_table


def figures(cpu: float, rate: float, landed: str = "a") -> dict[str, Any]:
    return {"cpu_seconds": cpu, "rate": rate, "peak_mb": 60, "landed": landed}


def test_ratios_are_medians_of_those_within_a_round() -> None:
    rounds = [
        {"lakekit": figures(1, 10), "loop": figures(2, 20), "dlt": figures(4, 1)},
        {"lakekit": figures(10, 1), "loop": figures(15, 2), "dlt": figures(80, 1)},
        {"lakekit": figures(2, 10), "loop": figures(2, 10), "dlt": figures(12, 1, "b")},
    ]

    rows = contest_rows(rounds)

    assert [rows[name]["cpu"] for name in rows] == [1, 1.5, 6]
    assert [rows[name]["same"] for name in rows] == [True, True, False]
    assert "OTHER RECORDS" in contest_table("pages", rows)
    assert [aim.partition(":")[0] for aim in aims(rows)] == ["met", "MISSED", "met"]


def test_memory_above_the_aim_is_named() -> None:
    bodies = [
        {"body": "csv 7", "peak_mb": 151, "is": 3},
        {"body": "csv 1", "peak_mb": 9, "is": "x"},
    ]

    assert "MISSED: 151 MB at most" in memory_table(bodies)


def test_records_are_the_same_in_any_order_and_with_columns_of_dlt(tmp_path: Path) -> None:
    ours, others = tmp_path / "records.jsonl.gz", tmp_path / "landed/shop/orders/a.jsonl.gz"
    others.parent.mkdir(parents=True)
    records = [{"id": n, "amount": 1.5, "updated_at": "2026-01-01T00:00:00Z"} for n in (1, 2)]
    ours.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    for record in records:
        record |= {"_dlt_id": "x", "updated_at": "2026-01-01T01:00:00+01:00"}
    others.write_bytes(gzip.compress("\n".join(map(json.dumps, records[::-1])).encode()))

    assert landed(tmp_path, "loop") == landed(tmp_path, "dlt")
    others.write_bytes(gzip.compress(json.dumps(records[0]).encode()))
    assert landed(tmp_path, "loop") != landed(tmp_path, "dlt")


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_has_about_the_size_of_its_name(kind: str) -> None:
    assert 0 < sum(map(len, body_of(f"{kind} 1"))) < 2_500_000
    assert split_name(f"{kind} 200 zip")[1:] == (200_000_000, " zip")


def test_a_contest_ends_with_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extraction, "OUT", tmp_path)
    small = ["--records", "2500", "--megabytes", "2", "--rounds", "1", "--without", "dlt"]

    assert extraction.main(["contest", *small]) == 0

    assert capsys.readouterr().out.count("the same records") == 4
    found = json.loads((tmp_path / "extraction.json").read_text())
    assert found["pages"][0]["loop"]["landed"][0] == 2500


@pytest.mark.long
@pytest.mark.parametrize("body", BODIES)
def test_a_body_of_any_kind_and_size_needs_little_memory(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "OUT", tmp_path)

    assert extraction.main(["memory", "--bodies", body]) == 0
