"""Documents: written by one release, read by the one before it and by all later ones.

A reader ignores fields that it does not know, also within the sources and contracts that a
document carries. What it could not ignore gets a higher `schema_version`, and is refused.
`tests/golden` keeps what each release wrote, and by which rules it read.
"""

import json
from typing import Any, ClassVar, Self

from pydantic import ValidationError

from lakekit.errors import LandingCorruptError, NewerDocumentError
from lakekit.models import Model, describe_faults


class Document(Model):
    """A value with a version: that of its writer's form.

    VERSION: the highest that is read; it may be raised one release before it is written.
    """

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
        refuse_newer(value, cls.VERSION, name=name)
        try:
            return cls.model_validate(value, extra="ignore")
        except ValidationError as error:
            faults = describe_faults(error, cls, name)
            raise LandingCorruptError(f"{name}: not a {cls.__name__}: {faults}") from None

    def to_json(self) -> bytes:
        """Return the document's text; fields have the names that a person writes."""
        return self.model_dump_json(indent=2, by_alias=True).encode()


def refuse_newer(value: Any, reads: int, *, name: str) -> None:
    """Refuse a value of a higher `schema_version` than a reader knows.

    Raises:
        NewerDocumentError: It has one.
    """
    version = value.get("schema_version", 1) if isinstance(value, dict) else 1
    if isinstance(version, int) and version > reads:
        raise NewerDocumentError(
            f"{name}: has schema_version {version}, this release reads {reads}; deploy the release "
            "that wrote it, or a later one"
        )
