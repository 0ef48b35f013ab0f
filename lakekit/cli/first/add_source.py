"""`lakekit add-source`: from the address of an API to the files of a source and of its table."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer
from pydantic import TypeAdapter, ValidationError

from lakekit.cli.first.dialogue import Asker, Question, chosen_asker
from lakekit.cli.first.interview import Interview
from lakekit.cli.first.look import Given, given_of, look, open_api
from lakekit.cli.first.places import SecretOption, named, read_secrets, stored_secrets
from lakekit.cli.output import say
from lakekit.cli.project import place
from lakekit.config.load import read_source
from lakekit.config.source import Source, load_source
from lakekit.contract.checked import CheckedContract
from lakekit.contract.contract import load_contract
from lakekit.discover.address import (
    Address,
    as_name,
    read_address,
    shown_url,
    source_name,
    table_name,
)
from lakekit.discover.body import first_field, read_body
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
from lakekit.local.warehouse import read_text
from lakekit.models import Name
from lakekit.project.folder import SECRETS, Project
from lakekit.project.schemas import editor_comment

_GRAPHQL = (
    "this looks like GraphQL, which answers nothing without a query: give it with --body, as in "
    "--body @query.graphql"
)
_POST = """it may want a POST: give its body, as in --body '{"state": "open"}'"""


def add_source(  # noqa: PLR0913, PLR0917
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of a list of records.")],
    name: Annotated[str | None, typer.Option(help="Name of the source; that of the host.")] = None,
    table: Annotated[str | None, typer.Option(help="Name of the table; that of the path.")] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: VALUE'", help="A header; one with a key becomes auth."),
    ] = None,
    auth: Annotated[
        str | None,
        typer.Option(help="How to sign in, as in 'basic USER', 'oauth2 TOKEN_URL CLIENT_ID'."),
    ] = None,
    secret: SecretOption = None,
    body: Annotated[
        str | None,
        typer.Option(help="Of a POST: JSON, GraphQL or a form; @FILE has it in a file."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take what is proposed, and list it.")] = False,
) -> None:
    """Look at an API, ask about what is found, and write a source and a contract.

    It asks for two pages. No file is replaced, and no secret is written.

    Example: lakekit add-source https://shop.example/api/customers

    Example: lakekit add-source https://a.example/list --auth 'basic ann'
    """
    project = place.required()
    said = Said(
        url, name, table, tuple(header or ()), auth, read_body(_text_of(body)) if body else None,
        read_secrets(secret), stored_secrets(project),
    )  # fmt: skip
    files = add(said, chosen_asker(yes), project.config)
    for file in files:
        say(f"wrote {file}")
    _say_what_is_next(project, files[-1])


def _say_what_is_next(project: Project, contract: Path) -> None:
    source = read_source(project.config, load_contract(read_text(contract)).source)
    stored = stored_secrets(project)
    for name in {named(secret.name) for _, secret in source.secrets()} - stored.keys():
        say(f'add to {project.folder / SECRETS}: {name}: "…"', err=True)
    say(f"next: lakekit try {source.source}, then lakekit run {source.source}", err=True)


@dataclass(frozen=True)
class Said:
    """What a person says of an API in the command line.

    body: that of an endpoint. secrets: values by names, of the command line. stored: those of the
    project's own file.
    """

    url: str
    name: str | None = None
    table: str | None = None
    headers: tuple[str, ...] = ()
    auth: str | None = None
    body: Mapping[str, Any] | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    stored: Mapping[str, str] = field(default_factory=dict)


def _text_of(body: str) -> str:
    return read_text(Path(body[1:])) if body.startswith("@") else body


def add(said: Said, asker: Asker, folder: Path) -> list[Path]:
    """Look, ask and write; return the files that were written.

    Raises:
        InvalidStepInputError: An answer is missing, or a file is there already.
        SourceShapeError: The API gives no records; and what `SourceClient.send` raises.
    """
    address = read_address(said.url)
    source = said.name or asker.ask(_name_question("source", source_name(address.base_url)))
    _checked_name("name", source)
    known = _known_source(folder, source, address)
    if known:
        address = _within(known, said.url, address)
    table = said.table or asker.ask(_table_question(folder, _table_of(address, said.body)))
    _checked_name("table", table)
    if (there := _contract_file(folder, table)).exists():
        raise InvalidStepInputError(f"{there} is there already, and is not replaced; give --table")
    given = given_of(source, address, said.headers, said.secrets, said.stored, said.auth)
    if known and said.auth:
        raise InvalidStepInputError(
            f"--auth: {source} is there already, and signs in as its file says; leave it out"
        )
    draft = replace(_first_draft(source, table, address, given), body=said.body)
    api = open_api(address.base_url, source, given, asker, known)
    try:
        with _hinting(address.path) if not said.body else nullcontext():
            api, answer = look(api, draft.endpoint(), given, asker)
            form = form_of(answer)
            find_places(form)
        saw = {"source": f"Seen at {shown_url(said.url)}.", "sign in": api.saw}
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
        elif re.search(r": 405\b", str(error)):
            error.args = (f"{error}; {_POST}", *error.args[1:])
        raise


def _name_question(kind: str, proposal: str) -> Question[str]:
    def read(text: str, again: bool) -> str:
        try:
            return TypeAdapter(Name).validate_python(text)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None

    return Question(kind, f"What is the name of the {kind}?", proposal, read)


def _checked_name(option: str, name: str) -> None:
    try:
        TypeAdapter(Name).validate_python(name)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InvalidStepInputError(f"--{option} {name}: {reason}") from None


def _table_of(address: Address, body: Mapping[str, Any] | None) -> str:
    """Return a name for the table: that of the first field of a query, or of the path."""
    if body and "graphql" in body and (field_of := first_field(body["graphql"]["query"])):
        return as_name(field_of, "records")
    return table_name(address.path, address.base_url)


def _table_question(folder: Path, proposal: str) -> Question[str]:
    plain = _name_question("table", proposal)

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
