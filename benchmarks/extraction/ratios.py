"""What a measurement says: ratios within one run, their medians, and the aims. Pure."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

# Of the processor time of others as a multiple of Lakekit's, at least: 1 / 0.6 for the loop.
AIMS = {"dlt": 5.0, "loop": 1 / 0.6}
MOST_MB = 150
TITLES = {"lakekit": "Lakekit", "loop": "loop of requests", "dlt": "dlt pipeline"}
# One round: what each contestant took.
Round = Mapping[str, Mapping[str, Any]]


def contest_rows(rounds: Sequence[Round]) -> dict[str, dict[str, Any]]:
    """Return the figures of each contestant: medians over the rounds.

    cpu, rate: its processor time and its records per second as multiples of Lakekit's.
    """
    return {
        name: {
            "cpu": median(each[name]["cpu_seconds"] / _own(each, "cpu_seconds") for each in rounds),
            "rate": median(each[name]["rate"] / _own(each, "rate") for each in rounds),
            "peak_mb": median(each[name]["peak_mb"] for each in rounds),
            "same": all(each[name]["landed"] == _own(each, "landed") for each in rounds),
        }
        for name in rounds[0]
    }


def contest_table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a table for people, in Markdown."""
    lines = [
        f"| {title} | processor time | records per second | peak memory | landed |",
        "|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        same = "the same records" if row["same"] else "OTHER RECORDS"
        lines.append(
            f"| {TITLES[name]} | {row['cpu']:.2f} x | {row['rate']:.2f} x "
            f"| {row['peak_mb']:.0f} MB | {same} |"
        )
    return "\n".join(lines)


def aims(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say of each aim what was measured, and whether it is met."""
    found = [
        f"{'met' if rows[name]['cpu'] >= least else 'MISSED'}: {TITLES[name]} takes "
        f"{rows[name]['cpu']:.2f} x Lakekit's processor time (aim: at least {least:.2f})"
        for name, least in AIMS.items()
        if name in rows
    ]
    peak = rows["lakekit"]["peak_mb"]
    return [*found, f"{_met(peak)}: Lakekit needs {peak:.0f} MB (aim: at most {MOST_MB})"]


def memory_table(bodies: Sequence[Mapping[str, Any]]) -> str:
    """Return the memory for each body, in Markdown."""
    lines = ["| body, MB | peak memory | |", "|---|---|---|"]
    for body in bodies:
        what = body["is"] if isinstance(body["is"], str) else f"{body['is']} records"
        lines.append(f"| {body['body']} | {body['peak_mb']} MB | {what} |")
    highest = max(body["peak_mb"] for body in bodies)
    return "\n".join([*lines, "", f"{_met(highest)}: {highest} MB at most (aim: {MOST_MB})"])


def _met(megabytes: float) -> str:
    return "met" if megabytes <= MOST_MB else "MISSED"


def _own(each: Round, figure: str) -> Any:
    return each["lakekit"][figure]
