"""The page on contracts names every option, its default, and every count of a merge."""

import re

from lakekit.batch import MergeResult
from lakekit.contract.history import History
from tests.docs.pages import ROOT, read

PAGE = read(ROOT / "docs/contracts.md")
HISTORY = PAGE[PAGE.index("## history") : PAGE.index("### Late changes")]
COUNTS = PAGE[PAGE.index("### What a merge says it did") :]


def rows(text: str) -> dict[str, str]:
    """Return the second cell of each row of the tables, by the names in its first."""
    cells = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| `")]
    return {
        name: second.strip() for first, second in cells for name in re.findall("`(.+?)`", first)
    }


def test_every_option_of_a_history_is_described_with_its_default() -> None:
    described = rows(HISTORY)
    options = History.model_fields

    assert list(described)[: len(options)] == list(options)
    for name, field in options.items():
        default = field.default
        if default is None or default == ():
            assert "`" not in described[name], name
        else:
            shown = f"[{', '.join(default)}]" if isinstance(default, tuple) else str(default)
            assert described[name].lower() == f"`{shown}`".lower(), name


def test_every_count_of_a_merge_is_described() -> None:
    counts = {name for name, field in MergeResult.model_fields.items() if field.default == 0}
    counts.discard("committed")

    assert set(rows(COUNTS)) >= counts
    assert {"snapshot_id", "committed"} <= set(re.findall("`(\\w+)`", COUNTS))
