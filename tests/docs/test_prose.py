"""The pages are plain: short sentences, cells that hold no rules, and the field's words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, read

MOST_WORDS = 40
MOST_WORDS_OF_A_CELL = 25
# Words of an earlier private language, and what a page says instead.
PRIVATE = {
    "told|tells?|telling": "record, show, say",
    "companions?": "change journal, or the tables of a table",
    "facts?": "change event, journal entry",
    "beside": "with, next to, in addition to",
    "anew": "again, rewritten",
    "gone": "deleted, missing",
    "alive": "current",
    "moments?": "event time, time",
    "unheard|heard": "ineffective, effective",
    "settled?|settles|settling": "re-derive, decide",
    "sift(ed|s|ing)?": "skip",
    "verdicts?": "result",
    "pins?|pinned": "baseline, recorded",
    "evidence": "published run",
    "remember(s|ed|ing)?|forg[eo]ts?|forgotten": "record, keep, lose",
    "stands?": "is, lies",
    "set aside": "reject as late",
    "nobody|somebody": "no one; better, who it is",
}
# Where plain English needs one: packages are pinned.
ALLOWED = {("docs/benchmarks.md", "pinned"), ("docs/adr/0004-wheels-for-glue.md", "pinned")}
# Openings that put the sentence upside down.
INVERTED = re.compile(r"(Of|Whose|Whoever) ")

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_INLINE = re.compile(r"``.+?``|`[^`]+`")
_STARTS_A_BLOCK = re.compile(r"\s*([-*] |\d+\. |#+ |\||>)")
_RULE = re.compile(r"[|\s:-]+")


def plain(text: str) -> str:
    """Return Markdown without code blocks and link targets; code in a sentence is one word."""
    return _INLINE.sub("Code", _LINK.sub(r"\1", _INLINE.sub("Code", _CODE.sub("", text))))


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, items and headings; the cells of a table are blocks of their own."""
    held: list[str] = []
    for line in [*plain(text).splitlines(), ""]:
        if held and (not line.strip() or _STARTS_A_BLOCK.match(line)):
            yield " ".join(held)
            held = []
        if line.startswith("|"):
            yield from cells_of(line)
        elif line.strip():
            held.append(_STARTS_A_BLOCK.sub("", line, count=1).strip())


def cells(text: str) -> Iterator[str]:
    for line in plain(text).splitlines():
        if line.startswith("|"):
            yield from cells_of(line)


def cells_of(line: str) -> list[str]:
    return [] if _RULE.fullmatch(line) else [cell.strip() for cell in line.split("|")[1:-1]]


def sentences(block: str) -> list[str]:
    return [each for each in re.split(r"(?<=[.!?])[\"')*]*\s+", block) if each]


def words(sentence: str) -> int:
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


each_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@each_page
def test_a_sentence_has_at_most_forty_words(page: Path) -> None:
    long = [s for block in blocks(read(page)) for s in sentences(block) if words(s) > MOST_WORDS]

    assert long == []


@each_page
def test_a_cell_says_one_short_sentence(page: Path) -> None:
    crowded = [
        cell
        for cell in cells(read(page))
        if len(sentences(cell)) > 1 or words(cell) > MOST_WORDS_OF_A_CELL
    ]

    assert crowded == []


@each_page
def test_a_page_uses_the_words_of_the_field(page: Path) -> None:
    text = "\n".join(blocks(read(page)))
    found = {
        (match[0], instead)
        for words_, instead in PRIVATE.items()
        for match in re.finditer(rf"\b({words_})\b", text, re.IGNORECASE)
        if (name_of(page), match[0].lower()) not in ALLOWED
    }

    assert found == set()


@each_page
def test_a_sentence_begins_with_its_subject(page: Path) -> None:
    inverted = [s for block in blocks(read(page)) for s in sentences(block) if INVERTED.match(s)]

    assert inverted == []


def test_code_and_addresses_do_not_count() -> None:
    text = "A `gone b c` [word](beside.md).\n\n```sh\ntold\n```\n\n| a `b c` | d. |\n|---|---|\n"

    assert list(blocks(text)) == ["A Code word.", "a Code", "d."]


def test_an_item_of_a_list_is_read_to_its_end() -> None:
    text = "- One and\n  two. Three.\n- Four\n\n1. Five\n"

    found = [sentences(block) for block in blocks(text)]

    assert found == [["One and two.", "Three."], ["Four"], ["Five"]]
