"""What does not fit together in an endpoint of a contract.

The endpoint comes as a person wrote it. What did not parse is None here: it counts as given, and
what depends on it is not judged.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from lakekit.contract.endpoint.export import export_faults
from lakekit.contract.endpoint.incremental import incremental_faults
from lakekit.contract.endpoint.parent import parent_faults
from lakekit.contract.endpoint.paths import Every, path_steps
from lakekit.contract.endpoint.placeholders import CURSOR, placeholders_in
from lakekit.models import Fault, child

_PLACES: Mapping[object, Mapping[str, str]] = {
    "page_number": {"page_param": "page"},
    "offset": {"offset_param": "offset", "limit_param": "limit"},
    "cursor": {"cursor_param": "cursor"},
    "keyset": {"key_param": ""},
}
_IN_AN_ANSWER = ("has_more", "is_last", "total_path", "cursor_path", "next_path")
_ENDS = ("has_more", "is_last", "total_path", "total")
_ASKING = ("method", "params", "headers", "body", "incremental", "parent", "export")
_NO_PATH = object()
Parts = Mapping[str, Any]


def endpoint_faults(endpoint: Parts) -> Iterator[Fault]:
    """Yield which options of an endpoint do not go together; their places begin at the file."""
    paginator = _part(endpoint, "paginator")
    found = chain(
        _path_faults(endpoint),
        _request_faults(endpoint),
        _shape_faults(endpoint),
        _end_faults(paginator),
        _total_faults(paginator),
        _cursor_faults(paginator),
        _place_faults(endpoint, paginator),
        _following_faults(endpoint, paginator),
        _format_faults(endpoint, paginator),
        incremental_faults(endpoint),
        parent_faults(endpoint),
        export_faults(endpoint),
    )
    for fault in found:
        yield Fault(("endpoint", *fault.path), fault.message)


def _part(parts: Parts, name: str) -> Parts:
    value = parts.get(name)
    return value if isinstance(value, Mapping) else {}


def _path_faults(endpoint: Parts) -> Iterator[Fault]:
    if endpoint.get("path", _NO_PATH) is not _NO_PATH:
        return
    asking = [name for name in _ASKING if endpoint.get(name)]
    if _part(endpoint, "paginator").get("type", "single_page") != "single_page":
        asking.append("paginator")
    if endpoint.get("records", "$") != "$":
        asking.append("records")
    if asking:
        must = "a table of dropped files alone has neither"
        yield Fault(("path",), f"is missing, and {asking[0]} is about requests; {must}")


def _request_faults(endpoint: Parts) -> Iterator[Fault]:
    if "body" in endpoint and endpoint.get("method") == "GET":
        yield Fault(("method",), "GET has no body; leave method out, or make it POST")
    if isinstance(body := endpoint.get("body"), Mapping):
        given = [name for name in ("json", "form", "graphql") if name in body]
        if len(given) != 1:
            yield Fault(("body",), "give exactly one of json, form and graphql")


def _shape_faults(endpoint: Parts) -> Iterator[Fault]:
    shape, path = endpoint.get("shape", "list"), endpoint.get("records")
    if "map_key" in endpoint and shape in ("list", "object"):
        yield Fault(("map_key",), "needs shape: map")
    if shape in ("map", "object") and isinstance(path, str) and Every in path_steps(path):
        yield Fault(("records",), f"with shape: {shape} it must lead to one value, without [*]")


def _end_faults(paginator: Parts) -> Iterator[Fault]:
    if "has_more" in paginator and "is_last" in paginator:
        yield _in("is_last", "give has_more or is_last, not both")
    skips = paginator.get("empty_pages") == "skip"
    if skips and not any(name in paginator for name in _ENDS):
        must = "skip needs has_more, is_last or total, or the pages would never end"
        yield _in("empty_pages", must)


def _total_faults(paginator: Parts) -> Iterator[Fault]:
    if "total" in paginator and "total_path" in paginator:
        yield _in("total_path", "is short for total: {path: …}; give one of them")
    if not isinstance(total := paginator.get("total"), Mapping):
        return
    if ("path" in total) == ("header" in total):
        yield _in("total", "give either path or header")
    if total.get("counts") == "pages" and paginator.get("type") == "offset":
        yield Fault(("paginator", "total", "counts"), "offset counts records")
    if total.get("appears") == "first_page" and total.get("changes") == "allowed":
        must = "a total that appears on the first page alone does not change"
        yield Fault(("paginator", "total", "changes"), must)


def _cursor_faults(paginator: Parts) -> Iterator[Fault]:
    if paginator.get("type") != "cursor":
        return
    if ("cursor_path" in paginator) == ("cursor_header" in paginator):
        yield Fault(("paginator",), "cursor needs either cursor_path or cursor_header")
    if paginator.get("constant") is True and "total" not in paginator:
        must = "needs total: an answer that is lost on its way would be a page that is lost"
        yield _in("constant", must)


def _place_faults(endpoint: Parts, paginator: Parts) -> Iterator[Fault]:
    """Yield positions that have no body to be in, or that a parameter of the contract takes."""
    body, params = endpoint.get("body"), _part(endpoint, "params")
    for name, default in _PLACES.get(paginator.get("type"), {}).items():
        place = paginator.get(name, default)
        if not isinstance(place, str):
            continue
        if place in params:
            yield Fault(("params", place), f"the paginator sends it; see {name}")
        elif place.startswith(("$.", "$[")) and "body" not in endpoint:
            yield _in(name, f"{place} is in the request's body; give the endpoint a body")
        elif _is_in_form(place, body) and len(path_steps(place)) > 1:
            yield _in(name, f"{place} is no field of a form; write $.name")


def _is_in_form(place: str, body: object) -> bool:
    return place.startswith(("$.", "$[")) and isinstance(body, Mapping) and "form" in body


def _following_faults(endpoint: Parts, paginator: Parts) -> Iterator[Fault]:
    elsewhere = {name: each for name, each in paginator.items() if name != "following"}
    if CURSOR in _used({**endpoint, "paginator": elsewhere}):
        yield _in("following", f"{{{CURSOR}}} may be in following, as the first page has none")
    if "cursor_param" in paginator and CURSOR in _used(paginator.get("following")):
        yield _in("cursor_param", f"following has {{{CURSOR}}} instead; leave one of them out")
    following, body = _part(paginator, "following"), endpoint.get("body")
    has_json = isinstance(body, Mapping) and "json" in body
    if "json" in following and not has_json and ("body" not in endpoint or body is not None):
        yield Fault(("paginator", "following", "json"), "replaces body.json; give the endpoint one")


def _format_faults(endpoint: Parts, paginator: Parts) -> Iterator[Fault]:
    form = child(endpoint.get("response"), "format")
    if form not in ("csv", "ndjson"):
        return
    none = f"answers of {form} have no such path"
    for name in _IN_AN_ANSWER:
        if name in paginator:
            yield _in(name, none)
    if "path" in _part(paginator, "total"):
        yield Fault(("paginator", "total", "path"), none)
    if endpoint.get("errors"):
        yield Fault(("errors",), none)
    if endpoint.get("shape") in ("map", "object"):
        yield Fault(("shape",), f"answers of {form} are lists")
    path = endpoint.get("records")
    if form == "ndjson" and isinstance(path, str) and path_steps(path)[:1] not in ((), (Every,)):
        yield Fault(("records",), "lines of ndjson are the list $; write $[*].name for a part")
    if form == "csv" and endpoint.get("records", "$") not in (None, "$"):
        yield Fault(("records",), "rows of csv have no path; leave it out")


def _used(value: Any) -> set[str]:
    return {name for name, _ in placeholders_in(value)}


def _in(name: str, message: str) -> Fault:
    return Fault(("paginator", name), message)
