"""Decimals enter the table as they were landed, or not at all."""

import pytest

from tests.spark.support.people import people
from tests.tiers import long

PRICED = people(columns={"name": "decimal(10,2)"})


def test_a_decimal_is_never_rounded_nor_read_as_another_number(load, rows):
    wrong = ['"12,50"', "1.234", "0.30000000000000004", '""', "1e20", "1.5e-2", '"x"', "123456789"]
    wrong += ['" 7.25 "', '"1e2"', '"1 000"', '"0x1"', "99999999.999", "-1e-20"]
    lines = [f'{{"id": {number}, "name": {price}}}' for number, price in enumerate(wrong)]

    done = load(1, *lines, *({"id": 90 + n, "name": 1.5} for n in range(14)), contract=PRICED)

    assert done.quarantined == len(wrong)
    assert [row[0] for row in rows("id")] == [90 + n for n in range(14)]


@pytest.mark.long
def test_a_decimal_may_be_written_in_many_ways(load, rows):
    says = {
        "1.5": "1.50", '"-1.50"': "-1.50", "2": "2.00", "1.50000": "1.50", "2.5e1": "25.00",
        "125E-1": "12.50", '"725E-2"': "7.25", "12345678.99": "12345678.99", "0.100e0": "0.10",
    }  # fmt: skip
    lines = [f'{{"id": {number}, "name": {price}}}' for number, price in enumerate(says)]

    done = load(1, *lines, contract=PRICED)

    assert done.quarantined == 0
    assert [str(row[1]) for row in rows("id, name")] == list(says.values())


@pytest.mark.parametrize("number", [long("123456789012345678.91"), '"123456789012345678.91"'])
def test_a_decimal_keeps_all_its_digits(load, rows, number):
    """Eighteen digits are more than a double has."""
    long = people(columns={"name": "decimal(20,2)"})

    load(1, f'{{"id": 1, "name": {number}}}', contract=long)

    assert str(rows("id, name")[0][1]) == "123456789012345678.91"


@pytest.mark.parametrize("kind", ["array<decimal(4,2)>", long("map<string,decimal(4,2)>")])
def test_nested_decimals_are_not_rounded_either(load, rows, kind):
    nested = people(columns={"name": kind})
    good, bad = ("[1.5]", "[1.255]") if kind.startswith("array") else ('{"a":1.5}', '{"a":1.255}')

    done = load(1, *(f'{{"id": 1, "name": {value}}}' for value in (good, bad)), contract=nested)

    assert done.quarantined == 1
    assert "1.50" in str(rows("id, CAST(name AS string)")[0][1])
