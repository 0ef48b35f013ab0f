"""The schemas accept what Lakekit accepts, and refuse what is wrong in one field."""

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from lakekit.project.schemas import MODELS, editor_comment, schema_of, write_schemas

ROOT = Path(__file__).parents[3]
FILES = [
    (folder.removesuffix("s"), file)
    for folder in ("contracts", "environments", "sources")
    for top in ("tests/project", "examples/*", "lakekit/project/template")
    for file in sorted(ROOT.glob(f"{top}/config/{folder}/*.yaml"))
]
SOURCE = "source: s\nbase_url: https://a.org\n"
CONTRACT = (
    "contract: c\nsource: s\nendpoint: {path: /a}\nschema: [{name: a, type: int}]\n"
    "history: {keys: [a]}\n"
)


def faults(kind: str, text: str) -> list[str]:
    found = Draft202012Validator(schema_of(kind)).iter_errors(yaml.safe_load(text) or {})
    return [each.message for each in found]


@pytest.mark.parametrize(("kind", "file"), FILES, ids=lambda each: str(each)[-30:])
def test_accepts_the_files_of_a_project(kind: str, file: Path) -> None:
    assert faults(kind, file.read_text().replace("{name}", "shop")) == []


@pytest.mark.parametrize("kind", MODELS)
def test_is_a_schema(kind: str) -> None:
    Draft202012Validator.check_schema(schema_of(kind))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("source", f"{SOURCE}auth: {{type: bearer, secret: a}}"),
        ("source", f"{SOURCE}auth: [{{type: bearer, secret: {{name: a, field: b}}}}]"),
        ("source", f"{SOURCE}auth: {{type: basic, username: me, secret: a}}"),
        ("source", f"{SOURCE}schedule: rate(1 day)"),
        ("source", f"{SOURCE}schedule: {{expression: rate(1 day), flexible_minutes: 5}}"),
        ("contract", CONTRACT),
        ("contract", CONTRACT.replace("/a}", "/a, params: {n: 1, yes: true, l: [1, a]}}")),
        ("contract", CONTRACT.replace("/a}", "/a, paginator: {type: page_number}}")),
        ("environment", "budget: {anomaly_usd: 5}"),
        ("environment", ""),
    ],
)
def test_accepts_each_form_that_is_accepted(kind: str, text: str) -> None:
    assert faults(kind, text) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("source", "base_url: https://a.example\n"),
        ("source", f"{SOURCE}auht: []"),
        ("source", f"{SOURCE}auth: {{type: bearer}}"),
        ("source", f"{SOURCE}timeout_seconds: 301"),
        ("contract", CONTRACT.replace("keys:", "key:")),
        ("contract", CONTRACT.replace("/a}", "/a, paginator: {type: nonsense}}")),
        ("environment", "regoin: eu-west-1"),
        ("environment", "account: 111111111111"),
    ],
)
def test_refuses_what_is_wrong_in_one_field(kind: str, text: str) -> None:
    assert faults(kind, text)


def test_files_find_the_schemas_by_their_first_line(tmp_path: Path) -> None:
    written = {file.relative_to(tmp_path).as_posix() for file in write_schemas(tmp_path)}

    for kind in MODELS:
        place = editor_comment(kind).partition("$schema=../")[2]
        assert place in written
    for kind, file in FILES:
        if "template" in str(file):
            assert file.read_text().startswith(editor_comment(kind))
