"""How the pages of an endpoint follow each other, how they end, and what they are counted by."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, StringConstraints

from lakekit.contract.endpoint.paths import ValuePath, path_steps
from lakekit.contract.endpoint.request import Headers, JsonFields, Params, UrlPath
from lakekit.models import Model

PageSize = Annotated[int, Field(ge=1, le=100_000)]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")]
IN_BODY = "$."


def _is_place(place: str) -> str:
    if place.startswith((IN_BODY, "$[")) and not all(isinstance(s, str) for s in path_steps(place)):
        raise ValueError("must lead to a field of the request's body by names alone")
    return place


# The name of a parameter in the query, or a path into the body of the request.
Place = Annotated[str, StringConstraints(min_length=1), AfterValidator(_is_place)]


def _is_end(status: Any) -> Any:
    if status in (401, 408, 429):
        raise ValueError(f"{status} is never an end: it says that the request was not served")
    if isinstance(status, int) and status != 204 and not 400 <= status <= 499:
        raise ValueError("must be 204, or from 400 to 499")
    return status


EndStatus = Annotated[int, BeforeValidator(_is_end)]


class Total(Model):
    """What the source says there is: under a path of the body, or in a header.

    counts: what it is a number of; by default pages of `page_number`, records of others. appears:
    in every answer, or in the first alone. changes: whether it may differ from page to page; the
    last one counts then.
    """

    path: ValuePath | None = None
    header: HeaderName | None = None
    counts: Literal["pages", "records"] | None = None
    appears: Literal["every_page", "first_page"] = "every_page"
    changes: Literal["refused", "allowed"] = "refused"


class Paged(Model):
    """What all ways of paging share.

    has_more: path of a flag that is true as long as there is a next page. is_last: of one that is
    true on the last page. end_statuses: those that mean that there are no more pages.
    """

    has_more: ValuePath | None = None
    is_last: ValuePath | None = None
    total: Total | None = None
    end_statuses: tuple[EndStatus, ...] = ()

    @property
    def stated_total(self) -> Total | None:
        """The total that the source states, if it is declared."""
        return self.total

    @property
    def flag(self) -> str | None:
        """The path of the flag that says whether there is a next page."""
        return self.has_more or self.is_last


class Counted(Paged):
    """Pages that are asked for by a number. `total_path: X` is short for `total: {path: X}`."""

    total_path: ValuePath | None = None
    empty_pages: Literal["end", "skip"] = "end"

    @property
    def stated_total(self) -> Total | None:
        """The total that the source states, if it is declared."""
        return Total(path=self.total_path) if self.total_path else self.total


class PageNumber(Counted):
    """`?page=1`, `?page=2` …; ends at its total or flag, or at an empty page."""

    type: Literal["page_number"]
    page_param: Place = "page"
    first_page: Annotated[int, Field(ge=0)] = 1


class Offset(Counted):
    """`?offset=0&limit=100` …; ends at its total or flag, or at an empty page.

    overlap: how many records of a page the next one asks for again, to notice that records moved.
    """

    type: Literal["offset"]
    limit: PageSize
    limit_param: Place = "limit"
    offset_param: Place = "offset"
    overlap: Annotated[int, Field(ge=0, le=1000)] = 0


class Following(Model):
    """What replaces the endpoint's request from the second page on."""

    path: UrlPath | None = None
    params: Params | None = None
    headers: Headers = Field(default_factory=dict)
    json_fields: JsonFields | None = Field(None, alias="json")


class Cursor(Paged):
    """The next request carries what the answer has under `cursor_path` or in `cursor_header`.

    Ends when that is null, absent, empty or one of `end_values`. constant: it may stay the same, as
    that of a scroll; ends at an empty page then.
    """

    type: Literal["cursor"]
    cursor_path: ValuePath | None = None
    cursor_header: HeaderName | None = None
    cursor_param: Place = "cursor"
    end_values: tuple[JsonValue, ...] = ()
    constant: bool = False
    following: Following | None = None


class Keyset(Paged):
    """The next request carries a value of the last record; ends at its flag, or an empty page."""

    type: Literal["keyset"]
    key_path: ValuePath
    key_param: Place


class Linked(Paged):
    """Pages whose answers name the address of the next one.

    keep_params: those of the endpoint's parameters that the address gets if it lacks them.
    """

    keep_params: tuple[str, ...] = ()


class NextUrl(Linked):
    """The next address stands under `next_path`; ends when it is null, absent or empty."""

    type: Literal["next_url"]
    next_path: ValuePath


class LinkHeader(Linked):
    """The next address stands in the `Link` header, relation `next`."""

    type: Literal["link_header"]


class SinglePage(Model):
    """One response holds everything."""

    type: Literal["single_page"]


Paginator = Annotated[
    PageNumber | Offset | Cursor | Keyset | NextUrl | LinkHeader | SinglePage,
    Field(discriminator="type"),
]
