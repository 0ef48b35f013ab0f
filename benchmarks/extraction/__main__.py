"""Measure extraction against others, and its memory for each kind of body; see docs/benchmarks.md.

`python -m benchmarks.extraction` does both. `contest` and `memory` are one of them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.extraction.bodies import BODIES, split_name
from benchmarks.extraction.landed import landed
from benchmarks.extraction.ratios import MOST_MB, aims, contest_rows, contest_table, memory_table
from benchmarks.harness import ROOT
from benchmarks.peers import set_up
from benchmarks.places import OUT

DLT = Path(__file__).parent.parent / "requirements-dlt.txt"
PATHS = {"pages": "/pages", "one body": "/body"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for; 1 if Lakekit fails, lands other records or needs more memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["all", "contest", "memory"], default="all")
    parser.add_argument("--records", type=int, default=500_000, help="in pages of a thousand")
    parser.add_argument("--megabytes", type=int, default=200, help="of the one body")
    parser.add_argument("--rounds", type=int, default=3, help="of the contest")
    parser.add_argument("--without", default="", help="contestants, with commas: dlt,loop")
    parser.add_argument(
        "--bodies", default="", help="of the memory, with commas: csv 60,json map 7"
    )
    options = parser.parse_args(arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    texts: list[str] = []
    is_fine = True
    if options.what != "memory":
        for title, rounds in _contest(options).items():
            found[title], rows = rounds, contest_rows(rounds)
            texts += [contest_table(title, rows), "\n".join(aims(rows))]
            is_fine &= all(row["same"] for row in rows.values())
            is_fine &= rows["lakekit"]["peak_mb"] <= MOST_MB
    if options.what != "contest":
        names = options.bodies.split(",") if options.bodies else BODIES
        found["memory"] = bodies = [*_memory(names)]
        texts.append(memory_table(bodies))
        is_fine &= all(body["peak_mb"] <= MOST_MB for body in bodies)
    (OUT / "extraction.json").write_text(json.dumps(found, indent=2) + "\n")
    (OUT / "extraction.md").write_text("\n\n".join(texts) + "\n")
    say("\n" + "\n\n".join(texts))
    return 0 if is_fine else 1


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _contest(options: argparse.Namespace) -> dict[str, list[dict[str, Any]]]:
    """Return for each workload its rounds; in each all contestants, another one first."""
    python = {"lakekit": Path(sys.executable), "loop": Path(sys.executable)}
    without = options.without.split(",")
    if "dlt" not in without:
        peers = set_up(OUT / "dlt", say, DLT)
        if peers.missing:
            say(f"dlt is absent: {peers.missing}")
        else:
            python["dlt"] = peers.python
    names = [name for name in python if name not in without]
    with _server(options.records, options.megabytes) as url:
        return {
            title: [
                _round(python, names[turn % len(names) :] + names[: turn % len(names)], url + path)
                for turn in range(options.rounds)
            ]
            for title, path in PATHS.items()
        }


def _round(python: dict[str, Path], names: list[str], url: str) -> dict[str, Any]:
    found = {}
    for name in names:
        with tempfile.TemporaryDirectory(dir=OUT) as folder:
            figures = _run(python[name], f"with_{name}", url, folder)
            figures["landed"] = landed(Path(folder), name)
        rows = figures["landed"].rows
        if rows != figures["is"]:
            raise SystemExit(f"{name}: {figures['is']}, but {rows} records landed")
        found[name] = figures | {"rate": rows / figures["wall_seconds"]}
        say(f"{url.rpartition('/')[2]}: {name} {figures['cpu_seconds']:.1f} s of processor time")
    return {name: found[name] for name in python if name in found}


def _memory(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    with _server(0, 0) as url:
        for name in names:
            where, endpoint = f"{url}/bodies/{name.replace(' ', '_')}", split_name(name)[0].endpoint
            with tempfile.TemporaryDirectory(dir=OUT) as folder:
                figures = _run(Path(sys.executable), "with_lakekit", where, folder, endpoint)
            found = {"body": name, **figures, "is": str(figures["is"]).replace(url, "")}
            say(json.dumps(found))
            yield found


@contextmanager
def _server(records: int, megabytes: int) -> Iterator[str]:
    """Start the server in a process of its own; yield its address."""
    command = [sys.executable, "-m", "benchmarks.extraction.server"]
    command += ["--records", str(records), "--megabytes", str(megabytes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:  # noqa: S603
        try:
            yield (process.stdout.readline() if process.stdout else "").strip()
        finally:
            process.kill()


def _run(python: Path, module: str, *arguments: str) -> dict[str, Any]:
    command = [str(python), "-m", f"benchmarks.extraction.{module}", *arguments]
    done = subprocess.run(  # noqa: S603  our own module
        command, check=False, capture_output=True, text=True, cwd=ROOT
    )
    if done.returncode:
        raise SystemExit(f"{module}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
