"""What a process takes; for all environments, so that it imports nothing of others."""

import os
import time
from pathlib import Path
from typing import Any


class Watch:
    """Measures from its making on."""

    def __init__(self) -> None:
        self._cpu = cpu_seconds()
        self._wall = time.perf_counter()

    def figures(self, outcome: Any) -> dict[str, Any]:
        """Return what was taken: processor and wall time in seconds, the peak of memory in MB."""
        return {
            "cpu_seconds": round(cpu_seconds() - self._cpu, 3),
            "wall_seconds": round(time.perf_counter() - self._wall, 3),
            "peak_mb": peak_mb(),
            "is": outcome,
        }


def cpu_seconds() -> float:
    """Return the processor time of this process and of those that it has started and awaited."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def peak_mb() -> int:
    """Return the most memory that this process has had; `getrusage` shows that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024
