"""How an API that refuses a request wants to be signed in to, by what it says."""

import re
from collections.abc import Collection
from typing import Any, NamedTuple

import yaml
from pydantic import TypeAdapter, ValidationError

from lakekit.config.auth import Auth

WAYS = (
    "bearer", "basic USER", "api_key header NAME", "api_key query NAME", "api_key cookie NAME",
    "oauth2 TOKEN_URL CLIENT_ID [SCOPE …]",
)  # fmt: skip
_LISTED = ", ".join(WAYS)
# The field of the one secret that a way of signing in cannot be without.
_SECRETS = {
    "bearer": "secret", "basic": "secret", "api_key": "secret",
    "oauth2_client_credentials": "client_secret", "oauth2_refresh_token": "refresh_token",
    "jwt_bearer": "private_key",
}  # fmt: skip

_SCHEMES = re.compile(r"(?:^|,)\s*([A-Za-z][\w-]*)(?=\s|,|$)")
_HEADER = re.compile(r"\b(x-[a-z-]*(?:key|token))\b", re.IGNORECASE)
_QUERY = re.compile(r"[?&]?\b(api_?key|access_token|appid|token)\b=", re.IGNORECASE)


class SignInGuess(NamedTuple):
    """A way to sign in as a person types it, and what speaks for it."""

    text: str
    saw: str


def propose_sign_in(challenge: str, body: bytes) -> SignInGuess:
    """Return how the API may want to be signed in to.

    Args:
        challenge: The header WWW-Authenticate.
        body: What came with the refusal.
    """
    shown = re.sub(r"\s+", " ", challenge)[:80]
    saw = f"WWW-Authenticate: {shown}" if shown else "no WWW-Authenticate"
    schemes = [scheme.lower() for scheme in _SCHEMES.findall(challenge)]
    if guess := _by_scheme(schemes, saw):
        return guess
    said = body[:2000].decode(errors="replace")
    if named := _HEADER.search(f"{challenge} {said}"):
        return SignInGuess(f"api_key header {named[1]}", f"{saw}; the answer names {named[1]}")
    if named := _QUERY.search(said):
        return SignInGuess(f"api_key query {named[1]}", f"{saw}; the answer names {named[1]}")
    if re.search(r"api.?key", f"{challenge} {said}", re.IGNORECASE):
        return SignInGuess("api_key header X-Api-Key", f"{saw}; the answer speaks of an API key")
    return SignInGuess("bearer", saw)


def _by_scheme(schemes: Collection[str], saw: str) -> SignInGuess | None:
    if "bearer" in schemes:
        return SignInGuess("bearer", saw)
    if "token" in schemes:
        more = "the value of the secret is then 'Token …', with that word"
        return SignInGuess("api_key header Authorization", f"{saw}; {more}")
    return SignInGuess("basic USER", saw) if "basic" in schemes else None


def read_sign_in(text: str, secret: str) -> dict[str, Any]:
    """Return the `auth` of a source for what a person typed.

    Args:
        text: One of `WAYS`, or the `auth` of a source as its file has it.
        secret: The name of the secret, where the text names none.

    Raises:
        ValueError: It is none of the ways that are offered.
    """
    if text.startswith("{"):
        return _written(text, secret)
    words = text.split()
    kind = words[0].lower() if words else ""
    if kind == "bearer" and len(words) == 1:
        return {"type": "bearer", "secret": secret}
    if kind == "basic" and len(words) == 2 and words[1] != "USER":
        return {"type": "basic", "username": words[1], "secret": secret}
    if kind == "api_key" and len(words) == 3 and words[1] in ("header", "query", "cookie"):
        return {"type": "api_key", words[1]: words[2], "secret": secret}
    if kind == "oauth2" and len(words) > 2:
        scopes = {"scopes": words[3:]} if words[3:] else {}
        return {
            "type": "oauth2_client_credentials", "token_url": words[1], "client_id": words[2],
            "client_secret": secret, **scopes,
        }  # fmt: skip
    raise ValueError(f"write {_LISTED}, or auth as a source has it: {{type: …}}")


def _written(text: str, secret: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict) or "type" not in found:
        raise ValueError("write auth as in {type: api_key, cookie: session}")
    if (own := _SECRETS.get(found["type"])) and own not in found:
        found[own] = secret
    try:
        TypeAdapter[Any](Auth).validate_python(found)
    except ValidationError as error:
        faults = [f"{each['loc'][-1] if each['loc'] else 'type'}: {each['msg']}"
                  for each in error.errors()]  # fmt: skip
        raise ValueError("; ".join(faults)) from None
    return found
