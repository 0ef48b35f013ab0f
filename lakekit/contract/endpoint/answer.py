"""What the answers of an endpoint are: their format, and where it is not their own to say."""

import codecs
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from lakekit.models import Model

_NOT_OF_TEXTS = {"idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined",
                 "unicode-escape"}  # fmt: skip


def charset_named(name: str) -> str:
    """Return the charset of a name, as Python calls it.

    Raises:
        ValueError: It is unknown.
    """
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        found = None
    is_text = found is not None and getattr(found, "_is_text_encoding", True)
    if found is None or not is_text or found.name.replace("_", "-") in _NOT_OF_TEXTS:
        raise ValueError(f"the charset '{name[:40]}' is unknown")
    return found.name


def _is_charset(name: str) -> str:
    charset_named(name)
    return name


Charset = Annotated[str, Field(max_length=40), AfterValidator(_is_charset)]
Sign = Annotated[str, Field(min_length=1, max_length=1, pattern=r"^[^\r\n\x00]$")]


class Answers(Model):
    """What answers of all formats have: a charset, if theirs is wrong or missing."""

    charset: Charset | None = None


class JsonAnswers(Answers):
    """One JSON text."""

    format: Literal["json"]


class NdjsonAnswers(Answers):
    """JSON lines; the list `$` of the records' path."""

    format: Literal["ndjson"]


class CsvAnswers(Answers):
    """Rows with a header, unless `columns` names them."""

    format: Literal["csv"]
    delimiter: Sign = ","
    quote: Sign = '"'
    columns: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


class XmlAnswers(Answers):
    """One XML text, read as JSON."""

    format: Literal["xml"]


Response = Annotated[
    JsonAnswers | NdjsonAnswers | CsvAnswers | XmlAnswers, Field(discriminator="format")
]
