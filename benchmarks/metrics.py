"""What a run costs besides time: bytes, files and memory."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STAGE_FIELDS = (
    "inputBytes", "inputRecords", "outputBytes", "shuffleReadBytes", "shuffleWriteBytes",
    "executorRunTime", "executorCpuTime", "jvmGcTime", "memoryBytesSpilled", "diskBytesSpilled",
)  # fmt: skip


@dataclass
class Meter:
    """Counts between `start` and `stop`, for the processes and the folder of one contestant.

    The counters of the kernel are the same for every engine: `read` and `written` are all bytes
    that its processes passed to the file system and to sockets, shuffles and staging included.
    """

    processes: list[int]
    folder: Path
    spark: Any = None
    _before: dict[str, int] = field(default_factory=dict)
    _files: dict[Path, int] = field(default_factory=dict)
    _stage: int = -1

    def start(self) -> None:
        """Read the counters before a run."""
        self._files = tree(self.folder)
        self._stage = max((s["stage"] for s in stages(self.spark)), default=-1)
        for process in self.processes:
            with suppress(OSError):  # a container may forbid it: then the peak is the process's
                Path(f"/proc/{process}/clear_refs").write_text("5")
        self._before = self._kernel()

    def stop(self) -> dict[str, int]:
        """Return what was counted since the start."""
        after = self._kernel()
        new = {file: size for file, size in tree(self.folder).items() if file not in self._files}
        counts = {
            "read": after["rchar"] - self._before["rchar"],
            "written": after["wchar"] - self._before["wchar"],
            "peak_rss": sum(_status(process, "VmHWM") for process in self.processes),
            "new_files": len(new),
            "new_bytes": sum(new.values()),
        }
        found = [s for s in stages(self.spark) if s["stage"] > self._stage]
        totals = {name: sum(s[name] for s in found) for name in STAGE_FIELDS} if self.spark else {}
        return counts | totals | ({"stages": len(found)} if self.spark else {})

    def _kernel(self) -> dict[str, int]:
        total = {"rchar": 0, "wchar": 0}
        for process in self.processes:
            for line in Path(f"/proc/{process}/io").read_text().splitlines():
                name, value = line.split(":")
                if name in total:
                    total[name] += int(value)
        return total


def tree(folder: Path) -> dict[Path, int]:
    """Return the files below a folder with their sizes, but not Spark's scratch space."""
    found = {}
    for file in folder.rglob("*"):
        if "scratch" not in file.parts and not file.name.endswith(".crc"):
            with suppress(FileNotFoundError):
                if file.is_file():
                    found[file] = file.stat().st_size
    return found


def stages(spark: Any) -> list[dict[str, Any]]:
    """Return every stage that Spark's status store knows, with its metrics, in order."""
    if spark is None:
        return []
    context = spark.sparkContext
    jvm, gateway = context._jvm, context._gateway
    context._jsc.sc().listenerBus().waitUntilEmpty()
    quantiles = gateway.new_array(jvm.double, 0)
    empty = jvm.java.util.ArrayList()
    listed = context._jsc.sc().statusStore().stageList(empty, False, False, quantiles, empty)
    found = [
        {
            "stage": stage.stageId(),
            "name": stage.name(),
            "status": str(stage.status()),
            "tasks": stage.numCompleteTasks(),
            **{name: getattr(stage, name)() for name in STAGE_FIELDS},
        }
        for stage in (listed.apply(index) for index in range(listed.size()))
    ]
    return sorted(found, key=lambda stage: stage["stage"])


def _status(process: int, name: str) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0
