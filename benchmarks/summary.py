"""Medians, ratios and the table of a report, from the measurements. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from statistics import median
from typing import Any

from benchmarks import aims

FIGURES = ("read", "written", "new_files", "new_bytes", "inputBytes", "shuffleWriteBytes")
# A ratio of two workloads: its name, the parameter, its two values, and what changes with it.
PAIRS: tuple[tuple[str, str, Any, Any, tuple[str, ...]], ...] = (
    ("9 / 0 closed versions", "history", 9, 0, ()),
    ("unchanged / 1 % changed", "changed", 0.0, 0.01, ("new", "deleted", "batch")),
    ("sequence_by / extraction time", "sequence", True, False, ()),
)
_HEAD = (
    "| contestant | seconds | runs | / lakekit | / floor | read MB | / floor | written MB | "
    "/ floor | shuffle MB | files | peak MB | correct |\n"
    "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
)


def summarise(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Add medians and ratios to one workload; the first runs of each contestant warm it up."""
    warm_up = measured["parameters"]["warm_up"]
    entries = {name: _entry(raw, warm_up) for name, raw in measured["contestants"].items()}
    for name in ("lakekit", "floor"):
        base = entries.get(name, {}).get("seconds")
        for entry in entries.values():
            if base and "seconds" in entry:
                entry[f"ratio_to_{name}"] = round(entry["seconds"] / base, 3)
    for figure in ("read", "written"):
        base = entries.get("floor", {}).get(figure)
        for entry in entries.values():
            if base and figure in entry:
                entry[f"{figure}_to_floor"] = round(entry[figure] / base, 3)
    return {**measured, "contestants": entries}


def across(workloads: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the ratios of the seconds of workloads that differ in one parameter of `PAIRS`."""
    return [
        {"what": what, "of": one["workload"], "to": other["workload"], "ratios": ratios}
        for what, *pair in PAIRS
        for one, other in permutations(workloads, 2)
        if _are_pair(one["parameters"], other["parameters"], *pair)
        and (ratios := dict(_ratios(one["contestants"], other["contestants"])))
    ]


def _are_pair(
    one: Mapping[str, Any], other: Mapping[str, Any], name: str, first: Any, second: Any,
    also: Sequence[str],
) -> bool:  # fmt: skip
    rest = one.keys() - {name, *also}
    same = all(one[key] == other[key] for key in rest)
    return same and (one[name], other[name]) == (first, second)


def _ratios(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, entry in one.items():
        base = other.get(name, {}).get("seconds")
        if base and "seconds" in entry:
            yield name, round(entry["seconds"] / base, 3)


def faults(summary: Mapping[str, Any]) -> list[str]:
    """Return what Lakekit did wrong, which fails a benchmark. The faults of others are results."""
    found = []
    for part in summary["workloads"]:
        entry = part["contestants"].get("lakekit", {})
        if part.get("expectation_checked_against_model") is False:
            found.append(f"{part['workload']}: the expected table is not the model's")
        if why := entry.get("error") or entry.get("absent"):
            found.append(f"{part['workload']}: lakekit failed: {why.splitlines()[0][:300]}")
        if entry.get("correct") is False:
            found.append(f"{part['workload']}: lakekit's table is wrong")
    for name, other in summary["others"].items():
        if "error" in other:
            found.append(f"{name}: {other['text']}")
        if other.get("correct") is False or other.get("wrong"):
            found.append(f"{name}: lakekit's table is wrong")
        if other.get("spread") is False:
            found.append(f"{name}: the work is not spread over the executors")
    return found


def _entry(raw: Mapping[str, Any], warm_up: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"about": raw.get("about", ""), "apart": raw.get("apart", False)}
    if raw.get("absent"):
        return entry | {"absent": raw["absent"]}
    timed = raw["runs"][warm_up:]
    entry["all_runs"] = [run["seconds"] for run in raw["runs"]]
    entry["timed_runs"] = [run["seconds"] for run in timed]
    entry["details"] = raw["runs"]
    if raw.get("error"):
        return entry | {"error": raw["error"]}
    entry["seconds"] = median(run["seconds"] for run in timed)
    entry |= {name: median(run[name] for run in timed) for name in FIGURES if name in timed[0]}
    entry["peak_rss"] = max(run["peak_rss"] for run in timed)
    entry["files_after"] = raw.get("files", {})
    check = raw.get("check")
    entry["correct"] = check["correct"] if check else None
    return entry | ({"check": check} if check else {})


def markdown(summary: Mapping[str, Any]) -> str:
    """Return the report as Markdown; it says nothing that the summary does not hold."""
    lines = ["# Benchmark", "", summary["machine"]["text"], ""]
    for part in summary["workloads"]:
        lines += [f"## {part['workload']}", "", _HEAD]
        lines += [_row(name, entry) for name, entry in part["contestants"].items()]
        if part.get("expectation_checked_against_model") is not None:
            agrees = "agrees" if part["expectation_checked_against_model"] else "DISAGREES"
            lines += ["", f"The expected table {agrees} with the independent model."]
        lines += ["", *_notes(part["contestants"])]
    if judged := aims.judged(summary):
        lines += ["## Aims", "", *aims.table(judged), ""]
    if summary.get("across"):
        lines += ["## From workload to workload", "", *_across_table(summary["across"]), ""]
    for name, other in summary.get("others", {}).items():
        lines += [f"## {name}", "", other["text"], ""]
        if "stages" in other:
            lines += [*_stage_table(other["stages"]), ""]
    return "\n".join(lines) + "\n"


def _across_table(ratios: Sequence[Mapping[str, Any]]) -> list[str]:
    names = list(dict.fromkeys(name for each in ratios for name in each["ratios"]))
    lines = [f"| ratio of the seconds | of | {' | '.join(names)} |"]
    lines += ["|---|---|" + "---:|" * len(names)]
    for each in ratios:
        cells = [_number(each["ratios"].get(name), "{:.2f}") for name in names]
        lines.append(f"| {each['what']} | {each['of']} | {' | '.join(cells)} |")
    return lines


def _stage_table(stages: Sequence[Mapping[str, Any]]) -> list[str]:
    executors = sorted({executor for stage in stages for executor in stage["tasks"]})
    heads = "".join(f" tasks of {name} | seconds of {name} |" for name in executors)
    lines = [f"| stage | what |{heads}", "|---:|---|" + "---:|" * 2 * len(executors)]
    for stage in stages:
        what = stage["name"].replace("|", "\\|")
        cells = [
            f"{stage['tasks'].get(name, 0)} | {stage['seconds'].get(name, 0.0):.2f}"
            for name in executors
        ]
        lines.append(f"| {stage['stage']} | {what} | {' | '.join(cells)} |")
    return lines


def _row(name: str, entry: Mapping[str, Any]) -> str:
    if "seconds" not in entry:
        return f"| {name} | {'absent' if 'absent' in entry else 'failed'} |" + " |" * 11
    runs = ", ".join(f"{seconds:.2f}" for seconds in entry["timed_runs"])
    ratios = [
        _number(entry.get(name), "{:.2f}")
        for name in ("ratio_to_lakekit", "ratio_to_floor", "read_to_floor", "written_to_floor")
    ]
    read, written, shuffled = (_mb(entry.get(k)) for k in ("read", "written", "shuffleWriteBytes"))
    right = {True: "yes", False: "**no**", None: "keeps no history"}[entry["correct"]]
    files = sum(v for k, v in entry["files_after"].items() if not k.endswith("_bytes"))
    cells = [
        f"{name} (apart)" if entry["apart"] else name, f"{entry['seconds']:.2f}", runs,
        *ratios[:2], read, ratios[2], written, ratios[3], shuffled,
        str(files or ""), _mb(entry["peak_rss"]), right,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _notes(entries: Mapping[str, Any]) -> list[str]:
    notes = []
    if any(entry.get("apart") for entry in entries.values()):
        notes.append("- apart: another kind of engine, on one machine, not on Spark")
    for name, entry in entries.items():
        check = entry.get("check") or {}
        if why := entry.get("absent") or entry.get("error"):
            notes.append(f"- {name}: {why.splitlines()[0][:300]}")
        if check and not check["correct"]:
            notes.append(
                f"- {name}: {check['missing']} rows missing, {check['unexpected']} unexpected; "
                f"versions that start as expected and hold another value, by column: "
                f"{check['columns'] or 'none'}"
            )
    return [*notes, ""] if notes else []


def _mb(value: float | None) -> str:
    return _number(value and value / 1e6, "{:.1f}") if value is not None else ""


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)
