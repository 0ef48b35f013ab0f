"""One contestant in a process of its own: commands come as lines of JSON, answers go the same way.

Started by the harness as `python -m benchmarks.worker`; what libraries print goes to the log.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from benchmarks.contestants import Contestant, Place, open_contestant
from benchmarks.generator import Dataset
from benchmarks.metrics import Meter
from benchmarks.workloads import Workload


def main() -> int:
    """Serve one contestant until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    server = _Server()
    for line in sys.stdin:
        command = json.loads(line)
        server.serve(command, answers)
    return 0


class _Server:
    def __init__(self) -> None:
        self.contestant: Contestant | None = None

    def serve(self, command: dict[str, Any], answers: TextIO) -> None:
        try:
            action: Callable[..., Any] = getattr(self, command.pop("do"))
            answer = {"ok": True, "value": action(**command)}
        except Exception as error:
            traceback.print_exc()
            text = f"{type(error).__name__}: {error}"
            answer = {"ok": False, "error": text[:2000]}
        answers.write(json.dumps(answer, default=str) + "\n")

    def open(self, name: str, workload: dict[str, Any], **place: Any) -> str:
        data = Dataset(Path(place.pop("data")), Workload(**workload))
        folder = Path(place.pop("folder"))
        self.contestant = open_contestant(name, Place(folder, data, **place))
        return self.contestant.about

    def prepare(self) -> float:
        start = time.perf_counter()
        self._the().prepare()
        self._rest()
        return time.perf_counter() - start

    def run(self, number: int) -> dict[str, Any]:
        it = self._the()
        meter = Meter(it.process_ids(), it.place.folder, getattr(it, "spark", None))
        meter.start()
        start = time.perf_counter()
        result = it.run(number)
        seconds = time.perf_counter() - start
        counts = meter.stop()
        it.finish_batch(number)
        self._rest()
        return {"seconds": seconds, "result": result, **counts}

    def read_back(self, target: str) -> None:
        self._the().read_back(Path(target))

    def files(self) -> dict[str, int]:
        return self._the().files()

    def close(self) -> None:
        self._the().close()

    def _rest(self) -> None:
        """Give memory back while the other contestants run."""
        spark = getattr(self.contestant, "spark", None)
        if spark is not None:
            spark.sparkContext._jvm.System.gc()
            # A thread of Spark drops what is no longer referred to.
            time.sleep(1)

    def _the(self) -> Contestant:
        if self.contestant is None:
            raise RuntimeError("open a contestant first")
        return self.contestant


if __name__ == "__main__":
    sys.exit(main())
