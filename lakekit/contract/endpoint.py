"""One endpoint of a REST source: where its records are and how it pages."""

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from lakekit.models import Model

JsonPath = Annotated[str, StringConstraints(pattern=r"^\$(\.[A-Za-z_][A-Za-z0-9_-]*)*$")]
UrlPath = Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9_./~-]*$")]
PageSize = Annotated[int, Field(ge=1, le=100_000)]


class PageNumber(Model):
    """`?page=1`, `?page=2` …; ends at the page count under `total_path`, or at an empty page."""

    type: Literal["page_number"]
    page_param: str = "page"
    first_page: Annotated[int, Field(ge=0)] = 1
    total_path: JsonPath | None = None


class Offset(Model):
    """`?offset=0&limit=100` …; ends at the record count under `total_path`, or at an empty page."""

    type: Literal["offset"]
    limit: PageSize
    limit_param: str = "limit"
    offset_param: str = "offset"
    total_path: JsonPath | None = None


class Cursor(Model):
    """The next request carries the value under `cursor_path`; ends when it is null or absent."""

    type: Literal["cursor"]
    cursor_path: JsonPath
    cursor_param: str = "cursor"


class NextUrl(Model):
    """The next address stands under `next_path`; ends when it is null or absent."""

    type: Literal["next_url"]
    next_path: JsonPath


class LinkHeader(Model):
    """The next address stands in the `Link` header, relation `next`."""

    type: Literal["link_header"]


class SinglePage(Model):
    """One response holds everything."""

    type: Literal["single_page"]


Paginator = Annotated[
    PageNumber | Offset | Cursor | NextUrl | LinkHeader | SinglePage, Field(discriminator="type")
]


class Endpoint(Model):
    """Where the records of one table come from."""

    path: UrlPath
    params: dict[str, str] = Field(default_factory=dict)
    records: JsonPath = "$"
    paginator: Paginator = SinglePage(type="single_page")
    extract: Literal["full", "incremental", "changes"] = "full"


def path_parts(path: str) -> tuple[str, ...]:
    """Return the field names of a record path.

    Example:
        >>> path_parts("$.data.items")
        ('data', 'items')
    """
    return tuple(re.findall(r"\.([^.]+)", path))
