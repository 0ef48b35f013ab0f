"""Earlier names of a table's columns, where another table has missed some renamings."""

import pytest

from lakekit.contract.contract import load_contract
from lakekit.sql.renames import missed_renamings, with_known_names

TEXT = """
contract: people
source: people_api
endpoint: {{path: /people}}
schema: [{{name: id, type: int}}{more}]
history: {{keys: [id]}}
"""


def contract(*columns):
    """A contract with an id and these columns, each a name or `new < old`."""
    parts = [column.split(" < ") for column in columns]
    fields = [
        f", {{name: {name}, type: int{', renamed_from: ' + old[0] if old else ''}}}"
        for name, *old in parts
    ]
    return load_contract(TEXT.format(more="".join(fields)))


@pytest.mark.parametrize(
    ("columns", "known", "steps", "found"),
    [
        (["town"], ["city"], [{"city": "town"}], {"town": "city"}),
        (["Town"], ["City"], [{"city": "town"}], {"Town": "City"}),
        (["place < town"], ["city"], [{"city": "town"}, {"town": "place"}], {"place": "city"}),
        # Nothing is recorded, or the contract itself says it.
        (["town"], ["city"], [], {}),
        (["town < city"], ["city"], [{"city": "town"}], {"town": "city"}),
        # The name is another column's, or is not there.
        (["city", "town"], ["city"], [{"city": "town"}], {}),
        (["town"], ["place"], [{"city": "town"}], {}),
        # A name that was given up may have been of another column.
        (["town"], ["city"], [{"city": "town"}, {"town": "place"}], {}),
        (["town"], ["city"], [{"town": "place"}, {"city": "town"}], {}),
    ],
)
def test_a_new_column_is_renamed_from_what_it_was_called(columns, known, steps, found):
    named = with_known_names(contract(*columns), ["id", *known], steps)

    renamed = {c.name: c.renamed_from for c in named.columns if c.renamed_from}
    assert renamed == found


STEPS = [{"city": "town"}, {"town": "place"}]


@pytest.mark.parametrize(
    ("columns", "steps", "known", "known_steps", "missed"),
    [
        (["place"], STEPS, ["place"], STEPS, {}),
        (["place"], STEPS, ["place"], [{"city": "place"}], {}),
        (["Place"], STEPS, ["City", "Place"], [{"town": "place"}], {"place": "city"}),
        # No row was written under the first name, or it is that of another column today.
        (["place"], STEPS, ["place"], [{"town": "place"}], {}),
        (["city", "town"], STEPS[:1], ["town", "city"], [], {}),
        # Another column has been taken for the one that had it first.
        (
            ["town", "metro"], [{"city": "metro"}, {"city": "town"}],
            ["town", "metro"], [{"city": "town"}], {"metro": "city"},
        ),
        (["town"], [], ["town"], [{"city": "town"}], {}),
    ],
)  # fmt: skip
def test_a_column_whose_first_name_stays_with_another_has_missed_a_renaming(
    columns, steps, known, known_steps, missed
):
    assert missed_renamings(contract(*columns), steps, ["id", *known], known_steps) == missed
