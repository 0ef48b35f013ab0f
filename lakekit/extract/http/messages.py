"""What is sent to a source, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Literal


@dataclass(frozen=True)
class SourceRequest:
    """One request: its address, parameters in their order, its own headers, its body.

    accept_statuses: those from 400 to 499 that are an answer, not an error.
    other_origin: where it may lead in addition to the source's own, without signing in.
    repeatable: whether the same request gives the same answer again. A scroll gives the next one.
    """

    url: str
    params: tuple[tuple[str, str], ...] = ()
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    accept_statuses: frozenset[int] = frozenset()
    repeatable: bool = True
    other_origin: str | None = None


@dataclass(frozen=True)
class Answer:
    """One response: its own address, status, headers (by any case of their names) and body.

    large: the file of a body that is too large for memory, at its beginning; `body` is empty then.
        It is closed when the next request is sent.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    large: BinaryIO | None = None


def looks_accidental(answer: Answer) -> bool:
    """Say whether an answer may be an accident: a page for people, or 200 and nothing.

    A proxy or a login sends the first now and then. The second is also what is left of an answer
    that was cut within its headers.
    """
    if answer.large:
        return False
    kind = str(answer.headers.get("Content-Type", "")).lower()
    html = "html" in kind and answer.body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    return html or (answer.status == 200 and not answer.body)
