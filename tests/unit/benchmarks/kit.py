"""Contestants as if they were measured, for the tests of reports."""

from benchmarks.summary import summarise

MACHINE = {"text": "two cores"}
MODEL = "expectation_checked_against_model"


def _run(seconds, written=10, read=5):
    return {
        "seconds": seconds, "read": read, "written": written, "new_files": 1, "new_bytes": 9,
        "peak_rss": 7_000_000,
    }  # fmt: skip


def measurement(**contestants):
    return {"workload": "w", "parameters": {"warm_up": 1}, "contestants": contestants}


def swept(load, **contestants):
    measured = measurement(**contestants)
    return summarise(measured | {"workload": load.name, "parameters": load.as_dict()})


def summary(*workloads, **others):
    return {"workloads": list(workloads), "others": others}


def contestant(*seconds, correct=True, written=10, read=5):
    check = {"correct": correct, "missing": 0, "unexpected": 3, "columns": {"city": 3}}
    runs = [_run(s, written, read) for s in seconds]
    return {"about": "", "runs": runs, "files": {"data": 2}, "check": check}
