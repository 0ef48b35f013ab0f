"""Play schedules: `python -m tests.flow --seeds 300`, or `--seed N --trace` to play one again."""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from contextlib import ExitStack

from tests.flow.guards import GUARDS, without
from tests.flow.play import play, play_all


def main() -> int:
    """Return 1 if something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.flow", description=__doc__)
    parser.add_argument("--seeds", type=int, default=300, help="how many schedules")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--trace", action="store_true", help="print what happened")
    parser.add_argument("--without", choices=GUARDS, metavar="GUARD", help="take out a guard")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.without:
            stack.enter_context(without(options.without))
        if options.seed is not None:
            return _one(options.seed, trace=options.trace)
        return _many(range(options.first, options.first + options.seeds))


def _one(seed: int, *, trace: bool) -> int:
    story, found = play(seed, trace=trace)
    _print(*(story.world.trace or []), str(story.began_with), *found)
    return int(bool(found))


def _many(seeds: range) -> int:
    begin, failed = time.monotonic(), 0
    sums: Counter[str] = Counter()
    for outcome in play_all(seeds, processes=multiprocessing.cpu_count()):
        sums.update(outcome.numbers)
        if outcome.faults:
            failed += 1
            _print(outcome.replay[:400])
    numbers = ", ".join(f"{count:,} {name}" for name, count in sums.items())
    _print(f"{len(seeds):,} schedules in {time.monotonic() - begin:.0f} s: {numbers}")
    _print(f"{failed} failed")
    return int(bool(failed))


def _print(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
