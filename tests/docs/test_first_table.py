"""The picture of a newcomer's first minutes: what it shows, and that it is of the recorded run."""

import html
import re

from tests.docs.pages import ROOT
from tools import first_table
from tools.first_table import Step, draw

PICTURE = ROOT / "docs/images/first-table.svg"
MOST_SECONDS = 5 * 60


def texts(picture: str) -> str:
    found = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    return html.unescape("".join(found)).replace("\xa0", " ")


def test_a_picture_shows_each_command_with_its_seconds() -> None:
    steps = [Step("lakekit init shop", "wrote a\nwrote b", 1.26, "a project"),
             Step("lakekit run <b>", "\n".join(map(str, range(99))), 2)]  # fmt: skip

    shown = texts(draw(steps))

    assert "$ lakekit init shop   1.3 s" in shown
    assert "from pip install to a project: 1 s" in shown
    assert "lakekit run <b>" in shown
    assert "…" in shown
    assert "50" not in shown


def test_the_picture_asks_for_nothing_of_the_network() -> None:
    found = set(re.findall(r"(?:href|src|url)\W{1,2}(https?:[^)\"']+)", PICTURE.read_text()))

    assert found == set()
    assert "@font-face" not in PICTURE.read_text()


def test_a_first_table_took_at_most_five_minutes() -> None:
    shown = texts(PICTURE.read_text())

    times = re.findall(r"from pip install to ([a-z ]+): (\d+) s", shown)
    assert [name for name, _ in times] == ["a first table", "its history"]
    assert int(times[0][1]) <= MOST_SECONDS
    for command in ("lakekit init", "lakekit add-source", "lakekit run", "lakekit history"):
        assert command in shown


def test_the_api_gives_a_page_by_its_token() -> None:
    with first_table.Api(0) as api:
        first, last = api.page(""), api.page("6")

    assert (len(first["data"]), first["meta"]) == (3, {"next_token": "3"})  # type: ignore[arg-type]
    assert (len(last["data"]), last["meta"]) == (2, {"next_token": None})  # type: ignore[arg-type]
