"""Signs requests in, in each of the ways that a source asks for."""

import ssl
import tempfile
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from lakekit.config.auth import (
    ApiKeyAuth,
    Auth,
    BasicAuth,
    BearerAuth,
    MutualTlsAuth,
    SigV4Auth,
)
from lakekit.errors import SourceRejectedError
from lakekit.extract.http.secrets import Secrets
from lakekit.extract.http.tokens import Post, Token, TokenAuth

if TYPE_CHECKING:
    from requests import PreparedRequest

# Signs one request by AWS's Signature Version 4: service, region, and a pair of keys or None.
Sign = Callable[["PreparedRequest", str, str, tuple[str, str] | None], None]


class SignIn:
    """Writes keys, tokens and signatures into requests whose address and body are final."""

    def __init__(
        self, auth: Sequence[Auth], secrets: Secrets, post: Post, sign: Sign | None
    ) -> None:
        self._secrets = secrets
        self._sign = sign
        # A signature comes last: it covers what the others write.
        self._ways = sorted(auth, key=lambda each: isinstance(each, SigV4Auth))
        self._tokens = {
            id(each): Token(each, secrets, post) for each in auth if isinstance(each, TokenAuth)
        }
        for each in auth:
            if isinstance(each, BasicAuth):
                secrets.promise("user and password", partial(self._basic, each))

    def __call__(self, request: "PreparedRequest") -> "PreparedRequest":
        """Sign a request in; one that is repeated is signed again.

        Raises:
            SourceRejectedError: A secret is missing, or no token is given.
        """
        for each in self._ways:
            if isinstance(each, ApiKeyAuth):
                _put_key(request, each, self._secrets.text(each.secret))
            elif isinstance(each, BearerAuth):
                _put(request, "Authorization", f"Bearer {self._secrets.text(each.secret)}")
            elif isinstance(each, BasicAuth):
                _put(request, "Authorization", f"Basic {self._basic(each)}")
            elif isinstance(each, TokenAuth):
                _put(request, "Authorization", f"Bearer {self._tokens[id(each)].text()}")
            elif isinstance(each, SigV4Auth):
                self._sign_request(request, each)
        return request

    def renew(self) -> None:
        """After a 401: read secrets again, and ask for new tokens."""
        self._secrets.reread()
        for token in self._tokens.values():
            token.drop()

    def _basic(self, auth: BasicAuth) -> str:
        pair = f"{self._secrets.text(auth.username)}:{self._secrets.text(auth.secret)}"
        encoded = b64encode(pair.encode()).decode()
        return self._secrets.keep("user and password", encoded, partial(self._basic, auth))

    def _sign_request(self, request: "PreparedRequest", auth: SigV4Auth) -> None:
        if self._sign is None:
            raise SourceRejectedError("sigv4: nothing here can sign requests")
        keys = None
        if auth.access_key_id and auth.secret_access_key:
            keys = (
                self._secrets.text(auth.access_key_id),
                self._secrets.text(auth.secret_access_key),
            )
        self._sign(request, auth.service, auth.region, keys)


def tls_context(auth: Sequence[Auth], secrets: Secrets) -> Any:
    """Return what a client certificate needs of TLS; None if the source wants none.

    Raises:
        SourceRejectedError: A secret is missing, or holds no PEM, or the two do not match.
    """
    for each in auth:
        if isinstance(each, MutualTlsAuth):
            context = ssl.create_default_context()
            pem = f"{secrets.text(each.certificate)}\n{secrets.text(each.private_key)}\n"
            try:
                _load(context, pem)
                if each.ca_certificate:
                    context.load_verify_locations(cadata=secrets.text(each.ca_certificate))
            except (ssl.SSLError, ValueError):
                names = f"{each.certificate.name}, {each.private_key.name}"
                raise SourceRejectedError(
                    f"secrets {names}: no certificate and private key in PEM that go together"
                ) from None
            return context
    return None


def _load(context: ssl.SSLContext, pem: str) -> None:
    # Python reads certificates from files alone. This one is for us alone, and goes at once.
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "client.pem"
        file.touch(mode=0o600)
        file.write_text(pem)
        context.load_cert_chain(file, password=lambda: "")


def _put_key(request: "PreparedRequest", auth: ApiKeyAuth, key: str) -> None:
    if auth.query:
        parts = urlsplit(str(request.url))
        # In place of what a next link already has, not in addition to it.
        kept = [text for text in parts.query.split("&") if text and not _is_of(text, auth.query)]
        query = "&".join([*kept, urlencode({auth.query: key})])
        request.url = urlunsplit(parts._replace(query=query))
    elif auth.cookie:
        others = str(request.headers.get("Cookie", ""))
        own = f"{auth.cookie}={key}"
        _put(request, "Cookie", f"{others}; {own}" if others else own)
    else:
        _put(request, auth.header_name or "", key)


def _is_of(pair: str, name: str) -> bool:
    return any(found == name for found, _ in parse_qsl(pair, keep_blank_values=True))


def _put(request: "PreparedRequest", name: str, value: str) -> None:
    # As requests checks headers: a line break would begin another one.
    request.prepare_headers({**request.headers, name: value})
