"""How an API that refuses a request wants to be signed in to, by what it says."""

import re
from typing import Any, NamedTuple

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
    said = body[:2000].decode(errors="replace")
    if "bearer" in schemes or "token" in schemes:
        return SignInGuess("bearer", saw)
    if "basic" in schemes:
        return SignInGuess("basic USER", saw)
    if named := _HEADER.search(f"{challenge} {said}"):
        return SignInGuess(f"api_key header {named[1]}", f"{saw}; the answer names {named[1]}")
    if named := _QUERY.search(said):
        return SignInGuess(f"api_key query {named[1]}", f"{saw}; the answer names {named[1]}")
    if re.search(r"api.?key", f"{challenge} {said}", re.IGNORECASE):
        return SignInGuess("api_key header X-Api-Key", f"{saw}; the answer speaks of an API key")
    return SignInGuess("bearer", saw)


def read_sign_in(text: str, secret: str) -> dict[str, Any]:
    """Return the `auth` of a source for what a person typed.

    Raises:
        ValueError: It is none of the ways that are offered.
    """
    words = text.split()
    kind = words[0].lower() if words else ""
    if kind == "bearer" and len(words) == 1:
        return {"type": "bearer", "secret": secret}
    if kind == "basic" and len(words) == 2 and words[1] != "USER":
        return {"type": "basic", "username": words[1], "secret": secret}
    if kind == "api_key" and len(words) == 3 and words[1] in ("header", "query", "cookie"):
        return {"type": "api_key", words[1]: words[2], "secret": secret}
    raise ValueError(
        "write bearer, basic USER with the user's name, api_key header NAME, api_key query NAME or "
        "api_key cookie NAME; other ways are written into the source's file by hand"
    )
