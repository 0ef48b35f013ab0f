"""From what was measured to what is reported: medians, ratios, one table. Pure."""

from collections.abc import Mapping
from statistics import median
from typing import Any

FIGURES = ("read", "written", "new_files", "new_bytes", "inputBytes", "shuffleWriteBytes")
_HEAD = (
    "| contestant | seconds | runs | / lakekit | / floor | read MB | written MB | shuffle MB | "
    "files | peak MB | correct |\n|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---|"
)


def summarise(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Add medians and ratios to one workload; the first run of each contestant is its warm-up."""
    entries = {name: _entry(raw) for name, raw in measured["contestants"].items()}
    for name in ("lakekit", "floor"):
        base = entries.get(name, {}).get("seconds")
        for entry in entries.values():
            if base and "seconds" in entry:
                entry[f"ratio_to_{name}"] = round(entry["seconds"] / base, 3)
    written = entries.get("floor", {}).get("written")
    for entry in entries.values():
        if written and "written" in entry:
            entry["written_to_floor"] = round(entry["written"] / written, 3)
    return {**measured, "contestants": entries}


def _entry(raw: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"about": raw.get("about", ""), "apart": raw.get("apart", False)}
    if raw.get("absent"):
        return entry | {"absent": raw["absent"]}
    timed = raw["runs"][1:]
    entry["all_runs"] = [run["seconds"] for run in raw["runs"]]
    entry["details"] = raw["runs"]
    if raw.get("error"):
        return entry | {"error": raw["error"]}
    entry["seconds"] = median(run["seconds"] for run in timed)
    entry |= {name: median(run[name] for run in timed) for name in FIGURES if name in timed[0]}
    entry["peak_rss"] = max(run["peak_rss"] for run in timed)
    entry["files_after"] = raw.get("files", {})
    verdict = raw.get("verdict")
    entry["correct"] = verdict["correct"] if verdict else None
    return entry | ({"verdict": verdict} if verdict else {})


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
    for name, text in summary.get("others", {}).items():
        lines += [f"## {name}", "", text["text"], ""]
    return "\n".join(lines) + "\n"


def _row(name: str, entry: Mapping[str, Any]) -> str:
    if "seconds" not in entry:
        return f"| {name} | {'absent' if 'absent' in entry else 'failed'} |" + " |" * 9
    runs = ", ".join(f"{seconds:.2f}" for seconds in entry["all_runs"][1:])
    ratios = [_number(entry.get(f"ratio_to_{base}"), "{:.2f}") for base in ("lakekit", "floor")]
    sizes = [_mb(entry.get(k)) for k in ("read", "written", "shuffleWriteBytes")]
    right = {True: "yes", False: "**no**", None: "keeps no history"}[entry["correct"]]
    files = sum(v for k, v in entry["files_after"].items() if not k.endswith("_bytes"))
    cells = [
        f"{name} (apart)" if entry["apart"] else name, f"{entry['seconds']:.2f}", runs,
        *ratios, *sizes, str(files or ""), _mb(entry["peak_rss"]), right,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _notes(entries: Mapping[str, Any]) -> list[str]:
    notes = []
    if any(entry.get("apart") for entry in entries.values()):
        notes.append("- apart: another kind of engine, on one machine, not on Spark")
    for name, entry in entries.items():
        verdict = entry.get("verdict") or {}
        if why := entry.get("absent") or entry.get("error"):
            notes.append(f"- {name}: {why.splitlines()[0][:300]}")
        if verdict and not verdict["correct"]:
            notes.append(
                f"- {name}: {verdict['missing']} rows missing, {verdict['unexpected']} unexpected; "
                f"versions that start as expected and hold another value, by column: "
                f"{verdict['columns'] or 'none'}"
            )
    return [*notes, ""] if notes else []


def _mb(value: float | None) -> str:
    return _number(value and value / 1e6, "{:.1f}") if value is not None else ""


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)
