"""Where the records of an answer may be: lists, lists within wrappers, maps by id, one object."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lakekit.contract.endpoint.paths import Every, path_of
from lakekit.discover.form import Form
from lakekit.errors import SourceShapeError
from lakekit.extract.content.json_paths import Steps, UnreadableError, fields_of
from lakekit.records.json_values import Fields, Number, parsed

_MOST_LEVELS = 5
_USUAL = {
    "data", "items", "results", "records", "value", "rows", "entries", "content", "hits", "list",
    "objects", "elements", "result", "docs", "documents",
}  # fmt: skip
_UNUSUAL = {
    "links", "link", "errors", "warnings", "messages", "included", "meta", "facets", "columns",
    "fields", "aggregations", "filters", "sort",
}  # fmt: skip
_WRAPPERS = ("node", "_source", "resource")
_ID = re.compile(r"\d+|[0-9a-f-]{16,}|[A-Z0-9_-]{1,12}|\d{4}-\d\d-\d\d.*")
# Of a list that names the columns of another one; its objects have each name in one of the fields.
_HEADS = re.compile(r"\w*(col|field|head|name|label|schema|type)\w*", re.IGNORECASE)
_NAMES = ("name", "fieldName", "field", "title", "label", "key", "id")


@dataclass(frozen=True)
class Place:
    """Where records may be, as an endpoint says it, and what was seen there."""

    path: str
    saw: str
    count: int
    shape: str = "list"
    map_key: str | None = None
    score: int = 0

    @property
    def endpoint(self) -> dict[str, Any]:
        """The fields of an endpoint."""
        found: dict[str, Any] = {"records": self.path} if self.path != "$" else {}
        found |= {"shape": self.shape} if self.shape != "list" else {}
        return found | ({"map_key": self.map_key} if self.map_key else {})


def find_places(form: Form) -> list[Place]:
    """Return where the records may be, the likeliest place first.

    Raises:
        SourceShapeError: The answer is an error, holds no object, or has lists for records.
    """
    if form.name == "csv":
        return [Place("$", f"{len(form.rows)} rows", len(form.rows))]
    if form.name == "ndjson":
        return [Place("$", f"{len(form.lines)} lines", len(form.lines))]
    assert form.json is not None  # noqa: S101
    try:
        value = parsed(form.json.text)
    except ValueError:
        value = None
    if value is None:
        return [*_unparsed(form)]
    _refuse_error(value)
    found = sorted(_below((), value, form), key=lambda place: -place.score)
    _refuse_rows(value, found)
    if not found:
        raise SourceShapeError("the answer holds no object, so no record; a record is an object")
    return found


def _unparsed(form: Form) -> Iterator[Place]:
    """Yield the list at the top, of which single records may be no JSON."""
    assert form.json is not None  # noqa: S101
    candidates: list[Steps] = [()]
    if form.json.text.startswith(b"{"):
        candidates = [(name,) for name in fields_of(form.json.text)]
    for steps in candidates:
        try:
            items = form.json.items(steps)
        except (SourceShapeError, UnreadableError):
            continue
        yield Place(path_of(steps), f"a list of {len(items)}, some of which are no JSON",
                    len(items))  # fmt: skip


def _refuse_error(value: Any) -> None:
    fields = value.named() if isinstance(value, Fields) else {}
    errors = fields.get("errors") or fields.get("error")
    if errors and not fields.get("data"):
        shown = re.sub(r"\s+", " ", str(errors))[:200]
        raise SourceShapeError(f"the answer is an error: {shown}")


def _refuse_rows(value: Any, found: Sequence[Place]) -> None:
    """Refuse records that are lists of values, whose names are elsewhere."""
    lists = dict(_lists((), value))
    for steps, rows in lists.items():
        width = _width(rows)
        heads = [path_of(each) for each, items in lists.items() if _are_heads(each, items, width)]
        is_usual = not steps or str(steps[-1]).lower() in _USUAL
        best = max((each.score for each in found if each.path not in heads), default=-100)
        if width and (heads or is_usual) and _score(steps, rows) > best:
            where = f", and their names in {heads[0]}" if heads else ""
            raise SourceShapeError(
                f"{path_of(steps)} has {len(rows)} records as lists of {width} values{where}; a "
                "record is an object with the names of its fields: ask the API for objects or for "
                "CSV, often by a parameter such as format, and look again"
            )


def _lists(steps: Steps, value: Any) -> Iterator[tuple[Steps, list[Any]]]:
    """Yield the lists of an answer that are in no other list."""
    if isinstance(value, list):
        yield steps, value
    elif isinstance(value, Fields) and len(steps) < _MOST_LEVELS:
        for name, each in value:
            yield from _lists((*steps, name), each)


def _width(rows: list[Any]) -> int:
    """Return of how many values each item is a list; 0 if one is something else, or has objects."""
    widths = {0 if _has_objects(each) else len(each) for each in rows}
    return widths.pop() if len(widths) == 1 else 0


def _has_objects(item: Any) -> bool:
    return not isinstance(item, list) or all(isinstance(each, Fields) for each in item)


def _are_heads(steps: Steps, items: list[Any], width: int) -> bool:
    if len(items) != width or not steps or not _HEADS.fullmatch(str(steps[-1])):
        return False
    names = [_head(each) for each in items]
    return None not in names and len({*names}) == width


def _head(item: Any) -> str | None:
    if isinstance(item, Fields):
        fields = item.named()
        item = next((fields[name] for name in _NAMES if name in fields), None)
    return item if isinstance(item, str) and not isinstance(item, Number) else None


def _below(steps: Steps, value: Any, form: Form) -> Iterator[Place]:
    if len(steps) > _MOST_LEVELS:
        return
    if isinstance(value, list):
        yield from _list(steps, value)
        if not steps and not all(isinstance(each, Fields) for each in value):
            for number, each in enumerate(value[:4]):  # as in [{"page": 1}, [...]]
                if isinstance(each, list):
                    yield from _below((*steps, number), each, form)
    elif isinstance(value, Fields):
        yield from _object(steps, value, form)


def _object(steps: Steps, value: Fields, form: Form) -> Iterator[Place]:
    if entries := _map(steps, value):
        yield entries
    for name, each in value:
        if isinstance(each, Fields | list):
            yield from _below((*steps, name), each, form)
    if form.name == "xml" and _is_leaf(value) and steps:
        yield Place(path_of(steps), "one element with values; a list of one", 1, score=10)
    elif len(value) > 0:
        saw, score = f"one object with {_names(value)}", -50 - 5 * len(steps)
        yield Place(path_of(steps), saw, 1, "object", score=score)


def _is_leaf(value: Fields) -> bool:
    return bool(value) and not any(isinstance(each, Fields | list) for _, each in value)


def _list(steps: Steps, items: list[Any]) -> Iterator[Place]:
    objects = [each for each in items if isinstance(each, Fields)]
    others = [each for each in items if each is not None and not isinstance(each, Fields)]
    if len(others) * 10 > len(items) or (items and not objects):
        return
    score = _score(steps, items)
    what = f"a list of {len(items)}" + (f" with {_names(objects[0])}" if objects else "")
    for wrapper in _wrappers(objects):
        inner = [each.named().get(wrapper) for each in objects]
        if objects and all(isinstance(each, Fields) for each in inner):
            path = path_of((*steps, Every, wrapper))
            saw = f"a list of {len(items)}, each wrapped in `{wrapper}`"
            yield Place(path, saw, len(items), score=score + 5)
    yield Place(path_of(steps), what, len(items), score=score)


def _score(steps: Steps, items: list[Any]) -> int:
    """Return how likely a list has the records, by its name, its length and its depth."""
    name = str(steps[-1]).lower() if steps else ""
    score = min(len(items), 50) + (40 if name in _USUAL or not steps else 0)
    return score - 8 * len(steps) - (60 if name in _UNUSUAL else 0)


def _wrappers(objects: list[Fields]) -> Iterable[str]:
    """Return the fields that may hold a record each: usual ones, and one that is alone."""
    names = {name for each in objects for name in each.named()}
    return names if len(names) == 1 else _WRAPPERS


def _map(steps: Steps, value: Fields) -> Place | None:
    """Return a map whose values are the records: by ids, or by names with equal fields."""
    named = value.named()
    if len(named) < 2 or not all(isinstance(each, Fields) for each in named.values()):
        return None
    fields = [{*each.named()} for each in named.values()]
    common, most = set.intersection(*fields), max(map(len, fields))
    ids = sum(bool(_ID.fullmatch(name)) for name in named)
    if most == 0 or (len(common) * 2 < most and ids < len(named)):
        return None
    key = _own_key(named)
    saw = f"a map of {len(named)} objects by {'their own `' + key + '`' if key else 'names'}"
    score = min(len(named), 50) - 8 * len(steps) + (15 if ids == len(named) else -15)
    return Place(path_of(steps), saw, len(named), "map", None if key else "key", score)


def _own_key(named: dict[str, Any]) -> str | None:
    """Return the field that repeats the name of each record in a map."""
    first = next(iter(named.values())).named()
    for field in first:
        texts = [each.named().get(field) for each in named.values()]
        if all(isinstance(t, str) and t == name for t, name in zip(texts, named, strict=True)):
            return str(field)
    return None


def _names(value: Fields) -> str:
    names = [name if not isinstance(name, Number) else str(name) for name in value.named()]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
