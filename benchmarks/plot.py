"""The plot of a summary, as SVG and PNG. Runs where matplotlib alone is installed."""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

COLOURS = {
    "lakekit": "#0b6e4f", "floor": "#9aa0a6", "article_cow": "#c97b1a", "article_mor": "#e0a458",
    "dbt": "#b23a48", "dbt_mor": "#d77a85", "sqlmesh": "#5b5ea6", "mack": "#3f88c5",
    "dlt_duckdb": "#8d6a9f",
}  # fmt: skip


def main(summary: Path) -> None:
    """Draw the workloads of a summary into its folder."""
    parts = json.loads(summary.read_text())["workloads"]
    height = sum(1.1 + 0.32 * len(part["contestants"]) for part in parts)
    sizes = [1 + len(part["contestants"]) for part in parts]
    figure, axes = plt.subplots(
        len(parts), 1, figsize=(9, height), squeeze=False, height_ratios=sizes
    )
    for axis, part in zip(axes[:, 0], parts, strict=True):
        _draw(axis, part)
    axes[-1, 0].set_xlabel("seconds per batch (median; a line spans fastest to slowest)")
    figure.tight_layout()
    for kind in ("svg", "png"):
        figure.savefig(summary.with_name(f"plot.{kind}"), dpi=120)


def _draw(axis: Any, part: dict[str, Any]) -> None:
    timed = {n: e for n, e in part["contestants"].items() if "seconds" in e}
    names = sorted(timed, key=lambda name: timed[name]["seconds"], reverse=True)
    for row, name in enumerate(names):
        entry = timed[name]
        runs = entry["timed_runs"]
        wrong = entry["correct"] is False
        axis.barh(
            row, entry["seconds"], color=COLOURS.get(name, "#555555"), height=0.7,
            hatch="//" if wrong else None, edgecolor="white", linewidth=0,
        )  # fmt: skip
        axis.plot([min(runs), max(runs)], [row, row], color="black", linewidth=1)
        text = f" {entry['seconds']:.2f} s" + ("  (wrong result)" if wrong else "")
        axis.text(max(entry["seconds"], *runs), row, text, va="center", fontsize=8)
    left_out = [n for n in part["contestants"] if n not in timed]
    for row, name in enumerate(left_out, len(names)):
        why = "absent" if "absent" in part["contestants"][name] else "failed"
        axis.text(0, row, f" {why}", va="center", fontsize=8)
    labels = [f"{n} (apart)" if part["contestants"][n].get("apart") else n for n in names]
    labels += left_out
    axis.set_yticks(range(len(labels)), labels, fontsize=8)
    axis.set_title(part["workload"], fontsize=9, loc="left")
    axis.margins(x=0.2)
    axis.set_xlim(left=0)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
