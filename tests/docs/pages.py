"""The Markdown of the repository, read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """A fenced block."""

    page: str
    language: str
    text: str


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def snippets(language: str) -> list[Snippet]:
    return [
        Snippet(str(page.relative_to(ROOT)), language, text)
        for page in PAGES
        for found, text in _FENCE.findall(read(page))
        if found == language
    ]


def commands() -> Iterator[tuple[str, str]]:
    """Yield (page, command) of every line of a console block and every command in a sentence."""
    for snippet in snippets("console"):
        for line in snippet.text.replace("\\\n", " ").splitlines():
            yield snippet.page, line.partition("   #")[0].strip()
    for page in PAGES:
        for code in re.findall(r"`((?:lakekit|make) [^`]+)`", _FENCE.sub("", read(page))):
            yield str(page.relative_to(ROOT)), code


def headings(page: Path) -> set[str]:
    """Return the headings of a page as anchors."""
    titles = re.findall(r"^#+ (.+)$", _FENCE.sub("", read(page)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def links(page: Path) -> list[str]:
    """Return the addresses of links inside the repository."""
    found = re.findall(r"\]\(([^)\s]+)\)", _FENCE.sub("", read(page)))
    return [link for link in found if "://" not in link]
