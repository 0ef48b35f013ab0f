"""How a source wants to be signed in to; every secret by its name in Secrets Manager."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from lakekit.config.addresses import check_address
from lakekit.models import Model

# The characters Secrets Manager allows in a name, and those of an HTTP header name (RFC 9110).
# `{environment}` stands for the name of the environment.
SecretName = Annotated[
    str, StringConstraints(pattern=r"^([A-Za-z0-9/_+=.@-]|\{environment\}){1,512}$")
]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")]


class Secret(Model):
    """A secret: its name alone, or its name and a field of the JSON object that it holds."""

    name: SecretName
    field: Annotated[str, StringConstraints(pattern=r"^[^<>]{1,256}$")] | None = None

    @model_validator(mode="before")
    @classmethod
    def _may_be_a_name_alone(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    def value_in(self, text: str) -> str:
        """Return the value that a secret's text holds: all of it, or its field's text or number.

        Raises:
            ValueError: The text is no JSON object, or has neither in the field.
        """
        if self.field is None:
            return text
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise ValueError(f"is not a JSON object, so has no field {self.field}")
        found = document.get(self.field)
        if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
            raise ValueError(f"has no text and no whole number in the field {self.field}")
        return str(found)


def _kind(value: Any) -> str:
    return "secret" if isinstance(value, dict | Secret) else "text"


# `client_id: abc`, or `client_id: {name: …, field: …}`.
TextOrSecret = Annotated[
    Annotated[str, StringConstraints(min_length=1), Tag("text")] | Annotated[Secret, Tag("secret")],
    Discriminator(_kind),
]


class NoAuth(Model):
    """The source is open."""

    type: Literal["none"]


class ApiKeyAuth(Model):
    """A key in a header, in the query or in a cookie, named by one of these three fields."""

    type: Literal["api_key"]
    header: HeaderName | None = None
    query: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    cookie: HeaderName | None = None
    secret: Secret

    @model_validator(mode="after")
    def _is_at_one_place(self) -> Self:
        if sum(each is not None for each in (self.header, self.query, self.cookie)) > 1:
            raise ValueError("a key is in a header, in the query or in a cookie: keep one of these")
        return self

    @property
    def header_name(self) -> str | None:
        """The header that carries the key, if one does."""
        return self.header or (None if self.query or self.cookie else "X-Api-Key")


class BearerAuth(Model):
    """A token that is issued by hand."""

    type: Literal["bearer"]
    secret: Secret


class BasicAuth(Model):
    """User name and password; `secret` is the password."""

    type: Literal["basic"]
    username: TextOrSecret
    secret: Secret


TokenUrl = Annotated[str, AfterValidator(check_address)]
Scopes = tuple[Annotated[str, StringConstraints(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]+$")], ...]


class _Client(Model):
    """What requests for tokens of OAuth 2 have in common (RFC 6749).

    client_auth: `basic` sends id and secret in a header, `post` in the body.
    params: further fields of the body, such as `audience`.
    """

    token_url: TokenUrl
    client_id: TextOrSecret
    client_auth: Literal["basic", "post"] = "basic"
    scopes: Scopes = ()
    params: dict[str, str] = Field(default_factory=dict)


class ClientCredentialsAuth(_Client):
    """A token for the client itself."""

    type: Literal["oauth2_client_credentials"]
    client_secret: Secret


class RefreshTokenAuth(_Client):
    """A token for a person who has once agreed; a public client has no secret."""

    type: Literal["oauth2_refresh_token"]
    client_secret: Secret | None = None
    refresh_token: Secret


class JwtBearerAuth(Model):
    """A JWT signed with a private key, changed for a token at `token_url` (RFC 7523).

    Without `token_url` the JWT itself is the token. `audience` is `token_url` unless given.
    """

    type: Literal["jwt_bearer"]
    token_url: TokenUrl | None = None
    issuer: TextOrSecret
    subject: TextOrSecret | None = None
    audience: Annotated[str, Field(min_length=1)] | None = None
    scopes: Scopes = ()
    private_key: Secret
    key_id: TextOrSecret | None = None
    algorithm: Literal["RS256", "ES256"] = "RS256"

    @model_validator(mode="after")
    def _has_an_audience(self) -> Self:
        if self.token_url is None and self.audience is None:
            raise ValueError("without token_url, audience says for whom the token is")
        return self


class SigV4Auth(Model):
    """Each request is signed as AWS signs, with the function's own role or with given keys."""

    type: Literal["sigv4"]
    service: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")] = "execute-api"
    region: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,32}$")]
    access_key_id: TextOrSecret | None = None
    secret_access_key: Secret | None = None

    @model_validator(mode="after")
    def _has_both_keys_or_none(self) -> Self:
        if (self.access_key_id is None) != (self.secret_access_key is None):
            raise ValueError("access_key_id and secret_access_key go together")
        return self


class MutualTlsAuth(Model):
    """A client certificate, with its private key, both in PEM.

    ca_certificate: what the server's certificate is checked against, if its CA is not public.
    """

    type: Literal["mutual_tls"]
    certificate: Secret
    private_key: Secret
    ca_certificate: Secret | None = None


Auth = Annotated[
    NoAuth
    | ApiKeyAuth
    | BearerAuth
    | BasicAuth
    | ClientCredentialsAuth
    | RefreshTokenAuth
    | JwtBearerAuth
    | SigV4Auth
    | MutualTlsAuth,
    Field(discriminator="type"),
]


def place_of(auth: BaseModel) -> str | None:
    """Return which part of a request a way of signing in writes; one part has room for one."""
    if isinstance(auth, ApiKeyAuth):
        if auth.query or auth.cookie:
            return f"the parameter {auth.query}" if auth.query else f"the cookie {auth.cookie}"
        return f"the header {(auth.header_name or '').title()}"
    if isinstance(auth, MutualTlsAuth):
        return "the client certificate"
    return None if isinstance(auth, NoAuth) else "the header Authorization"


def secrets_of(auth: BaseModel) -> Iterator[tuple[str, Secret]]:
    """Yield the secrets that a way of signing in names, each with its field."""
    for name in type(auth).model_fields:
        if isinstance(value := getattr(auth, name), Secret):
            yield name, value
