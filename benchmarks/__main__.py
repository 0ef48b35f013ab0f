"""Benchmarks: `python -m benchmarks [--quick]` compares Lakekit with others.

`profile` shows where the time goes. Each other command is one measurement of its own; `hot-key`
shows how the time grows with the versions of one key, and merges batches mostly of one key.
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import report, workloads
from benchmarks.contestants import CONTESTANTS, CORE, Place
from benchmarks.generator import build
from benchmarks.harness import ROOT, Course, measure
from benchmarks.peers import delta_class_path, set_up
from benchmarks.places import OUT, fresh
from benchmarks.profile import profile
from benchmarks.summary import across, faults, markdown, summarise
from benchmarks.workloads import Workload, shape
from lakekit.spark.session.jars import class_path

# Measurements in processes of their own, each with its number of keys (versions, of a hot key).
OTHERS = {
    "small": 10_000, "reads": 1_000_000, "cluster": 1_000_000, "layouts": 1_000_000,
    "writing": 10_000, "hot-key": 32_000, "bursts": 100_000, "cold-reads": 100_000,
}  # fmt: skip


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if Lakekit failed or made a wrong table."""
    # The contestants may be stopped: they are ended first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = _parser()
    options = parser.parse_args(arguments)
    if (options.apart or options.other_bytes or options.sequence) and not _is_one(options):
        parser.error(
            "--apart, --other-bytes and --sequence are for one workload: add --history or --changed"
        )
    options.memory = options.memory or ("3g" if options.quick else "5g")
    if options.command == "profile":
        _profile(options)
        return 0
    wrong = faults(_run(options) if options.command == "run" else _alone(options))
    for fault in wrong:
        say(f"failed: {fault}")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("command", nargs="?", default="run", choices=("run", "profile", *OTHERS))
    parser.add_argument("--quick", action="store_true", help="a few minutes on two cores")
    keys = "current keys, of hot-key the versions of its key; the sweeps scale with it"
    parser.add_argument("--keys", type=int, help=keys)
    parser.add_argument("--largest", type=int, default=5_000_000, help="keys of the largest size")
    parser.add_argument("--history", type=int, help="closed versions per key: one workload only")
    parser.add_argument("--changed", type=float, help="share changed: one workload only")
    parser.add_argument("--extract", choices=("full", "incremental"), default="full")
    parser.add_argument("--key-type", choices=("bigint", "string", "composite"), default="bigint")
    parser.add_argument("--other-bytes", action="store_true", help="of records that say the same")
    parser.add_argument("--sequence", action="store_true", help="records say when they changed")
    parser.add_argument("--apart", action="store_true", help="closed versions before current ones")
    parser.add_argument("--contestants", help="names, with commas between them")
    parser.add_argument("--contestant", default="lakekit", help="of a profile")
    parser.add_argument("--runs", type=int, default=3, help="timed batches per workload")
    parser.add_argument("--warm-up", type=int, default=1, help="batches before them")
    parser.add_argument("--memory", help="heap of every Spark driver: 5g, with --quick 3g")
    parser.add_argument("--no-plans", action="store_true", help="of a profile: the times alone")
    return parser


def _is_one(options: argparse.Namespace) -> bool:
    single = options.history is not None or options.changed is not None
    return single or options.command == "profile"


def _chosen(options: argparse.Namespace) -> list[Workload]:
    if _is_one(options):
        history = 4 if options.history is None else options.history
        changed = 0.01 if options.changed is None else options.changed
        keys = options.keys or 100_000
        one = shape(
            keys, history, changed, options.extract, key_type=options.key_type, runs=options.runs,
            warm_up=options.warm_up, other_bytes=options.other_bytes, sequence=options.sequence,
            mixed=not options.apart,
        )  # fmt: skip
        return [one]
    if options.quick:
        found = workloads.quick(options.keys or workloads.QUICK_KEYS)
    else:
        found = workloads.full(options.keys or workloads.FULL_KEYS, options.largest)
    timed = {"runs": options.runs, "warm_up": options.warm_up}
    return [replace(workload, **timed) for workload in found]


def _profile(options: argparse.Namespace) -> None:
    (workload,) = _chosen(options)
    data = build(workload, OUT / "data")
    place = fresh(Place(OUT / "work" / "profile", data, class_path(), memory=options.memory))
    profile(options.contestant, data, place, say, plans=not options.no_plans)


def _alone(options: argparse.Namespace) -> dict[str, Any]:
    other = _other(options.command, options.keys or OTHERS[options.command])
    say(json.dumps(other, indent=2))
    say(f"\n{other['text']}")
    return {"workloads": [], "others": {options.command: other}}


def _run(options: argparse.Namespace) -> dict[str, Any]:
    start = time.perf_counter()
    names = _names(options)
    unknown = sorted(set(names) - set(CONTESTANTS))
    if unknown:
        raise SystemExit(f"unknown contestants: {', '.join(unknown)}")
    takers = [name for name, entry in CONTESTANTS.items() if entry.sequence]
    if options.sequence and not set(takers) & set(names):
        raise SystemExit(f"--sequence is for {', '.join(takers)}: name one in --contestants")
    course, absent = _course(names, options)
    present = [name for name in names if name not in absent]
    summary: dict[str, Any] = {
        "machine": report.machine(options.memory), "workloads": [], "across": [], "others": {},
    }  # fmt: skip
    for workload in _chosen(options):
        able = [name for name in present if CONTESTANTS[name].sequence or not workload.sequence]
        if not able:
            continue
        measured = measure(workload, able, course, say)
        measured["contestants"] |= {name: {"absent": why} for name, why in absent.items()}
        summary["workloads"].append(summarise(measured))
        summary["across"] = across(summary["workloads"])
        report.write(summary)
    for name, keys in {} if options.quick or _is_one(options) else OTHERS.items():
        say(f"\n{name}")
        summary["others"][name] = _other(name, keys)
        report.write(summary)
    say("\n" + markdown(summary))
    report.plot(say)
    say(f"\n{(time.perf_counter() - start) / 60:.1f} minutes")
    return summary


def _names(options: argparse.Namespace) -> list[str]:
    if options.contestants:
        return str(options.contestants).split(",")
    return list(CORE if options.quick else CONTESTANTS)


def _course(names: Sequence[str], options: argparse.Namespace) -> tuple[Course, dict[str, str]]:
    """Return what the contestants share, and who is absent, with the reason."""
    python = {False: Path(sys.executable), True: Path()}
    absent, delta = {}, ""
    if any(CONTESTANTS[name].peer for name in names):
        peers = set_up(OUT / "venv", say)
        python[True] = peers.python
        absent = {name: peers.missing for name in names if peers.missing and CONTESTANTS[name].peer}
    if any(CONTESTANTS[name].delta for name in names):
        delta, why = delta_class_path()
        absent |= {name: why for name in names if why and CONTESTANTS[name].delta}
    return Course(OUT, class_path(), python, delta, memory=options.memory), absent


def _other(name: str, keys: int) -> dict[str, Any]:
    """Run one of the other measurements; that it failed is reported like a result."""
    command = [sys.executable, "-m", "benchmarks.others", name, "--keys", str(keys)]
    OUT.mkdir(parents=True, exist_ok=True)
    log = OUT / f"{name}.log"
    with log.open("w") as errors:
        done = subprocess.run(  # noqa: S603  our own module
            command, check=False, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=ROOT
        )
    if done.returncode:
        return {"error": log.read_text()[-2000:], "text": f"failed; see {log.relative_to(ROOT)}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
