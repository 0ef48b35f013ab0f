"""The dialogue of the page on sources is played: the same questions, the same files."""

import re
from pathlib import Path

import pytest

from lakekit.cli.first.add_source import Said, add
from lakekit.cli.first.dialogue import Person
from lakekit.cli.output import say
from tests.docs.pages import ROOT, read
from tests.unit.cli import apis

PAGE = read(ROOT / "docs/sources.md")
[TRANSCRIPT] = re.findall(r"```text\n(What is the name of the table.*?)```", PAGE, re.DOTALL)
PROMPT = re.compile(
    r"(?:table|records|pages|nested|columns|key|change time|extract|write)(?: \[[^\]]*\])?:(.*)"
)


def test_the_dialogue_of_the_page_is_the_one_that_a_person_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [PROMPT.fullmatch(line) for line in TRANSCRIPT.splitlines()]
    given = [match[1].strip() for match in found if match]
    left = iter(given)

    def line() -> str:
        answer = next(left)
        say(answer)  # as a terminal echoes it
        return answer

    with apis.serving(apis.stripe) as (base, _):
        person = Person(line, lambda _: "")
        for file in add(Said(f"{base}/v1/customers", "shop"), person, tmp_path):
            say(f"wrote {file}")

    shown = capsys.readouterr().out.replace(base, "https://shop.example")
    shown = shown.replace(str(tmp_path), "config").strip()
    assert [each.rstrip() for each in shown.splitlines()] == TRANSCRIPT.strip().splitlines()
    assert [each for each in given if each] == ["address"]
