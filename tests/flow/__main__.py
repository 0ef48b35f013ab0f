"""Play schedules: `python -m tests.flow --seeds 300`, or `--seed N --trace` to play one again."""

import argparse
import multiprocessing
import time
import traceback
from collections import Counter

from tests.flow.checks import faults
from tests.flow.story import Story


def play(seed: int, *, trace: bool = False) -> tuple[Story, list[str]]:
    """Play one schedule and return what does not hold."""
    story = Story(seed, trace=trace)
    try:
        story.play()
        found = faults(story)
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
        if trace:
            traceback.print_exc()
    return story, found


def _play(seed: int) -> tuple[int, list[str], dict[str, int]]:
    story, found = play(seed)
    world = story.world
    numbers = {
        "executions": sum(len(m.executions) for m in world.machines.values()),
        "glue runs": sum(world.job_runs.values()),
        "commits": sum(len(t.commits) for t in world.tables.values()),
        "notices": len(world.notices),
        "calm": int(story.weather.calm),
    }
    return seed, found, numbers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.flow", description=__doc__)
    parser.add_argument("--seeds", type=int, default=300, help="how many schedules")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--trace", action="store_true", help="print what happened")
    options = parser.parse_args()
    if options.seed is not None:
        story, found = play(options.seed, trace=options.trace)
        print("\n".join([*(story.world.trace or []), str(story.began_with), *found]))
        return bool(found)
    begin, failed, sums = time.monotonic(), 0, Counter()
    kinds: Counter[str] = Counter()
    with multiprocessing.Pool() as pool:
        for seed, found, numbers in pool.imap_unordered(
            _play, range(options.first, options.first + options.seeds)
        ):
            sums.update(numbers)
            if found:
                failed += 1
                print(f"python -m tests.flow --seed {seed} --trace: {found[0][:300]}", flush=True)
    print(
        f"{options.seeds} schedules in {time.monotonic() - begin:.0f} s, {failed} failed; {dict(sums)}"
    )
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
