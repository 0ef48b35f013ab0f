"""The product's tests have a project of their own: to remove the example breaks none of them."""

import re
from pathlib import Path

from tests.examples import OF_THE_EXAMPLE

TESTS = Path(__file__).parents[2]
# One lists what the wheel has of the example, while it is there; the others say where it is.
KNOWING = {"infra/test_distribution.py", "examples.py", "unit/examples/test_apart.py"}
NAMED = re.compile(r"examples[./]airports|product\.example(_api)?\(")


def test_only_tests_of_the_example_name_it() -> None:
    naming = {
        file.relative_to(TESTS).as_posix()
        for file in TESTS.rglob("*.py")
        if NAMED.search(file.read_text(encoding="utf-8"))
    }

    assert naming - KNOWING <= {*OF_THE_EXAMPLE}


def test_those_of_the_example_are_there() -> None:
    assert [name for name in OF_THE_EXAMPLE if not (TESTS / name).is_file()] == []
