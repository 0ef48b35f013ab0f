"""Errors of botocore, translated here, once."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseStreamingError,
)

from lakekit.errors import StorageUnavailableError
from lakekit.ports import ObjectNotFoundError, PreconditionFailedError

# 409 ConditionalRequestConflict: two conditional writes met; S3 asks to try again.
_TRANSIENT = {
    "ConditionalRequestConflict", "InternalError", "OperationAborted", "RequestTimeout",
    "RequestTimeoutException", "ServiceUnavailable", "SlowDown", "Throttling",
    "ThrottlingException", "TooManyRequestsException",
}  # fmt: skip
_MISSING = {"404", "NoSuchKey", "NotFound"}
_BROKEN = (
    ConnectionError, HTTPClientError, IncompleteReadError, ReadTimeoutError,
    ResponseStreamingError,
)  # fmt: skip


def code_of(error: ClientError) -> str:
    """Return what AWS calls an error, such as `NoSuchKey`; nothing if it does not say."""
    return error.response.get("Error", {}).get("Code", "")


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise what AWS says as Lakekit's errors; `what` was asked for.

    Raises:
        ObjectNotFoundError, PreconditionFailedError: As S3 says it.
        StorageUnavailableError: A time-out, throttling, or 5xx of any service.
    """
    try:
        yield
    except ClientError as error:
        code = code_of(error)
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _MISSING:
            raise ObjectNotFoundError(what) from error
        if status == 412 or code == "PreconditionFailed":
            raise PreconditionFailedError(what) from error
        if code in _TRANSIENT or status >= 500 or status == 429:
            raise StorageUnavailableError(f"{what}: {code}") from error
        raise
    except _BROKEN as error:
        raise StorageUnavailableError(f"{what}: {type(error).__name__}") from error
