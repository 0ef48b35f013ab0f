"""What the answers of an endpoint are: their format, and where it is not their own to say."""

import codecs
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from lakekit.models import Model


def _is_charset(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(f"'{name}' is not a charset that is known") from None
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
