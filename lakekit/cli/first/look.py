"""The first answer of an API: asked for as an extraction would, signed in if the API wants it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from lakekit.cli.first.dialogue import Asker, Question
from lakekit.cli.first.places import ENVIRONMENT, named, reader_of
from lakekit.config.source import Source
from lakekit.contract.endpoint.placeholders import RunValues
from lakekit.discover.address import Address, looks_secret
from lakekit.discover.proofs import CachingClient
from lakekit.discover.sample import contract_of
from lakekit.discover.sign_in import WAYS, propose_sign_in, read_sign_in
from lakekit.errors import InvalidStepInputError
from lakekit.extract import Answer
from lakekit.extract.requests import Requests
from lakekit.models import describe_faults

_REFUSED = frozenset({401, 403})
# Of one look: two pages of a few ways to page.
_MOST_REQUESTS = 40


@dataclass
class Api:
    """An API and how it is called: its source, the secrets, the client."""

    source: Source
    client: CachingClient
    auth: list[dict[str, Any]] = field(default_factory=list)
    saw: str = ""

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


@dataclass(frozen=True)
class Given:
    """What a person gave: headers of the endpoint, ways to sign in, values of secrets by name."""

    headers: Mapping[str, str]
    auth: Sequence[Mapping[str, Any]]
    secrets: dict[str, str]
    secret_name: str


def given_of(
    source: str,
    address: Address,
    headers: Sequence[str],
    secrets: Mapping[str, str],
    stored: Mapping[str, str],
    sign_in: str | None,
) -> Given:
    """Return what an address and the options say; secrets among them by their names.

    Args:
        source: Its name, which its secret has too, unless `secrets` has one alone.
        address: With its secrets.
        headers: Of `--header`.
        secrets: Of `--secret`.
        stored: Those of the project's own file, which may be of other sources.
        sign_in: Of `--auth`.

    Raises:
        InvalidStepInputError: A header or a way to sign in is none; no message repeats a header.
    """
    name = f"lakekit/{{environment}}/{source}"
    if len(secrets) == 1:
        name = next(iter(secrets)).replace(f"/{ENVIRONMENT}/", "/{environment}/")
    plain: dict[str, str] = {}
    auth: list[dict[str, Any]] = [_typed(sign_in, name)] if sign_in is not None else []
    values = {**stored, **secrets}
    for text in headers:
        key, colon, value = text.partition(":")
        key, value = key.strip(), value.strip()
        if not (key and colon and value):
            raise InvalidStepInputError("--header needs 'Name: value'")
        if key.lower() == "authorization":
            scheme, _, token = value.partition(" ")
            if scheme.lower() != "bearer" or not token.strip():
                raise InvalidStepInputError(
                    "--header Authorization: only 'Bearer …' is taken; for other ways leave it "
                    f"out, and give --auth, as one of {', '.join(WAYS)}"
                )
            auth.append({"type": "bearer", "secret": name})
            values[named(name)] = token.strip()
        elif looks_secret(key):
            auth.append({"type": "api_key", "header": key, "secret": name})
            values[named(name)] = value
        else:
            plain[key] = value
    for number, (key, value) in enumerate(address.secrets.items()):
        own = name if not auth and number == 0 else f"{name}_{key.lower()}"
        auth.append({"type": "api_key", "query": key, "secret": own})
        values[named(own)] = value
    return Given(plain, auth, values, name)


def _typed(sign_in: str, name: str) -> dict[str, Any]:
    try:
        return read_sign_in(sign_in.strip(), name)
    except ValueError as error:
        raise InvalidStepInputError(f"--auth: {error}") from None


def open_api(
    base_url: str, name: str, given: Given, asker: Asker, known: Source | None = None
) -> Api:
    """Return an API to call; ask for the values of its secrets that nobody has given.

    Raises:
        InvalidStepInputError: The source would not load; with one line per fault.
    """
    auth = [dict(way) for way in given.auth]
    source = known or _source(base_url, name, auth)
    _ask_secrets(source, given, asker)
    saw = "as it was given; a secret is here by its name alone" if auth else ""
    return Api(source, _client(source, given.secrets), auth, saw)


def _ask_secrets(source: Source, given: Given, asker: Asker) -> None:
    for _, secret in source.secrets():
        if named(secret.name) not in given.secrets:
            given.secrets[named(secret.name)] = asker.secret(named(secret.name))


def look(api: Api, endpoint: Mapping[str, Any], given: Given, asker: Asker) -> tuple[Api, Answer]:
    """Ask for the first page; where the API refuses, ask how to sign in, and try again.

    Raises:
        SourceRejectedError: It refuses what it was given.
    """
    answer = _ask(api, endpoint)
    if answer.status not in _REFUSED:
        return api, answer
    if api.source.auth or (answer.status != 401 and not given.secrets):
        _refuse(api, answer)
    guess = propose_sign_in(answer.headers.get("WWW-Authenticate", ""), answer.body)
    way = asker.ask(
        Question(
            "sign in",
            f"The API answers {answer.status}: how is a request signed in?",
            guess.text if guess.text != "basic USER" else "",
            lambda text, _: read_sign_in(text, given.secret_name),
            (guess.saw, ", ".join(WAYS)),
            "--auth, such as --auth 'basic ann'",
        )
    )
    api.close()
    source = _source(api.source.address, api.source.source, [way])
    _ask_secrets(source, given, asker)
    signed = Api(source, _client(source, given.secrets), [way],
                 f"{answer.status} without it; {guess.saw}")  # fmt: skip
    answer = _ask(signed, endpoint)
    if answer.status in _REFUSED:
        _refuse(signed, answer)
    return signed, answer


def _ask(api: Api, endpoint: Mapping[str, Any]) -> Answer:
    now = datetime.now(UTC)
    contract = contract_of({"endpoint": dict(endpoint)})
    requests = Requests(api.source.address, contract.endpoint, RunValues(now, now, ENVIRONMENT))
    first = requests.at("")
    statuses = _REFUSED | {406}
    answer = api.client.send(replace(first, accept_statuses=statuses))
    if answer.status == 406:
        anything = replace(first, headers={**first.headers, "Accept": "*/*"})
        answer = api.client.send(replace(anything, accept_statuses=_REFUSED))
    return answer


def _refuse(api: Api, answer: Answer) -> None:
    """Let the client say what it says of any request that is refused."""
    raise api.client.refused(answer)


def _source(base_url: str, name: str, auth: Sequence[Mapping[str, Any]]) -> Source:
    budget = {"max_requests_per_run": _MOST_REQUESTS}
    document = {"source": name, "base_url": base_url, "auth": [*auth], "call_budget": budget}
    try:
        return Source.model_validate(document)
    except ValidationError as error:
        raise InvalidStepInputError(describe_faults(error, Source, "source")) from None


def _client(source: Source, secrets: dict[str, str]) -> CachingClient:
    return CachingClient(source, reader_of(secrets))
