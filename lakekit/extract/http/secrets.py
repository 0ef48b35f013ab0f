"""The secrets of a source: read by their names, taken out of texts, put into them again."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from urllib.parse import quote, quote_plus

from lakekit.config.auth import Secret
from lakekit.errors import SourceRejectedError, SourceShapeError

# A shorter one would be found in any text.
LEAST = 4
_PLACE = re.compile(r"<secret ([^<>]+?)( %| \+| %lower)?>")


class Secrets:
    """Reads secrets once, and knows where their values stand in a text.

    What is taken out of a text leaves a mark with its name, so that another call, with a token of
    its own, can put it in again.
    """

    def __init__(self, read: Callable[[str], str]) -> None:
        self._read = read
        self._texts: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._sources: dict[str, Callable[[], str]] = {}

    def text(self, value: Secret | str) -> str:
        """Return a value that stands in the file itself, or that of a secret.

        Raises:
            SourceRejectedError: The secret cannot be read, or has no such field.
        """
        if isinstance(value, str):
            return value
        if value.name not in self._texts:
            self._texts[value.name] = self._read(value.name)
        try:
            found = value.value_in(self._texts[value.name])
        except ValueError as error:
            raise SourceRejectedError(f"secret {value.name}: {error}") from None
        return self.keep(_label(value), found, lambda: self.text(value))

    def keep(self, label: str, value: str, source: Callable[[], str]) -> str:
        """Keep a value out of all texts from now on; `source` gives the one that replaces it."""
        self._known[value] = label
        self._sources[label] = source
        return value

    def promise(self, label: Secret | str, source: Callable[[], str] | None = None) -> None:
        """Say where the value comes from that an earlier call took out of a text."""
        if isinstance(label, Secret):
            self._sources[_label(label)] = partial(self.text, label)
        elif source:
            self._sources[label] = source

    def reread(self) -> None:
        """Read all secrets again when they are asked for: they may have been rotated."""
        self._texts.clear()

    def redact(self, text: str) -> str:
        """Return a text with a mark in place of each secret, whatever its encoding."""
        marks = {
            encoded: f"<secret {label}{form}>"
            for value, label in self._known.items()
            if len(value) >= LEAST
            for form, encoded in _forms(value)
        }
        # All at once, the longest first: one secret may be part of another, or of a mark.
        forms = sorted(marks, key=len, reverse=True)
        pattern = "|".join(map(re.escape, forms))
        return re.sub(pattern, lambda found: marks[found[0]], text) if forms else text

    def restore(self, text: str) -> str:
        """Return a text with the secrets of today in place of the marks.

        Raises:
            SourceShapeError: Something else was taken out than a secret or a token.
        """
        return _PLACE.sub(self._restored, text)

    def _restored(self, found: re.Match[str]) -> str:
        source = self._sources.get(found[1])
        if source is None:
            raise SourceShapeError(f"a link held {found[1]}, with which it cannot be made again")
        value = source()
        return dict(_forms(value, all_of_them=True)).get(found[2] or "", value)


def replace_texts(value: Any, replace: Callable[[str], str]) -> Any:
    """Return a value of JSON with each of its texts replaced; names of fields stay."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, list | tuple):
        return [replace_texts(each, replace) for each in value]
    if isinstance(value, dict):
        return {name: replace_texts(each, replace) for name, each in value.items()}
    return value


def _label(secret: Secret) -> str:
    return f"{secret.name}#{secret.field or ''}"


def _forms(value: str, *, all_of_them: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the forms of a value in addresses, and how each is called; the plain one first."""
    quoted = quote(value, safe="")
    lower = re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), quoted)
    found = {"": value, " %": quoted, " +": quote_plus(value), " %lower": lower}
    seen: set[str] = set()
    for form, encoded in found.items():
        if all_of_them or encoded not in seen:
            yield form, encoded
        seen.add(encoded)
