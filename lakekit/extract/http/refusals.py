"""Why a source refuses a request, in its own words, and with which secrets it was asked."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lakekit.config.auth import Secret
from lakekit.extract.http.messages import Answer

_MOST_CHARACTERS = 200
_MOST_BYTES = 100_000
# Where APIs say what is wrong, the plainest words first.
_NAMES = ("error_description", "message", "detail", "error_message", "error", "errors", "title",
          "fault", "msg", "faultstring", "description", "reason")  # fmt: skip


def refusal(answer: Answer, secrets: Iterable[Secret]) -> str:
    """Return the status, the names of the secrets that were sent, and what the source says.

    Values of secrets may be in it, as far as the source repeats them: whoever shows it redacts it.

    Example:
        >>> refused = Answer("", 401, {"WWW-Authenticate": "Bearer"}, b'{"message": "expired"}')
        >>> refusal(refused, [Secret(name="lakekit/dev/shop")])
        '401 with secret lakekit/dev/shop; the source says: Bearer; expired'
    """
    names = [f"{each.name} ({each.field})" if each.field else each.name for each in secrets]
    asked = f" with secret {', '.join(dict.fromkeys(names))}" if names else ""
    if answer.status == 401 and not names:
        asked = " without a secret, as the source has no auth"
    said = [*_challenge(answer.headers), *_reason(answer)]
    shown = re.sub(r"\s+", " ", "; ".join(dict.fromkeys(said)))[:_MOST_CHARACTERS]
    return f"{answer.status}{asked}" + (f"; the source says: {shown}" if shown else "")


def _challenge(headers: Mapping[str, str]) -> list[str]:
    text = headers.get("WWW-Authenticate", "").strip()
    return [text[:_MOST_CHARACTERS]] if text else []


def _reason(answer: Answer) -> list[str]:
    body = answer.body[:_MOST_BYTES].strip()
    if body.startswith((b"{", b"[")):
        try:
            found = _words(msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return []
        return [found] if found else []
    kind = str(answer.headers.get("Content-Type", "")).lower()
    is_plain = "text/plain" in kind and not body.startswith(b"<")
    return [body[:_MOST_CHARACTERS].decode(errors="replace")] if is_plain and body else []


def _words(value: Any) -> str:
    """Return the text that says most plainly what is wrong."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return next((words for each in value[:10] if (words := _words(each))), "")
    if not isinstance(value, dict):
        return ""
    named = {str(name).lower(): each for name, each in value.items()}
    return next((words for name in _NAMES if (words := _words(named.get(name)))), "")
