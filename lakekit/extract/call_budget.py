"""The call budget of a run: one counter for all its endpoints, and for all calls of each."""

from lakekit import layout
from lakekit.config.source import CallBudget
from lakekit.documents import Document
from lakekit.errors import CallBudgetExceededError, StorageUnavailableError
from lakekit.ports import ObjectStore, PreconditionFailedError

# The least part of what is left that is taken at once, and the most requests.
_PART, _MOST_AT_ONCE = 20, 100
# Four endpoints write at one time.
_ATTEMPTS = 20


class Calls(Document):
    """How many requests of a run have been taken: each is sent already, or may be."""

    taken: int


class RunBudget:
    """Counts requests before they are sent, so that no retry and no crash sends more than allowed.

    Requests are taken in blocks, since each block is a conditional PUT. Blocks shrink with what is
    left. What a call has not sent it gives back; what a killed call had taken stays taken.
    """

    def __init__(self, store: ObjectStore, run_id: str, budget: CallBudget) -> None:
        self._store = store
        self._key = layout.calls_key(run_id)
        self._most = budget.max_requests_per_run
        self._left = 0

    def count_request(self) -> None:
        """Count one request.

        Raises:
            CallBudgetExceededError: All endpoints together have sent as many as the run may.
        """
        if not self._left:
            self._left = self._move(None)
        if not self._left:
            raise CallBudgetExceededError(
                f"the budget of {self._most} requests for one run, of all its endpoints together, "
                "is used up"
            )
        self._left -= 1

    def give_back(self) -> None:
        """Leave to others what was taken and not sent."""
        if self._left:
            self._move(-self._left)
            self._left = 0

    def _move(self, change: int | None) -> int:
        """Take a block, or what `change` says; return how many requests were taken."""
        for _ in range(_ATTEMPTS):
            info = self._store.head(self._key)
            taken = Calls.parse(self._store.get(self._key), name=self._key).taken if info else 0
            rest = self._most - taken
            wanted = min(-(-rest // _PART), _MOST_AT_ONCE) if change is None else change
            if change is None and wanted <= 0:
                return 0
            body = Calls(taken=taken + wanted).to_json()
            condition = {"if_match": info.etag} if info else {"if_absent": True}
            try:
                self._store.put(self._key, body, **condition)
            except PreconditionFailedError:
                continue  # another endpoint was faster
            return wanted
        raise StorageUnavailableError(f"{self._key}: others were faster {_ATTEMPTS} times")
