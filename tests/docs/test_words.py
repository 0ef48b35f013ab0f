"""The code speaks the field's words: names, docstrings, comments, messages and logs."""

import io
import re
import tokenize
from collections.abc import Iterator

import pytest

from tests.docs.pages import ROOT
from tests.docs.test_prose import PRIVATE

CODE = ("lakekit", "lambdas", "glue_jobs", "cdk", "benchmarks", "examples", "tests")
# They hold the words.
LISTS = ("tests/docs/test_prose.py", "tests/docs/test_words.py")
# Odd in pages, plain in code: packages are pinned, a state stands.
PLAIN_IN_CODE = {"pins?|pinned", "stands?", "nobody|somebody"}
WORDS = re.compile(
    rf"(?<![a-z])({'|'.join(words for words in PRIVATE if words not in PLAIN_IN_CODE)})(?![a-z])",
    re.IGNORECASE,
)
# Where the word is that of the domain: ValidateLanding writes verdicts, and CompleteRun fails with
# MissingEvidenceError, a name that the state machine matches.
ALLOWED = {
    "verdict": (
        "lakekit/landing/census.py", "lakekit/landing/validate.py", "lakekit/layout.py",
        "lakekit/operate/run_report.py", "lakekit/runs/", "tests/golden/", "tests/unit/operate/",
        "tests/unit/runs/",
    ),
    "evidence": (
        "lakekit/errors.py", "lakekit/replay/merged_runs.py", "lakekit/runs/complete_run.py",
        "tests/unit/runs/test_complete_run.py", "tests/unit/replay/test_merged_runs_refused.py",
    ),
    # Whether a thread, a process or a worker still runs.
    "alive": ("lakekit/cli/sandbox.py", "lakekit/sandbox/", "benchmarks/cluster.py", "tests/unit/"),
}  # fmt: skip
FILES = [
    path
    for folder in CODE
    for path in sorted((ROOT / folder).rglob("*.py"))
    if str(path.relative_to(ROOT)) not in LISTS
]


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of names, texts and comments; `_` and capitals part a name."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.STRING, tokenize.COMMENT):
            text = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", token.string.replace("_", " "))
            for number, line in enumerate(text.splitlines()):
                yield token.start[0] + number, line


def private_words(source: str, name: str) -> list[str]:
    return [
        f"{name}:{line}: {word}"
        for line, text in texts_of(source)
        for word, *_ in WORDS.findall(text)
        if not name.startswith(ALLOWED.get(word.lower().removesuffix("s"), ("-",)))
    ]


@pytest.mark.parametrize("folder", CODE)
def test_the_code_uses_the_words_of_the_field(folder: str) -> None:
    found = [
        each
        for path in FILES
        if path.relative_to(ROOT).parts[0] == folder
        for each in private_words(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    ]

    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "told_rows = 1\n",
        "class CompanionTable: ...\n",
        "x = 1  # written anew\n",
        '"""Gone."""\n',
        "def test_a_record_is_set_aside(): ...\n",
        "x = 'beside'\n",
        "heard2 = 1\n",
    ],
)
def test_a_private_word_would_be_found(source: str) -> None:
    assert len(private_words(source, "lakekit/x.py")) == 1


def test_a_word_of_the_domain_is_allowed_where_it_belongs() -> None:
    assert private_words("verdicts = []\n", "lakekit/landing/validate.py") == []
    assert private_words("verdicts = []\n", "lakekit/spark/run.py") != []
