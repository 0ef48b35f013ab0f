"""What Lakekit aims at, as ratios within one run, and what a run has measured. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.workloads import FULL_KEYS, shape

LARGE = shape(FULL_KEYS, 4, 0.01, "full").name
LONG = shape(FULL_KEYS, 9, 0.01, "incremental").name
# Seconds of each of the others as a multiple of Lakekit's, at least.
FASTER_THAN = {
    LARGE: {
        **dict.fromkeys(("article_cow", "article_mor"), 5.0),
        **dict.fromkeys(("dbt", "dbt_mor", "sqlmesh", "mack"), 10.0),
    },
    LONG: dict.fromkeys(("article_cow", "article_mor"), 10.0),
}
# Lakekit's figures as multiples of the floor's, at most.
OF_THE_FLOOR = {"ratio_to_floor": ("seconds", 1.3), "written_to_floor": ("bytes written", 1.5)}
# Lakekit's seconds in one workload as a multiple of those in another, at most.
ACROSS = {"9 / 0 closed versions": 1.1, "unchanged / 1 % changed": 0.5}
ONE_JOB = 0.2
# Seconds with twice the versions of a key, as a multiple, at most.
TWICE_THE_VERSIONS = 2.3
# Seconds of a hundred landings in one pass as a multiple of those of one with all their records.
MANY_LANDINGS = 3.0
# Seconds of Spark for the history of one key as a multiple of DuckDB's, at least.
COLD_READ = 8.0


@dataclass(frozen=True)
class Aim:
    """One aim and what came out.

    Attributes:
        what: The ratio.
        where: The workload, or the measurement of its own.
        bound: The least or the greatest ratio that meets the aim.
        at_least: Whether the bound is the least one.
        measured: What it was.
        limit: Where the floor is measured too: the ratio if Lakekit took no longer than the
            floor.
    """

    what: str
    where: str
    bound: float
    at_least: bool
    measured: float
    limit: float | None = None

    @property
    def met(self) -> bool:
        """Whether the ratio meets the aim."""
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    def as_dict(self) -> dict[str, Any]:
        """Return it for the summary."""
        return asdict(self) | {"met": self.met}


def judged(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the aims whose ratios are in a summary."""
    return [aim.as_dict() for aim in _judged(summary)]


def _judged(summary: Mapping[str, Any]) -> Iterator[Aim]:
    for part in summary["workloads"]:
        if part["workload"] in FASTER_THAN:
            yield from _aims_of_workload(part["workload"], part["contestants"])
    for each in summary.get("across", []):
        ratio = each["ratios"].get("lakekit")
        large = _is_large(each["of"]) and _is_large(each["to"])
        if large and ratio and each["what"] in ACROSS:
            yield Aim(each["what"], each["of"], ACROSS[each["what"]], False, ratio)
    if ratio := summary.get("others", {}).get("small", {}).get("ratio"):
        yield Aim("one job / a job for each table", "small", ONE_JOB, False, ratio)
    if ratio := summary.get("others", {}).get("hot-key", {}).get("ratio"):
        yield Aim("twice the versions of a key", "hot-key", TWICE_THE_VERSIONS, False, ratio)
    if ratio := summary.get("others", {}).get("bursts", {}).get("ratio"):
        yield Aim("a hundred landings / one", "bursts", MANY_LANDINGS, False, ratio)
    if ratio := summary.get("others", {}).get("cold-reads", {}).get("ratio"):
        yield Aim("spark / duckdb, one key's history", "cold-reads", COLD_READ, True, ratio)


def _aims_of_workload(workload: str, entries: Mapping[str, Any]) -> Iterator[Aim]:
    for name, bound in FASTER_THAN[workload].items():
        entry = entries.get(name, {})
        if ratio := entry.get("ratio_to_lakekit"):
            what, limit = f"{name} / lakekit", entry.get("ratio_to_floor")
            yield Aim(what, workload, bound, True, ratio, limit)
    for figure, (what, bound) in OF_THE_FLOOR.items():
        ratio = entries.get("lakekit", {}).get(figure)
        if ratio and workload == LARGE:
            yield Aim(f"lakekit / floor, {what}", workload, bound, False, ratio)


def _is_large(workload: str) -> bool:
    return workload.startswith(LARGE.split(" keys")[0] + " keys,")


def table(aims: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    lines = ["| ratio of the seconds | of | aim | measured | the floor's | met |"]
    lines.append("|---|---|---:|---:|---:|---|")
    for aim in aims:
        sign = "≥" if aim["at_least"] else "≤"
        limit = "" if aim["limit"] is None else f"{aim['limit']:.2f}"
        met = "yes" if aim["met"] else "**no**"
        cells = [aim["what"], aim["where"], f"{sign} {aim['bound']:g}", f"{aim['measured']:.2f}"]
        lines.append(f"| {' | '.join([*cells, limit, met])} |")
    return lines
