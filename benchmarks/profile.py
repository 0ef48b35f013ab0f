"""Where the time of one merge goes: its SQL executions, their stages and their physical plans."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.contestants import Place, open_contestant
from benchmarks.generator import Dataset
from benchmarks.metrics import Meter, stages

Say = Callable[[str], None]


@dataclass(frozen=True)
class Execution:
    """One SQL execution as Spark's status store has it; times in seconds from the merge's start."""

    number: int
    description: str
    start: float
    seconds: float
    stages: frozenset[int]
    plan: str


def profile(name: str, data: Dataset, place: Place, say: Say, *, plans: bool = True) -> None:
    """Run all batches of a workload and print what the last one did."""
    contestant = open_contestant(name, place)
    contestant.prepare()
    last = data.workload.batches - 1
    for number in range(last):
        start = time.perf_counter()
        contestant.run(number)
        contestant.finish_batch(number)
        say(f"batch {number}: {time.perf_counter() - start:.2f} s")
    spark = contestant.spark  # type: ignore[attr-defined]
    seen = max((e.number for e in executions(spark, 0.0)), default=-1)
    meter = Meter(contestant.process_ids(), place.folder, spark)
    meter.start()
    origin, start = time.time(), time.perf_counter()
    result = contestant.run(last)
    total = time.perf_counter() - start
    counts = meter.stop()
    found = [e for e in executions(spark, origin) if e.number > seen]
    say(f"\n{name}: {data.workload.name}: {total:.2f} s, {result}")
    say("  ".join(f"{key} {value:,}" for key, value in counts.items()))
    _print_timeline(found, {s["stage"]: s for s in stages(spark)}, total, say)
    if plans:
        for execution in found:
            say(f"\n=== execution {execution.number}: {execution.seconds:.2f} s\n{execution.plan}")
    contestant.close()


def executions(spark: Any, origin: float) -> list[Execution]:
    """Return all SQL executions of a session, in order."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    listed = spark._jsparkSession.sharedState().statusStore().executionsList()
    found = []
    for each in (listed.apply(index) for index in range(listed.size())):
        start = each.submissionTime() / 1000
        ended = each.completionTime()
        end = ended.get().getTime() / 1000 if ended.isDefined() else time.time()
        ids = each.stages().mkString(",")
        numbers = frozenset(int(s) for s in ids.split(",") if s)
        text = f"{each.description()}"
        plan = each.physicalPlanDescription()
        found.append(
            Execution(each.executionId(), text, start - origin, end - start, numbers, plan)
        )
    return sorted(found, key=lambda execution: execution.number)


def _print_timeline(
    found: list[Execution], by_number: dict[int, dict[str, Any]], total: float, say: Say
) -> None:
    say("\nid    start     end  seconds  what (stages: id tasks cpu-s input->output shuffle MB)")
    busy, until = 0.0, 0.0
    for execution in found:
        end = execution.start + execution.seconds
        busy += max(0.0, end - max(until, execution.start))
        until = max(until, end)
        first = execution.description.strip().split("\n")[0][:90]
        say(
            f"{execution.number:<4} {execution.start:6.2f}  {end:6.2f}   {execution.seconds:6.2f}"
            f"  {first}"
        )
        for number in sorted(execution.stages):
            if (stage := by_number.get(number)) and stage["status"] == "COMPLETE":
                say("      " + _stage_line(stage))
    say(f"\nin SQL executions {busy:.2f} s, outside {total - busy:.2f} s of {total:.2f} s")


def _stage_line(stage: dict[str, Any]) -> str:
    mb = {
        key: stage[key] / 1e6
        for key in ("inputBytes", "outputBytes", "shuffleReadBytes", "shuffleWriteBytes")
    }
    run = stage["executorRunTime"] / 1000
    return (
        f"stage {stage['stage']}: {stage['tasks']} tasks, run {run:.2f} s, "
        f"cpu {stage['executorCpuTime'] / 1e9:.2f} s, gc {stage['jvmGcTime'] / 1000:.2f} s, "
        f"{mb['inputBytes']:.1f} -> {mb['outputBytes']:.1f} MB, "
        f"shuffle {mb['shuffleReadBytes']:.1f} in {mb['shuffleWriteBytes']:.1f} out, "
        f"{stage['name']}"
    )
