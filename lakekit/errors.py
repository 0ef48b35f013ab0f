"""The error tree. A class name is a published interface: state machines match it as text.

LakekitError
├── TransientError                    a retry can help
│   ├── SourceUnavailableError        time-out, connection, 5xx, a body that was cut short
│   ├── SourceThrottledError          429, or another sign that a limit is reached
│   ├── StorageUnavailableError       object store or catalog time-out, throttling, 5xx
│   ├── TableBusyError                another run or maintenance holds the table's lease
│   └── CommitConflictError           lost an optimistic commit, as often as it is tried
└── TerminalError                     a person, a contract or a source must change
    ├── InvalidContractError          a contract or source file does not load
    ├── InvalidEnvironmentError       an environment file does not load
    ├── InvalidStepInputError         a step got the wrong shape
    ├── UnknownSourceError            no such source, endpoint or table
    ├── SourceRejectedError           other 4xx, authentication, a foreign origin
    ├── SourceShapeError              a response lacks what the contract says, or pages loop
    ├── ParentFailedError             the endpoint that gives the parents of another one failed
    ├── CallBudgetExceededError       the call budget of one run is used up
    ├── LandingCorruptError           an object is missing or does not match its manifest
    ├── NewerDocumentError            a newer release wrote a document that this one cannot read
    ├── TooManyRejectedError          more rejected records than quality.max_rejected_ratio
    ├── TooManyDeletedError           more closed keys than history.max_deleted_ratio
    ├── LateExtractError              an extract older than one that is already merged
    ├── WatermarkMismatchError        a contract has another watermark than the one that is stored
    ├── SchemaMismatchError           table and contract disagree in a way that cannot be evolved
    ├── InvariantViolatedError        a merge would break the history; nothing was published
    └── MissingEvidenceError          a job said success, the table does not show it
"""

from collections.abc import Sequence
from typing import Any


class LakekitError(Exception):
    """Anything Lakekit raises on purpose."""


class TransientError(LakekitError):
    """A retry can help."""


class _SourceBusyError(TransientError):
    """The source wants to be asked later; in how many seconds, if it says so."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class SourceUnavailableError(_SourceBusyError):
    """The source did not answer, not to the end, or answered 5xx."""


class SourceThrottledError(_SourceBusyError):
    """A limit of the source is reached, and the pause is longer than a call can make."""


class StorageUnavailableError(TransientError):
    """The object store or catalog timed out, throttled or answered 5xx."""


class TableBusyError(TransientError):
    """Another run or maintenance holds the table's lease."""


class CommitConflictError(TransientError):
    """Lost an optimistic commit as often as it is tried."""


class TerminalError(LakekitError):
    """A person, a contract or a source must change first."""


class InvalidContractError(TerminalError):
    """A contract or source file does not load."""


class InvalidEnvironmentError(TerminalError):
    """An environment file does not load."""


class InvalidStepInputError(TerminalError):
    """A step got the wrong shape."""


class UnknownSourceError(TerminalError):
    """No such source, endpoint or table."""


class SourceRejectedError(TerminalError):
    """The source refused the request, or sent us to a foreign origin."""


class SourceShapeError(TerminalError):
    """A response lacks what the contract says, or its pages loop or are cut short."""


class ParentFailedError(TerminalError):
    """The endpoint whose records are the parents of another one failed in this run."""


class CallBudgetExceededError(TerminalError):
    """The source's call budget for one run is used up."""


class LandingCorruptError(TerminalError):
    """A landed object is missing or does not match its manifest."""


class NewerDocumentError(TerminalError):
    """A newer release wrote a document in a form that this one cannot read."""


class TooManyRejectedError(TerminalError):
    """More rejected records than `quality.max_rejected_ratio` allows; carries the first ones."""

    def __init__(self, message: str, rejected: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.rejected = rejected


class TooManyDeletedError(TerminalError):
    """A run would close more keys than `history.max_deleted_ratio` allows."""


class LateExtractError(TerminalError):
    """Without `sequence_by`: an extract is older than one that is already merged."""


class WatermarkMismatchError(TerminalError):
    """A contract has another watermark than the one that is stored."""


class SchemaMismatchError(TerminalError):
    """Table and contract disagree in a way that cannot be evolved."""


class InvariantViolatedError(TerminalError):
    """A merge would break the history; nothing was published."""


class MissingEvidenceError(TerminalError):
    """A job said success, the table does not show it."""
