"""An address as a person has it → base URL, path and parameters, with what looks like a secret."""

import re
import unicodedata
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from lakekit.config.addresses import check_address
from lakekit.errors import InvalidStepInputError

_SECRET = re.compile(
    r"(.*(api|access|auth|app|subscription|private|secret|client)[-_]?(key|token|secret|code).*"
    r"|key|token|secret|sig|signature|auth|password|passwd|pwd|appid|x-.*-(key|token))",
    re.IGNORECASE,
)
# The parts of an address that are no name of an API or a table.
_PLAIN_PARTS = {"api", "apis", "rest", "www", "data", "public", "v", "json", "search", "list"}


class Address(NamedTuple):
    """Where an API is, and what is asked of it; a parameter that comes again has several values.

    secrets: parameters whose values are kept out of all files.
    """

    base_url: str
    path: str
    params: dict[str, list[str]]
    secrets: dict[str, str]


def read_address(url: str) -> Address:
    """Take an address apart.

    Raises:
        InvalidStepInputError: It is none that a source may have.
    """
    try:
        parts = urlsplit(url)
        plain = urlunsplit(parts._replace(query="", fragment=""))
        check_address(plain)
    except ValueError as error:
        raise InvalidStepInputError(f"{shown_url(url)}: {error}") from None
    base, _, last = parts.path.rstrip("/").rpartition("/")
    end = "/" if parts.path.endswith("/") else ""
    params: dict[str, list[str]] = {}
    secrets: dict[str, str] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if looks_secret(name):
            secrets[name] = value
        else:
            params.setdefault(name, []).append(value)
    path = f"/{last}{end if last else ''}"
    return Address(urlunsplit(parts._replace(path=base, query="", fragment="")), path, params,
                   secrets)  # fmt: skip


def looks_secret(name: str) -> bool:
    """Say whether a parameter or a header of such a name carries a secret.

    Example:
        >>> [looks_secret(name) for name in ("api_key", "X-Auth-Token", "page_token", "limit")]
        [True, True, False, False]
    """
    return bool(_SECRET.fullmatch(name)) and not re.search(r"page|next|cont|cursor", name.lower())


def shown_url(url: str) -> str:
    """Return an address without query and user."""
    return re.sub(r"//[^/@]*@", "//", re.split(r"[?#]", url, maxsplit=1)[0])


def source_name(base_url: str) -> str:
    """Return a name for a source.

    Example:
        >>> [source_name(f"https://{host}") for host in ("api.shop.example/v1", "127.0.0.1:80")]
        ['shop', 'api']
    """
    host = urlsplit(base_url).hostname or ""
    if host == "localhost" or re.fullmatch(r"[0-9.:a-f]+", host):
        return "api"
    parts = host.split(".")
    named = [part for part in parts[:-1] if part not in _PLAIN_PARTS] or parts[:1]
    return as_name(named[-1], "api")


def table_name(path: str, base_url: str) -> str:
    """Return a name for a table.

    Example:
        >>> table_name("/customers.json", "https://shop.example/api")
        'customers'
    """
    parts = [*urlsplit(base_url).path.split("/"), *path.split("/")]
    words = [re.sub(r"\.\w{2,6}$", "", unquote(part)) for part in parts if part]
    named = [w for w in words if w.lower() not in _PLAIN_PARTS and not re.fullmatch(r"v?[\d.]+", w)]
    return as_name(named[-1] if named else "", "records")


def as_name(text: str, otherwise: str) -> str:
    """Return a text as the name of a table or a source."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()
    name = re.sub(r"[^a-z0-9]+", "_", words).strip("_")[:63].strip("_")
    return name if name[:1].isalpha() else otherwise
