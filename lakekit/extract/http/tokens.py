"""Tokens: asked for once, kept until they end or are refused, and renewed then."""

import json
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote_plus, urlencode
from uuid import uuid4

from lakekit.config.auth import ClientCredentialsAuth, JwtBearerAuth, RefreshTokenAuth
from lakekit.errors import SourceRejectedError
from lakekit.extract.http.addresses import shown
from lakekit.extract.http.secrets import Secrets

# Seconds: a token that ends so soon is renewed; how long a JWT of ours holds.
MARGIN = 60.0
JWT_SECONDS = 300
# What RFC 6749 lets a server answer; any other text could be anything.
_ERRORS = {
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
    "unsupported_grant_type", "invalid_scope",
}  # fmt: skip
_JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"

TokenAuth = ClientCredentialsAuth | RefreshTokenAuth | JwtBearerAuth
# Posts a form to an address with headers, and returns status and body.
Post = Callable[[str, Mapping[str, str], bytes], tuple[int, bytes]]


class Token:
    """The token of one way to sign in."""

    def __init__(
        self,
        auth: TokenAuth,
        secrets: Secrets,
        post: Post,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._auth, self._secrets, self._post, self._now = auth, secrets, post, now
        self._text = ""
        self._ends = 0.0
        self._refresh_token = ""
        secrets.promise("token", self.text)

    def text(self) -> str:
        """Return the token, a new one if there is none or it is about to end.

        Raises:
            SourceRejectedError: The server of tokens refuses; and what sending can raise.
        """
        if not self._text or self._now() > self._ends - MARGIN:
            self._text, seconds = self._new()
            # One that ends within the margin is good for what follows at once.
            self._ends = self._now() + max(seconds, MARGIN + 1)
            self._secrets.keep("token", self._text, self.text)
        return self._text

    def drop(self) -> None:
        """Ask for a new one when it is needed next."""
        self._text = ""

    def _new(self) -> tuple[str, float]:
        auth = self._auth
        if isinstance(auth, JwtBearerAuth):
            jwt = self._signed(auth)
            if auth.token_url is None:
                return jwt, JWT_SECONDS
            return self._ask(auth.token_url, {}, {"grant_type": _JWT_GRANT, "assertion": jwt})
        form = {"grant_type": "client_credentials"}
        if isinstance(auth, RefreshTokenAuth):
            token = self._refresh_token or self._secrets.text(auth.refresh_token)
            form = {"grant_type": "refresh_token", "refresh_token": token}
        if auth.scopes:
            form["scope"] = " ".join(auth.scopes)
        headers = {}
        client = self._secrets.text(auth.client_id)
        secret = self._secrets.text(auth.client_secret) if auth.client_secret else None
        if auth.client_auth == "basic" and secret is not None:
            headers["Authorization"] = self._basic(client, secret)
        else:
            form |= {"client_id": client} | ({"client_secret": secret} if secret else {})
        return self._ask(auth.token_url, headers, form | auth.params)

    def _basic(self, client: str, secret: str) -> str:
        # RFC 6749, 2.3.1: both are encoded as in a form before they are joined.
        pair = f"{quote_plus(client)}:{quote_plus(secret)}"
        encoded = b64encode(pair.encode()).decode()
        self._secrets.keep("client credentials", encoded, lambda: encoded)
        return f"Basic {encoded}"

    def _ask(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str]
    ) -> tuple[str, float]:
        more = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        status, body = self._post(url, {**headers, **more}, urlencode(form).encode())
        answer = _object(body)
        if status != 200:
            error = answer.get("error")
            reason = f": {error}" if error in _ERRORS else ""
            raise SourceRejectedError(f"{shown(url)}: no token: {status}{reason}")
        token, refresh = answer.get("access_token"), answer.get("refresh_token")
        if not isinstance(token, str) or not token:
            raise SourceRejectedError(f"{shown(url)}: the answer has no access_token")
        if isinstance(refresh, str) and refresh:
            self._refresh_token = self._secrets.keep("refresh token", refresh, lambda: refresh)
        return token, _seconds(answer.get("expires_in"))

    def _signed(self, auth: JwtBearerAuth) -> str:
        from joserfc import jwk, jwt  # noqa: PLC0415 - only who needs it pays for it
        from joserfc.errors import JoseError  # noqa: PLC0415

        text, now = self._secrets.text, int(self._now())
        claims: dict[str, Any] = {
            "iss": text(auth.issuer),
            "aud": auth.audience or auth.token_url,
            "iat": now,
            "exp": now + JWT_SECONDS,
            "jti": uuid4().hex,
        }
        if auth.subject:
            claims["sub"] = text(auth.subject)
        if auth.scopes:
            claims["scope"] = " ".join(auth.scopes)
        header = {"alg": auth.algorithm, "typ": "JWT"}
        if auth.key_id:
            header["kid"] = text(auth.key_id)
        kind = jwk.RSAKey if auth.algorithm == "RS256" else jwk.ECKey
        name = auth.private_key.name
        try:
            signed = jwt.encode(header, claims, kind.import_key(text(auth.private_key)))
        except (ValueError, TypeError, JoseError):
            raise SourceRejectedError(f"secret {name}: is no key for {auth.algorithm}") from None
        return self._secrets.keep("assertion", signed, lambda: signed)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _seconds(value: Any) -> float:
    """Return for how long a token holds; without a word on it, until it is refused."""
    try:
        return min(max(float(value), 0.0), 1e9)
    except (TypeError, ValueError):
        return 1e9
