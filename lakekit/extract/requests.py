"""The request at a position: what the contract says, with the position in its place."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

from lakekit.contract.endpoint import Endpoint
from lakekit.contract.endpoint.paginators import (
    Cursor,
    Following,
    Keyset,
    Linked,
    Offset,
    PageNumber,
    SinglePage,
)
from lakekit.contract.endpoint.paths import path_steps
from lakekit.contract.endpoint.placeholders import CURSOR, RunValues, fill, json_value, uses_cursor
from lakekit.contract.endpoint.request import Headers, Params
from lakekit.errors import SourceShapeError
from lakekit.extract.client import SourceRequest
from lakekit.extract.content.json_paths import value_of

Position = str | int
Pairs = list[tuple[str, str]]
_ACCEPT = {
    "json": "application/json", "ndjson": "application/x-ndjson, application/json",
    "csv": "text/csv", "xml": "application/xml, text/xml",
}  # fmt: skip
_KEPT_IN_A_PATH = "/:@!$&'()*+,;=%-._~"
_FORM = "application/x-www-form-urlencoded"
_PLAIN = Following()


class Requests:
    """Makes the requests of one endpoint in one run."""

    def __init__(self, base_url: str, endpoint: Endpoint, values: RunValues) -> None:
        self._base_url = base_url
        self._endpoint = endpoint
        self._values = values

    def at(self, position: Position) -> SourceRequest:
        """Return the request at a position; "" is that of the first page.

        The positions of cursors and keysets are JSON, those of links are addresses.
        """
        endpoint, paginator = self._endpoint, self._endpoint.paginator
        if isinstance(paginator, Linked) and position != "":
            return self._request(self._linked(str(position), paginator), [], {})
        instead = _following(endpoint, position)
        if CURSOR not in self._values.given and uses_cursor(instead.model_dump(by_alias=True)):
            values = self._values.with_given({CURSOR: str(position).encode()})
            return Requests(self._base_url, endpoint, values).at(position)
        placed = {} if CURSOR in self._values.given else _placed(endpoint, position)
        params = endpoint.params if instead.params is None else instead.params
        query = [(name, as_text(each)) for name, each in placed.items() if not _is_in_body(name)]
        in_body = {name: each for name, each in placed.items() if _is_in_body(name)}
        url = self._base_url + self.path(instead.path or endpoint.path or "")
        return self._request(url, [*self._pairs(params), *query], in_body, instead)

    def _request(
        self, url: str, query: Pairs, in_body: Mapping[str, Any], instead: Following = _PLAIN
    ) -> SourceRequest:
        endpoint = self._endpoint
        body, kind = self._body(in_body, instead)
        own = self.headers | self._filled_headers(instead.headers)
        usual = {"Accept": _ACCEPT["json" if endpoint.export else endpoint.response.format]}
        usual |= {"Content-Type": kind} if kind else {}
        taken = {name.lower() for name in own}
        headers = {n: v for n, v in usual.items() if n.lower() not in taken} | own
        answers = (*end_statuses(endpoint), *endpoint.absent_statuses)
        accepted = frozenset(status for status in answers if status >= 400)
        paginator = endpoint.paginator
        is_scroll = isinstance(paginator, Cursor) and paginator.constant
        return SourceRequest(
            url, tuple(query), endpoint.sends, headers, body, accepted, repeatable=not is_scroll
        )

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its own."""
        return self._filled_headers(self._endpoint.headers)

    def _filled_headers(self, headers: Headers) -> Headers:
        return {name: fill(value, self._values, _in_a_header) for name, value in headers.items()}

    def path(self, template: str) -> str:
        """Return a path of the contract as it is asked for.

        Raises:
            SourceShapeError: What a source has given would lead to another path.
        """
        path = fill(template, self._values, lambda text: quote(text, safe=""))
        if re.search(r"(^|/)\.\.?(/|$)", path):
            raise SourceShapeError(f"{path[:200]} would lead to another path than {template}")
        return quote(path, safe=_KEPT_IN_A_PATH)

    def _pairs(self, params: Params) -> Pairs:
        return [
            (name, fill(each, self._values))
            for name, value in params.items()
            for each in ([value] if isinstance(value, str) else value)
        ]

    def _linked(self, url: str, paginator: Linked) -> str:
        """Return an address of the source, with the parameters that it should keep."""
        query = urlsplit(url).query
        there = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
        own = self._pairs(self._endpoint.params)
        kept = [pair for pair in own if pair[0] in paginator.keep_params and pair[0] not in there]
        before = "&" if query else "?"
        return f"{url.rstrip('?')}{before}{urlencode(kept)}" if kept else url

    def _body(self, placed: Mapping[str, Any], instead: Following) -> tuple[bytes | None, str]:
        body = self._endpoint.body
        if body is None:
            return None, ""
        if body.form is not None:
            names = {str(path_steps(place)[0]): as_text(each) for place, each in placed.items()}
            pairs = [pair for pair in self._pairs(body.form) if pair[0] not in names]
            return urlencode([*pairs, *names.items()]).encode(), _FORM
        fields = body.json_fields if instead.json_fields is None else instead.json_fields
        if body.graphql is not None and instead.json_fields is None:
            fields = {
                "query": body.graphql.query,
                "variables": self._filled(body.graphql.variables),
            }
        else:
            fields = self._filled(fields)
        for place, each in placed.items():
            _put(fields, path_steps(place), each)
        return msgspec.json.encode(fields), "application/json"

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            alone = json_value(value, self._values)
            return fill(value, self._values) if alone is None else msgspec.Raw(alone)
        if isinstance(value, dict):
            return {name: self._filled(each) for name, each in value.items()}
        return [*map(self._filled, value)] if isinstance(value, list) else value


def end_statuses(endpoint: Endpoint) -> tuple[int, ...]:
    """Return the statuses that mean that there are no more pages."""
    paginator = endpoint.paginator
    return () if isinstance(paginator, SinglePage) else paginator.end_statuses


def as_text(value: Any) -> str:
    """Return a position as the text of a parameter: a string without quotes, other JSON as it is.

    Raises:
        SourceShapeError: It is no text.
    """
    if not isinstance(value, msgspec.Raw):
        return str(value)
    text = bytes(value)
    return str(value_of(text, "the cursor")) if text.startswith(b'"') else text.decode()


def _following(endpoint: Endpoint, position: Position) -> Following:
    paginator = endpoint.paginator
    is_first = position == "" or not isinstance(paginator, Cursor)
    return _PLAIN if is_first else paginator.following or _PLAIN  # type: ignore[union-attr]


def _placed(endpoint: Endpoint, position: Position) -> dict[str, Any]:
    """Return what the paginator sends, by its places: names of parameters, paths in the body."""
    paginator = endpoint.paginator
    if isinstance(paginator, PageNumber):
        return {paginator.page_param: position}
    if isinstance(paginator, Offset):
        return {paginator.offset_param: position, paginator.limit_param: paginator.limit}
    if isinstance(paginator, Cursor | Keyset) and position != "":
        place = paginator.key_param if isinstance(paginator, Keyset) else paginator.cursor_param
        return {place: msgspec.Raw(str(position).encode())}
    return {}


def _in_a_header(text: str) -> str:
    if not re.fullmatch(r"[!-~]([ -~]*[!-~])?", text):
        raise SourceShapeError(f"{text[:100]!r} has signs that no header may have")
    return text


def _is_in_body(place: str) -> bool:
    return place.startswith(("$.", "$["))


def _put(fields: Any, steps: Iterable[Any], value: Any) -> None:
    *above, last = steps
    for step in above:
        if not isinstance(fields.get(step), dict):
            fields[step] = {}
        fields = fields[step]
    fields[last] = value
