"""A contract is read, or refused with the place of its fault."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from lakekit.contract.contract import Contract, history_faults, load_contract
from lakekit.contract.history import History
from lakekit.errors import InvalidContractError
from tests.unit.contract.people import GOOD


def test_loads_the_contract_that_ships():
    contract = load_contract(Path("config/contracts/airports.yaml").read_text())

    assert contract.keys == ("icao",)
    assert [column.name for column in contract.tracked[:2]] == ["iata", "name"]
    assert contract.maintenance.snapshots.min_to_keep == 5


def test_reports_every_fault_with_its_path():
    text = GOOD.replace("contract: people", "contract: People").replace("type: int", "type: integr")

    with pytest.raises(InvalidContractError) as fault:
        load_contract(text, name="people.yaml")

    assert "people.yaml: contract: " in str(fault.value)
    assert "people.yaml: schema.0.type: 'integr' is not a Spark SQL type" in str(fault.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("keys: [id]", "keyz: [id]", "unknown field; did you mean 'keys'?"),
        ("keys: [id]", "keys: []", "history: keys: scd2 needs at least one column"),
        ("keys: [id]", "keys: [nope]", "'nope' is not a column"),
        ("keys: [id]", "keys: [id, id]", "stands twice"),
        ("type: int}", "type: double}", "which cannot be a key"),
        ("name: order", "name: ID", "id stands twice"),
        ("name: order", "name: _op", "control column"),
        ("name: order", "name: _valid_from", "control column"),
        ("name: order", 'name: "x`; DROP TABLE y; --"', "schema.1.name"),
        (
            "contract: people",
            "contract: ../../other",
            "contract: must be at most 63 lower-case letters",
        ),
        (
            "contract: people",
            "contract: people\ncontract: other",
            "the key 'contract' stands twice",
        ),
        ("source: people_api", "source: &a people_api\nversion: *a", "aliases are not allowed"),
        ("source: people_api", "source: !!python/object:os.x {}", "could not determine"),
        ("path: /people", "path: https://other.example/x", "endpoint.path"),
        ("type: string", "type: 'decimal(40,2)'", "at most"),
        ("type: string", "type: 'map<int,int>'", "the keys of a map must be string"),
        ("type: string", "type: 'array<map<date,int>>'", "the keys of a map must be string"),
        ("history: {", "history: {max_deleted_ratio: 2, ", "history.max_deleted_ratio"),
    ],
)
def test_refuses(old, new, message):
    with pytest.raises(InvalidContractError, match=message.replace("?", r"\?")):
        load_contract(GOOD.replace(old, new))


@pytest.mark.parametrize(
    ("word", "read"),
    [("no", "false"), ("on", "true"), ("Yes", "true"), ("1", "1"), ("012", "10"), ("1.50", "1.5"),
     ("12:30", "750"), ("2026-01-31", "2026-01-31")],
)  # fmt: skip
def test_says_how_to_write_a_word_that_yaml_reads_as_something_else(word, read):
    for old, place in (("name: order", "schema.1.name"), ("contract: people", "contract")):
        field = old.partition(":")[0]
        with pytest.raises(InvalidContractError) as refused:
            load_contract(GOOD.replace(old, f"{field}: {word}"), name="c.yaml")
        assert f"c.yaml: {place}: must be text, but YAML reads it as {read}; put it in quotes" in (
            str(refused.value).splitlines()
        )
    with pytest.raises(InvalidContractError) as refused:
        load_contract(f"{GOOD}table: {{properties: {{{word}: x}}}}\n", name="c.yaml")
    assert str(refused.value).endswith(f'YAML reads the name {word} as {read}; write "{word}"')


def test_a_column_may_have_a_word_of_yaml_as_its_name_in_quotes():
    contract = load_contract(GOOD.replace("name: order", 'name: "no"'))

    assert contract.columns[1].name == "no"


@pytest.mark.parametrize("value", ["", "null", "~"])
def test_says_that_a_text_is_missing(value):
    with pytest.raises(InvalidContractError, match=r"schema\.1\.name: must be text, and is empty"):
        load_contract(GOOD.replace("name: order", f"name: {value}"))


@pytest.mark.parametrize("name", ["first-name", "first name", "1st", "größe", "a.b"])
def test_says_what_the_name_of_a_column_may_be(name):
    with pytest.raises(InvalidContractError) as refused:
        load_contract(GOOD.replace("name: order", f'name: "{name}"'))

    assert "schema.1.name: the name of a column must be at most 128 letters" in str(refused.value)
    assert "name the field of a record that is called otherwise with from" in str(refused.value)


def test_refuses_a_combination_without_a_file_too():
    contract = load_contract(GOOD)

    with pytest.raises(ValidationError, match=r"history\.keys: 'nope' is not a column"):
        Contract(**{**vars(contract), "history": History(keys=("nope",))})
    with pytest.raises(ValidationError, match=r"keys: scd2 needs at least one column"):
        History()
    with pytest.raises(ValidationError, match=r"schema\.1\.name: id stands twice"):
        Contract(**{**vars(contract), "columns": contract.columns[:1] * 2})


def test_names_each_fault_of_a_history_that_does_not_fit():
    contract = load_contract(GOOD)
    history = History(
        keys=("id", "id"),
        delete_scope=("missing",),
        except_columns=("id", "order"),
        sequence_by="order",
    )

    assert [str(fault) for fault in history_faults(history, contract.columns)] == [
        "history.keys: a column stands twice",
        "history.delete_scope: 'missing' is not a column of the schema",
        "history.sequence_by: 'order' is string; it must be one of timestamp, timestamp_ntz, date",
        "history.except_columns: 'id' is a key and must be stored",
        "history.except_columns: 'order' orders the records and must be stored",
    ]


@pytest.mark.parametrize("text", ["", "# nothing", "[1]", "a: [", "\x00"])
def test_refuses_what_is_not_a_mapping(text):
    with pytest.raises(InvalidContractError):
        load_contract(text)


def test_accepts_a_byte_order_mark_and_windows_lines():
    assert load_contract("\ufeff" + GOOD.replace("\n", "\r\n")).contract == "people"
