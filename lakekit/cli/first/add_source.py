"""`lakekit add-source`: from the address of an API to the files of a source and of its table."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from pydantic import TypeAdapter, ValidationError

from lakekit.cli.first.dialogue import Asker, Question, chosen_asker
from lakekit.cli.first.interview import Interview
from lakekit.cli.first.look import Given, given_of, look, open_api
from lakekit.cli.first.places import SecretOption, read_secrets
from lakekit.cli.output import say
from lakekit.cli.project import place
from lakekit.config.load import read_source
from lakekit.config.source import Source, load_source
from lakekit.contract.checked import CheckedContract
from lakekit.discover.address import Address, read_address, shown_url, source_name, table_name
from lakekit.discover.draft import Draft
from lakekit.discover.form import form_of
from lakekit.discover.places import find_places
from lakekit.discover.yaml_text import contract_text, source_text
from lakekit.errors import (
    InvalidStepInputError,
    LakekitError,
    SourceRejectedError,
    SourceShapeError,
    UnknownSourceError,
)
from lakekit.models import Name
from lakekit.project.schemas import editor_comment

_BY_HAND = "write the contract by hand, see docs/sources.md, and look at it with lakekit try"
_GRAPHQL = f"this looks like GraphQL, which answers nothing without a query: {_BY_HAND}"


def add_source(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of a list of records.")],
    name: Annotated[str | None, typer.Option(help="Name of the source; that of the host.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: VALUE'", help="A header; one with a key becomes auth."),
    ] = None,
    secret: SecretOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take what is proposed, and list it.")] = False,
) -> None:
    """Look at an API, ask about what is found, and write a source and a contract.

    It asks for two pages. No file is replaced, and no secret is written.

    Example: lakekit add-source https://shop.example/api/customers
    """
    project = place.required()
    folder, secrets = project.config, read_secrets(secret, project)
    asker = chosen_asker(yes)
    for file in add(url, name, header or [], secrets, asker, folder):
        say(f"wrote {file}")


def add(
    url: str,
    name: str | None,
    headers: list[str],
    secrets: dict[str, str],
    asker: Asker,
    folder: Path,
) -> list[Path]:
    """Look, ask and write; return the files that were written.

    Raises:
        InvalidStepInputError: An answer is missing, or a file is there already.
        SourceShapeError: The API gives no records; and what `SourceClient.send` raises.
    """
    address = read_address(url)
    source = name or asker.ask(_name_question("source", source_name(address.base_url)))
    _checked_name(source)
    known = _known_source(folder, source, address)
    if known:
        address = _within(known, url, address)
    table = asker.ask(_table_question(folder, address))
    given = given_of(source, address, headers, secrets)
    draft = _first_draft(source, table, address, given)
    api = open_api(address.base_url, source, given, known)
    try:
        with _hinting(address.path):
            api, answer = look(api, draft.endpoint(), given, asker)
            form = form_of(answer)
            find_places(form)
        saw = {"source": f"Seen at {shown_url(url)}.", "sign in": api.saw}
        draft = replace(draft, auth=api.auth, saw=saw)
        chosen = Interview(asker, api, answer, form, draft).draft()
        texts = _texts(chosen, folder, known)
        _refuse_secrets(texts, given)
    except LakekitError as error:
        raise api.client.redacted_error(error) from None
    finally:
        api.close()
    return _write(texts, asker)


@contextmanager
def _hinting(path: str) -> Iterator[None]:
    """Let the refusal of what looks like GraphQL say what to do."""
    try:
        yield
    except (SourceRejectedError, SourceShapeError) as error:
        if re.search(r"graphi?ql", path, re.IGNORECASE) or "query string" in str(error):
            error.args = (f"{error}; {_GRAPHQL}", *error.args[1:])
        if re.search(r": 405\b", str(error)):
            error.args = (f"{error}; it may want a POST with a body: {_BY_HAND}", *error.args[1:])
        raise


def _name_question(kind: str, proposal: str) -> Question[str]:
    def read(text: str, again: bool) -> str:
        try:
            return TypeAdapter(Name).validate_python(text)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None

    return Question(kind, f"What is the name of the {kind}?", proposal, read)


def _checked_name(name: str) -> None:
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InvalidStepInputError(f"--name {name}: {reason}") from None


def _table_question(folder: Path, address: Address) -> Question[str]:
    plain = _name_question("table", table_name(address.path, address.base_url))

    def read(text: str, again: bool) -> str:
        found = plain.read(text, again)
        if (file := _contract_file(folder, found)).exists():
            raise ValueError(f"{file} is there already, and is not replaced; choose another name")
        return found

    return replace(plain, read=read)


def _contract_file(folder: Path, table: str) -> Path:
    return folder / "contracts" / f"{table}.yaml"


def _known_source(folder: Path, name: str, address: Address) -> Source | None:
    """Return a source that is there already, if the address is below its base URL.

    Raises:
        InvalidStepInputError: It is another API.
    """
    try:
        known = read_source(folder, name)
    except UnknownSourceError:
        return None
    whole = f"{address.base_url}{address.path}"
    if not whole.startswith(f"{known.base_url}/"):
        raise InvalidStepInputError(
            f"{folder / 'sources' / name}.yaml is there already, with another base_url "
            f"({known.base_url}); choose another --name"
        )
    say(f"source {name} is there already; its file is used and not changed")
    return known


def _within(known: Source, url: str, address: Address) -> Address:
    below = urlsplit(url).path.removeprefix(urlsplit(known.address).path)
    return address._replace(base_url=known.address, path=below)


def _first_draft(source: str, table: str, address: Address, given: Given) -> Draft:
    path = address.path.replace("{", "{{").replace("}", "}}") if "{" in address.path else (
        address.path
    )  # fmt: skip
    return Draft(
        source=source,
        base_url=address.base_url,
        table=table,
        path=path,
        params=address.params,
        headers=given.headers,
        auth=given.auth,
        response={"format": "json"},
    )


def _texts(draft: Draft, folder: Path, known: Source | None) -> dict[Path, str]:
    """Return the texts of the files, which hold by the rules of `lakekit check`."""
    contract = f"{editor_comment('contract')}\n{contract_text(draft)}"
    file = _contract_file(folder, draft.table)
    CheckedContract.from_yaml(contract, name=str(file))
    if known:
        return {file: contract}
    source = f"{editor_comment('source')}\n{source_text(draft)}"
    source_file = folder / "sources" / f"{draft.source}.yaml"
    load_source(source, name=str(source_file))
    return {source_file: source, file: contract}


def _refuse_secrets(texts: dict[Path, str], given: Given) -> None:
    """Refuse to write a value of a secret, wherever it came from."""
    for file, text in texts.items():
        is_there = any(len(value) >= 8 and value in text for value in given.secrets.values())
        if is_there:
            raise InvalidStepInputError(
                f"{file}: the value of a secret would be in it, as it is in the address or in the "
                "names of fields; nothing is written"
            )


def _write(texts: dict[Path, str], asker: Asker) -> list[Path]:
    for file, text in texts.items():
        say(f"\n{file}:\n\n{text.rstrip()}")

    def read(text: str, again: bool) -> bool:
        if text not in ("yes", "no"):
            raise ValueError("yes or no")
        return text == "yes"

    if not asker.ask(Question("write", "Write these files?", "yes", read)):
        raise InvalidStepInputError("nothing is written")
    written: list[Path] = []
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with file.open("x", encoding="utf-8") as stream:
                stream.write(text)
        except FileExistsError:
            for each in written:
                each.unlink()
            raise InvalidStepInputError(
                f"{file} is there already, and is not replaced; nothing is written"
            ) from None
        written.append(file)
    return written
