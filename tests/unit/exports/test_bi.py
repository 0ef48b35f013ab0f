"""Notes for reports: which view for which question, relationships, types."""

from lakekit.exports.bi import bi_notes
from tests.unit.exports.kit import ENVIRONMENT, contract

CUSTOMERS = contract("customers", "{keys: [customer_id]}", "  - {name: customer_id, type: int}\n")
ORDERS = contract(
    columns="  - {name: customer_id, type: int}\n  - {name: lines, type: 'array<string>'}\n"
)


def test_the_connection_is_that_of_the_environment() -> None:
    notes = bi_notes(ENVIRONMENT, [ORDERS])

    assert "| region | `eu-west-1` |" in notes
    assert "| database | `lakekit_dev` |" in notes
    assert "| workgroup | `lakekit-dev-queries` |" in notes


def test_a_question_has_its_view() -> None:
    notes = bi_notes(ENVIRONMENT, [contract(history="{keys: [id], deletes: mark}")])

    assert "| what is it now? | `orders_current` | one for each id |" in notes
    assert 'CREATE OR REPLACE VIEW "lakekit_dev"."orders_current" AS' in notes
    assert "WHERE _is_current AND _is_deleted IS DISTINCT FROM true" in notes


def test_modes_without_versions_have_other_questions() -> None:
    scd1 = bi_notes(ENVIRONMENT, [contract(history="{mode: scd1, keys: [id]}")])
    append = bi_notes(ENVIRONMENT, [contract(history="{mode: append}")])

    assert "what was it" not in scd1
    assert "orders_current" not in append


def test_relationships_are_looked_for_by_name_and_type() -> None:
    notes = bi_notes(ENVIRONMENT, [ORDERS, CUSTOMERS])

    assert "- `customer_id`, many to one, `customers_current`.`customer_id`" in notes
    assert notes.count("many to one") == 2  # customers have `id`, which is the key of orders


def test_types_are_those_of_the_tools() -> None:
    notes = bi_notes(ENVIRONMENT, [ORDERS])

    assert "| `id` | `integer` | Whole number | Integer |  |" in notes
    assert "| `lines` | `array(varchar)` | unnest it in a view | unnest it in a view |  |" in notes


def test_a_description_is_no_markdown() -> None:
    notes = bi_notes(ENVIRONMENT, [contract(description='"a | b\\n# c"')])

    assert "a \\| b # c" in notes
