"""Documents in the landing bucket: written by one release, read by the one before and the next.

A reader ignores fields that it does not know, also within the sources and contracts that a
document carries. What it could not ignore gets a higher `schema_version`, and is refused.
"""

import json
from typing import Any, ClassVar, Self

from pydantic import ValidationError

from lakekit.errors import LandingCorruptError, NewerDocumentError
from lakekit.models import Model, describe_faults


class Document(Model):
    """A value with a version: that of its writer's form."""

    VERSION: ClassVar[int] = 1
    schema_version: int = 1

    @classmethod
    def parse(cls, text: bytes, *, name: str) -> Self:
        """Read a document.

        Args:
            text: JSON.
            name: How errors call it.

        Raises:
            LandingCorruptError: It is not what its name says.
            NewerDocumentError: A newer release wrote it in a form that this one cannot read.
        """
        try:
            value = json.loads(text)
        except ValueError:
            raise LandingCorruptError(f"{name}: not a {cls.__name__}: no JSON") from None
        version = value.get("schema_version", 1) if isinstance(value, dict) else 1
        if isinstance(version, int) and version > cls.VERSION:
            raise NewerDocumentError(
                f"{name}: has schema_version {version}, this release reads {cls.VERSION}; deploy "
                "the release that wrote it, or a later one"
            )
        try:
            return cls._tolerant(value)
        except ValidationError as error:
            faults = describe_faults(error, cls, name)
            raise LandingCorruptError(f"{name}: not a {cls.__name__}: {faults}") from None

    def to_json(self) -> bytes:
        """Return the document's text; fields have the names that a person writes."""
        return self.model_dump_json(indent=2, by_alias=True).encode()

    @classmethod
    def _tolerant(cls, value: Any) -> Self:
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            unknown = [each["loc"] for each in error.errors() if each["type"] == "extra_forbidden"]
            if not unknown:
                raise
            for path in unknown:
                _remove(value, path)
            return cls._tolerant(value)


def _remove(value: Any, path: tuple[str | int, ...]) -> None:
    """Remove a field from plain values; the path may name members of unions on its way."""
    for part in path[:-1]:
        if isinstance(value, dict):
            value = value.get(part, value)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part]
    del value[path[-1]]
