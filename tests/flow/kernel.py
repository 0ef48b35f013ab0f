"""Tasks on a virtual clock: greenlets, of which one runs at a time, in an order a seed decides.

A task gives way only where it sleeps or waits. Who is due first goes on; chance decides a tie.
"""

import heapq
from collections.abc import Callable
from random import Random
from typing import Any

from greenlet import getcurrent, greenlet


class Killed(BaseException):
    """The task was killed. Not an Exception: nothing that it runs may handle this."""


class NeverQuietError(Exception):
    """There was still something to do when the time was up."""


class Task:
    """One line of work: `result` or `error` when it is `done`."""

    def __init__(self, kernel: "Kernel", name: str, work: Callable[[], Any]) -> None:
        self.name, self.done, self.killed = name, False, False
        self.result: Any = None
        self.error: BaseException | None = None
        self.waiters: list[Task] = []
        # What is known of the task to those who inject faults, such as the run it works for.
        self.notes: dict[str, Any] = {}
        self.wake = 0
        self._kernel, self._work = kernel, work

    def run(self) -> None:
        """Work, once it is this task's turn."""
        try:
            if not self.killed:
                self.result = self._work()
        except Killed as error:
            self.error = error
        except BaseException as error:
            self.error = error
        self.done = True
        self._kernel.end(self)


class Kernel:
    """Runs tasks until nothing is left to do. Times are seconds since the beginning."""

    def __init__(self, random: Random) -> None:
        self.now = 0.0
        self.horizon = 0.0
        self._random = random
        self._due: list[tuple[float, float, int, Task, int]] = []
        self._count = 0
        # Whoever made the kernel runs it: all others give way to it.
        self._main = getcurrent()
        self._current: Task | None = None
        self._running: dict[Task, greenlet] = {}
        self._broken: Exception | None = None

    @property
    def current(self) -> Task:
        """The task that runs now."""
        assert self._current is not None
        return self._current

    def spawn(self, name: str, work: Callable[[], Any], *, after: float = 0) -> Task:
        """Make a task that begins after some seconds."""
        task = Task(self, name, work)
        self._running[task] = greenlet(task.run, parent=self._main)
        self._push(task, after)
        return task

    def sleep(self, seconds: float) -> None:
        """Let others go on until the time has come."""
        task = self.current
        self._refuse_killed(task)
        self._push(task, seconds)
        self._main.switch()
        self._refuse_killed(task)

    def join(self, task: Task, timeout: float | None = None) -> bool:
        """Wait until a task is done; false if the time was up before."""
        return self.join_any([task], timeout) is not None

    def join_any(self, tasks: list[Task], timeout: float | None = None) -> Task | None:
        """Wait until one of the tasks is done and return it; None if the time was up before."""
        waiter = self.current
        self._refuse_killed(waiter)
        if not any(task.done for task in tasks):
            for task in tasks:
                task.waiters.append(waiter)
            waiter.wake += 1
            if timeout is not None:
                self._push(waiter, timeout)
            self._main.switch()
            for task in tasks:
                if waiter in task.waiters:
                    task.waiters.remove(waiter)
            self._refuse_killed(waiter)
        return next((task for task in tasks if task.done), None)

    def kill(self, task: Task) -> None:
        """End a task: wherever it waits, it does not go on."""
        if not task.done and not task.killed:
            task.killed = True
            self._push(task, 0)

    def run(self, seconds: float) -> None:
        """Let tasks run until all have ended, or raise NeverQuietError when the time is up."""
        self.horizon = self.now + seconds
        self._run_due()
        if self._broken:
            raise self._broken
        if self._running:
            names = sorted(task.name for task in self._running)
            raise NeverQuietError(f"after {seconds:.0f} s still at work: {names[:20]}")

    def give_up(self, error: Exception) -> None:
        """Let nothing go on; `run` raises the error."""
        self._broken = error

    def end(self, task: Task) -> None:
        """Wake those who wait for a task that is done."""
        del self._running[task]
        for waiter in task.waiters:
            self._push(waiter, 0)

    def abandon(self) -> None:
        """Kill what is left, so that its blocks end."""
        for task in [*self._running]:
            task.killed = True
            self._push(task, 0)
        self.horizon, self._broken = float("inf"), None
        self._run_due()

    def _push(self, task: Task, seconds: float) -> None:
        self._count += 1
        task.wake += 1
        entry = (self.now + seconds, self._random.random(), self._count, task, task.wake)
        heapq.heappush(self._due, entry)

    def _run_due(self) -> None:
        while task := self._next():
            self._current = task
            self._running[task].switch()

    def _next(self) -> Task | None:
        while self._due and self._due[0][0] <= self.horizon and not self._broken:
            time, _, _, task, wake = heapq.heappop(self._due)
            if task.wake == wake and not task.done:
                self.now = max(self.now, time)
                return task
        return None

    @staticmethod
    def _refuse_killed(task: Task) -> None:
        if task.killed:
            raise Killed
