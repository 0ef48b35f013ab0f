"""The page as a file: its structure, its size, no resources from elsewhere, no values as tags."""

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from lakekit.page.model import Page
from lakekit.page.render import MOST_BYTES, render
from tests.unit.page import examples

PAGES = {
    "empty": examples.empty(),
    "one": examples.page(examples.table("orders", 0)),
    "trouble": examples.trouble(),
    "hostile": examples.hostile(),
}
VOID = {"meta", "link", "input", "br", "path", "rect", "circle"}


class Tags(HTMLParser):
    """Tags, ids and links of a page; a tag that is not closed is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def values(self, name: str) -> list[str]:
        return [value or "" for key, value in self.attributes if key == name]


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_is_whole_and_asks_for_nothing_from_elsewhere(page: Page) -> None:
    html = render(page)
    found = Tags(html)

    assert (found.tags["h1"], found.tags["main"], found.tags["script"]) == (1, 1, 1)
    assert found.tags["img"] == found.tags["iframe"] == 0
    assert not re.findall(r"(?:src|srcset|poster|xlink:href)\s*=", html.replace("src=x", ""))
    assert not re.search(r"@import|url\((?!data:)", html)
    assert all(link.startswith(("#", "data:,")) for link in found.values("href"))
    assert "default-src 'none'" in html


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_links_lead_to_a_part_of_the_page_and_ids_are_given_once(page: Page) -> None:
    found = Tags(render(page))
    ids = Counter(found.values("id"))

    assert set(ids.values()) == {1}
    assert {link[1:] for link in found.values("href") if link.startswith("#")} <= set(ids)


def test_no_value_becomes_a_tag() -> None:
    html = render(examples.hostile())

    assert "<img" not in html
    assert html.count("</script>") == 1
    assert html.count("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;") > 20
    assert not any(name.startswith("on") for name, _ in Tags(html).attributes)


def test_what_needs_a_person_comes_first_and_names_its_commands() -> None:
    html = render(examples.trouble())

    assert html.index('id="needs"') < html.index('id="tables"') < html.index('id="runs"')
    assert "lakekit landings orders 20261128_060000 --environment dev" in html
    assert "Nothing waits for a person." not in html


def test_an_empty_place_says_so() -> None:
    html = render(examples.empty())

    assert "Nothing waits for a person." in html
    assert "No tables yet." in html
    assert "No runs yet." in html


def test_drawings_say_in_words_what_they_show() -> None:
    html = render(examples.trouble())
    drawings = re.findall(r"<svg[^>]*>", html)

    assert drawings
    assert all("aria-hidden" in each or "aria-label" in each for each in drawings)


def test_a_hundred_tables_are_less_than_a_megabyte() -> None:
    html = render(examples.hundred())

    assert len(html.encode()) < MOST_BYTES
    assert html.count('<details class="t"') == 100
    assert html.count('class="chip">key') == 100


def test_what_would_be_too_large_has_fewer_details_and_says_so() -> None:
    tables = [examples.table(f"table_{n}", n, columns=40) for n in range(200)]

    html = render(examples.page(*tables))

    assert len(html.encode()) < 2 * MOST_BYTES
    assert "Details of the tables are left out" in html


def test_the_same_document_gives_the_same_page() -> None:
    page = Page.model_validate_json(examples.trouble().model_dump_json())

    assert render(page) == render(examples.trouble())
