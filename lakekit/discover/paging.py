"""How the pages of an API may follow each other, by what its first answer and its address show."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lakekit.contract.endpoint.paths import path_of
from lakekit.discover.body import Fields as BodyFields
from lakekit.discover.places import Place
from lakekit.errors import SourceShapeError
from lakekit.extract import Answer
from lakekit.extract.content.json_paths import JsonText, Steps
from lakekit.extract.links import next_link
from lakekit.records.json_values import Fields, Number, parsed

_MOST_LEVELS = 4
_NEXT = re.compile(r".*next.*|cursor|endcursor|continuation\w*|after|scrollid|bookmark|marker")
_MORE = re.compile(r"(has|is)?more(results|items|data|pages|records)?|hasnext(page)?")
_LAST = re.compile(r"(is)?last(page)?|done|(is)?complete|finished")
_PAGES = re.compile(r"(total|num|number)(of)?pages?(count)?|pages|pages?(count|total)|lastpage")
_TOTAL = re.compile(
    r"(odata)?(total|count|found|numfound|hits|matches)|(total|num|full|overall)(of)?"
    r"(count|records|results|items|elements|size|hits|rows|entries|found|number)+|"
    r"(records|results|items)(total|found)"
)
_PAGE_PARAM = re.compile(r"page|p|pg|page\W?(no|num|number|index)\W?|current_?page", re.IGNORECASE)
_OFFSET_PARAM = re.compile(
    r"\$?(offset|skip|start|from|start_?index|page\W?offset\W?)", re.IGNORECASE
)
_LIMIT_PARAM = re.compile(
    r"\$?(limit|top|take|rows|count|size|max_?results|num|per_?page|page_?size|page\W?(size|limit)"
    r"\W?|length)", re.IGNORECASE,
)  # fmt: skip
_AFTER_PARAM = re.compile(r"(starting_?)?(after|since|last)(_?\w*id)?", re.IGNORECASE)
_NEXT_HEADER = re.compile(r"x-?(pagination-)?next-?(page|cursor|token|offset|page-token)", re.I)
_TOTAL_HEADER = re.compile(
    r"x-?(pagination-|wp-)?total(-?count|-?items|-?results|-?records)?", re.I
)
_PAGES_HEADER = re.compile(r"x-?(pagination-|wp-)?(total-?pages|page-?count|totalpages)", re.I)
# What a paginator sends if it names nothing else.
_USUAL_PARAMS = {
    "page_number": {"page_param": "page"},
    "offset": {"offset_param": "offset", "limit_param": "limit"},
    "cursor": {"cursor_param": "cursor"},
}


class PagingGuess(NamedTuple):
    """A paginator as a contract writes it, and what was seen that speaks for it.

    sends: the parameters that it sends itself.
    """

    paginator: dict[str, Any]
    saw: str
    sends: tuple[str, ...] = ()


class Scalar(NamedTuple):
    """A value around the records."""

    steps: Steps
    value: Any

    @property
    def name(self) -> str:
        """Its name without case and marks between words; of `href` and the like, the one above."""
        names = [str(step) for step in self.steps if isinstance(step, str)]
        own = names[-1] if names else ""
        if own.lower() in ("href", "url", "uri", "value", "cursor", "token") and len(names) > 1:
            own = names[-2]
        return re.sub(r"[\W_]", "", own).lower()

    @property
    def path(self) -> str:
        """Its path."""
        return path_of(self.steps)

    @property
    def number(self) -> int | None:
        """A whole number, or None."""
        is_whole = isinstance(self.value, Number) and self.value.is_whole and len(self.value) < 16
        return int(self.value) if is_whole else None

    @property
    def amount(self) -> int | None:
        """A whole number, also one that is written as a text, or None."""
        is_digits = re.fullmatch(r"\d{1,15}", self.text or "")
        return int(self.text or 0) if is_digits else self.number

    @property
    def text(self) -> str | None:
        """A text, or None."""
        is_text = isinstance(self.value, str) and not isinstance(self.value, Number)
        return self.value if is_text else None


class Around(NamedTuple):
    """What an answer shows around its records, and what was asked."""

    answer: Answer
    scalars: list[Scalar]
    records: int
    last: Mapping[str, Any]
    params: Mapping[str, list[str]]


def around(
    answer: Answer, text: JsonText | None, place: Place, last: Mapping[str, Any],
    params: Mapping[str, list[str]],
) -> Around:  # fmt: skip
    """Return what is around the records of an answer; `last` is the last record."""
    scalars: list[Scalar] = []
    if text is not None and place.path != "$":
        try:
            scalars = [*_scalars((), parsed(text.text), place.path)]
        except ValueError:
            scalars = []
    return Around(answer, scalars, place.count, last, params)


def _scalars(steps: Steps, value: Any, records: str) -> Iterator[Scalar]:
    here = path_of(steps)
    if len(steps) > _MOST_LEVELS or (steps and records == here):
        return
    if isinstance(value, Fields):
        for name, each in value:
            yield from _scalars((*steps, name), each, records)
    elif isinstance(value, list):
        is_on_the_way = records.startswith(here) and records != here and "[*]" not in records
        if is_on_the_way:
            for number, each in enumerate(value[:4]):
                yield from _scalars((*steps, number), each, records)
    else:
        yield Scalar(steps, value)


def propose_paginators(seen: Around) -> list[PagingGuess]:
    """Return ways in which the pages may follow each other, the likeliest first; never none."""
    found = [
        *_links(seen), *_next_urls(seen), *_cursors(seen), *_keysets(seen), *_numbered(seen),
    ]  # fmt: skip
    once = {str(guess.paginator): guess for guess in reversed(found)}
    ordered = [guess for guess in found if once.get(str(guess.paginator)) is guess]
    return [*ordered, PagingGuess({"type": "single_page"}, "nothing shows a second page")]


def probes(seen: Around) -> list[PagingGuess]:
    """Return what may be tried with an answer that shows nothing: parameters that are usual."""
    if not seen.records:
        return []
    (limit_param, limit), (_, total) = _limit(seen), _totals(seen)
    found = [PagingGuess({"type": "page_number"}, "page=2 was tried", ("page",))]
    # A page has a round number of records.
    if limit or total or seen.records % 5 == 0:
        name = limit_param or "limit"
        size = {"limit": limit or seen.records, "limit_param": name}
        saw = f"offset={limit or seen.records} was tried"
        ends = _counted(total, "offset")
        found.append(PagingGuess({"type": "offset", **size, **ends}, saw, ("offset", name)))
    return found


def in_body(
    guesses: Sequence[PagingGuess], fields: BodyFields, params: Collection[str]
) -> list[PagingGuess]:
    """Return the ways with their positions in the body, but for parameters of the address.

    Of a query of GraphQL only those are left whose variables it declares.
    """
    found: list[PagingGuess] = []
    for guess in guesses:
        names = _USUAL_PARAMS.get(guess.paginator["type"], {}) | {
            name: value for name, value in guess.paginator.items() if name.endswith("_param")
        }
        moved = {name: value for name, value in names.items() if value not in params}
        if fields.declared is None or {*moved.values()} <= {*fields.declared}:
            places = {value: fields.place(value) for value in moved.values()}
            paginator = guess.paginator | {name: places[value] for name, value in moved.items()}
            sends = tuple(places.get(name, name) for name in guess.sends)
            found.append(guess._replace(paginator=paginator, sends=sends))
    return found


def _links(seen: Around) -> Iterator[PagingGuess]:
    try:
        link = next_link(seen.answer.headers)
    except SourceShapeError:
        return
    if link is not None:
        yield PagingGuess({"type": "link_header"}, "the Link header names a next page")


def _next_urls(seen: Around) -> Iterator[PagingGuess]:
    for each in seen.scalars:
        if _NEXT.fullmatch(each.name) and each.text and _is_address(each.text):
            found = {"type": "next_url", "next_path": each.path, **_flag(seen)}
            yield PagingGuess(found, f"{each.path} is the address of a next page")
    for each in seen.scalars:
        is_null = each.value is None or each.value == ""
        names = {other.name for other in seen.scalars}
        if each.name in ("next", "nexturl", "nextpageurl", "nextlink") and is_null:
            is_usual = names & {"previous", "prev", "prevpageurl", "count", "nextlink", "nexturl"}
            if is_usual or len(each.steps) > 1:
                saw = f"{each.path} is null: this is the last page; it may be an address elsewhere"
                yield PagingGuess({"type": "next_url", "next_path": each.path}, saw)


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://", "/", "?")) and len(text) > 1


def _cursors(seen: Around) -> Iterator[PagingGuess]:
    for each in seen.scalars:
        is_url = each.text is not None and _is_address(each.text)
        value = each.text or each.number
        if re.fullmatch(r"next\w*(cursor|token)", each.name) and each.value in (None, ""):
            param = _params_of(str(each.steps[-1]), seen.params, is_number=False)[0]
            found = {"type": "cursor", "cursor_path": each.path, "cursor_param": param}
            saw = f"{each.path} is null: this is the last page; {param} is a guess"
            yield PagingGuess(found, saw, (param,))
        if not _NEXT.fullmatch(each.name) or not value or is_url or each.value is True:
            continue
        own = [step for step in each.steps if isinstance(step, str)]
        name = own[-2] if own[-1].lower() in ("value", "cursor", "token") and own[1:] else own[-1]
        for param in _params_of(name, seen.params, is_number=each.number is not None):
            found = {"type": "cursor", "cursor_path": each.path, "cursor_param": param}
            saw = f"{each.path} holds what may be a cursor, sent as {param}"
            yield PagingGuess(found | _flag(seen), saw, (param,))
    for name, value in seen.answer.headers.items():
        if _NEXT_HEADER.fullmatch(name) and value.strip():
            param = "page" if "page" in name.lower() and "token" not in name.lower() else "cursor"
            found = {"type": "cursor", "cursor_header": name, "cursor_param": param}
            yield PagingGuess(found, f"the header {name} is {value.strip()[:20]}", (param,))


def _params_of(name: str, params: Mapping[str, Any], *, is_number: bool) -> list[str]:
    """Return the parameters that may carry a cursor of a name, the likeliest first."""
    own = re.sub(r"(?i)^@?(odata\.)?next[_-]?", "", name)
    own = own[:1].lower() + own[1:]
    plain = re.sub(r"[\W_]", "", name).lower()
    found = [each for each in params if _NEXT.fullmatch(re.sub(r"[\W_]", "", each).lower())]
    found += [own] if own else []
    found += ["after"] if plain in ("endcursor", "after", "nextcursor") else []
    found += ["page"] if is_number and plain in ("next", "nextpage") else []
    found += ["cursor", name, "page_token"]
    return list(dict.fromkeys(each for each in found if each))[:4]


def _keysets(seen: Around) -> Iterator[PagingGuess]:
    flag = _flag(seen)
    own = [name for name in seen.last if re.fullmatch(r"\w*(_id|Id|ID)", name)]
    usual = [name for name in ("id", "_id", "uuid", "key") if name in seen.last]
    key = next(iter([*usual, *own]), None)
    if not flag or key is None:
        return
    shown = next(iter(flag.values()))
    given = [name for name in seen.params if _AFTER_PARAM.fullmatch(name)]
    usual_params = ["starting_after", "after", "since_id", "last_id", "after_id"]
    for param in dict.fromkeys([*given, *usual_params]):
        found = {"type": "keyset", "key_path": path_of((key,)), "key_param": param, **flag}
        saw = f"{shown} is a flag, and no cursor is there; {param} with the last `{key}`"
        yield PagingGuess(found, saw, (param,))


def _flag(seen: Around) -> dict[str, str]:
    for each in seen.scalars:
        if isinstance(each.value, bool):
            if _MORE.fullmatch(each.name):
                return {"has_more": each.path}
            if _LAST.fullmatch(each.name):
                return {"is_last": each.path}
    return {}


def _numbered(seen: Around) -> Iterator[PagingGuess]:
    pages, total = _totals(seen)
    offset, page = _own(seen, _OFFSET_PARAM), _own(seen, _PAGE_PARAM)
    limit_param, limit = _limit(seen)
    more = pages or total or _flag(seen)
    if offset or (total and not pages and not page and limit_param):
        name, saw = offset or ("offset", "a limit and a total, and no page")
        size: dict[str, Any] = {"limit": limit or max(seen.records, 1)}
        size |= {"limit_param": limit_param} if limit_param not in (None, "limit") else {}
        named = {"offset_param": name} if name != "offset" else {}
        found = {"type": "offset", **size, **named, **_counted(total, "offset"), **_flag(seen)}
        yield PagingGuess(found, saw, (name, limit_param or "limit"))
    if page or more:
        name, saw = page or ("page", _said(pages or total) or "a flag of more")
        named = {"page_param": name} if name != "page" else {}
        first = {"first_page": 0} if _first_page(seen, name) == 0 else {}
        ends = _counted(pages or total, "page_number", is_pages=bool(pages)) or _flag(seen)
        base = {"type": "page_number", **named}
        yield PagingGuess({**base, **first, **ends}, saw, (name,))
        if not first:
            yield PagingGuess({**base, "first_page": 0, **ends}, f"{saw}; counted from 0", (name,))


class _Stated(NamedTuple):
    key: str
    where: str
    number: int


def _totals(seen: Around) -> tuple[_Stated | None, _Stated | None]:
    """Return what states the pages, and what states the records."""
    pages = total = None
    for each in seen.scalars:
        number = each.amount
        if number is None:
            continue
        if _PAGES.fullmatch(each.name) and pages is None:
            pages = _Stated("path", each.path, number)
        elif _TOTAL.fullmatch(each.name) and total is None and number >= seen.records:
            total = _Stated("path", each.path, number)
    for name, value in seen.answer.headers.items():
        if value.strip().isdigit():
            if _PAGES_HEADER.fullmatch(name):
                pages = pages or _Stated("header", name, int(value))
            elif _TOTAL_HEADER.fullmatch(name):
                total = total or _Stated("header", name, int(value))
    if total and total.number <= seen.records and not _own(seen, _PAGE_PARAM):
        total = None if not _own(seen, _OFFSET_PARAM) else total
    return pages, total


def _counted(stated: _Stated | None, kind: str, *, is_pages: bool = False) -> dict[str, Any]:
    if stated is None:
        return {}
    total: dict[str, Any] = {stated.key: stated.where}
    if kind == "page_number" and not is_pages:
        total["counts"] = "records"
    return {"total": total}


def _said(stated: _Stated | None) -> str:
    return f"{stated.where} says {stated.number}" if stated else ""


def _own(seen: Around, names: re.Pattern[str]) -> tuple[str, str] | None:
    """Return a parameter of the address, or a number that the answer repeats, and which it is."""
    for name in seen.params:
        if names.fullmatch(name):
            return name, f"the request has the parameter {name}"
    for each in seen.scalars:
        own = str(each.steps[-1])
        # What an answer calls its page is often not what a request calls it.
        is_page = names is _PAGE_PARAM and each.name in ("number", "currentpage")
        if each.amount is not None and (names.fullmatch(own) or is_page):
            return "page" if is_page else own, f"the answer has {each.path}: {each.amount}"
    return None


def _limit(seen: Around) -> tuple[str | None, int | None]:
    for name, values in seen.params.items():
        if _LIMIT_PARAM.fullmatch(name) and values[0].isdigit() and int(values[0]) > 0:
            return name, int(values[0])
    for each in seen.scalars:
        own, number = str(each.steps[-1]), each.amount
        if number and _LIMIT_PARAM.fullmatch(own) and seen.records <= number <= 100_000:
            if own.lower() in ("count", "size") and number == seen.records:
                continue
            return own, number
    return None, None


def _first_page(seen: Around, name: str) -> int | None:
    given = seen.params.get(name)
    if given and given[0].isdigit():
        return int(given[0])
    for each in seen.scalars:
        is_page = str(each.steps[-1]) == name or each.name in ("number", "currentpage")
        if is_page and each.amount is not None:
            return each.amount
    return None
