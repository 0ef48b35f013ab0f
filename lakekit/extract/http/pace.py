"""How fast and how often one call may ask: the rate, the limits of the source, the time left."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from lakekit.config.source import CallBudget
from lakekit.errors import CallBudgetExceededError, SourceThrottledError
from lakekit.extract.http.waiting import limit_reset

# Seconds: longer pauses are left to the state machine, which costs nothing while it waits.
MAX_WAIT_SECONDS = 10.0
# For a request that is begun when hardly any time is left: its call has some in reserve.
LEAST_SECONDS = 5.0


@dataclass(frozen=True)
class RunLimits:
    """What a run leaves to one of its calls.

    count_request: counts a request of the run before it is sent, or raises
        CallBudgetExceededError; None if the call is alone and counts for itself.
    remaining_seconds: of this call.
    endpoints_at_once: how many calls of the run share the rate.
    """

    count_request: Callable[[], None] | None = None
    remaining_seconds: Callable[[], float] = lambda: float("inf")
    endpoints_at_once: int = 1


class Pace:
    """Decides when the next request may go out; `calls` counts those that went."""

    def __init__(
        self,
        budget: CallBudget,
        limits: RunLimits,
        *,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.calls = 0
        self._budget, self._limits = budget, limits
        self._sleep, self._monotonic = sleep, monotonic
        # By our own rate, and by the limits of the source.
        self._next = self._free_at = float("-inf")

    def take(self, *, for_token: bool = False) -> None:
        """Wait until a request may go out, and count it; one for a token may always go out.

        Raises:
            SourceThrottledError: The wait is longer than this call can make.
            CallBudgetExceededError: The run has used up its budget.
        """
        if not for_token:
            self._keep_rate()
            self.wait(self._free_at - self._monotonic(), "the source's limit")
        if self._limits.count_request:
            self._limits.count_request()
        elif self.calls >= self._budget.max_requests_per_run:
            raise budget_exceeded(self._budget)
        self.calls += 1
        if (rate := self._budget.max_requests_per_second) and not for_token:
            self._next = self._monotonic() + self._limits.endpoints_at_once / rate

    def _keep_rate(self) -> None:
        """Wait as the rate wants it, also for long: another call would not know of this one."""
        seconds = self._next - self._monotonic()
        if seconds > self._limits.remaining_seconds():
            raise SourceThrottledError(f"the rate asks for a pause of {seconds:.0f} s", seconds)
        if seconds > 0:
            self._sleep(seconds)

    def wait(self, seconds: float, why: str) -> None:
        """Make a short pause.

        Raises:
            SourceThrottledError: It is a long one, or this call has no time for it.
        """
        if not self.has_time_for(seconds):
            raise SourceThrottledError(f"{why} asks for a pause of {seconds:.0f} s", seconds)
        if seconds > 0:
            self._sleep(seconds)

    def has_time_for(self, seconds: float) -> bool:
        """Say whether a pause is short, and can be made by this call."""
        return seconds <= min(MAX_WAIT_SECONDS, max(self._limits.remaining_seconds(), 0))

    def note_limits(self, headers: Mapping[str, str]) -> None:
        """Leave the source alone until a limit is new again that an answer says is used up."""
        pause = limit_reset(headers, lambda: datetime.now(UTC))
        if pause is not None:
            self._free_at = max(self._free_at, self._monotonic() + pause)

    def seconds_for(self, most: float) -> float:
        """Return how many seconds a request may take."""
        return min(most, max(self._limits.remaining_seconds(), LEAST_SECONDS))


def budget_exceeded(budget: CallBudget) -> CallBudgetExceededError:
    """Return the error that ends an extraction."""
    return CallBudgetExceededError(
        f"the budget of {budget.max_requests_per_run} requests for one run is used up"
    )
