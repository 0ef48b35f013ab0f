"""Which addresses a source may be called at."""

import re
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

_HOST_NAME = re.compile(r"^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]*$")


def check_base_url(url: str) -> str:
    """Return the address without a closing slash.

    Raises:
        ValueError: It is not https (or http on loopback), or carries more than scheme, host,
            port and path, or names a private address.
    """
    return check_address(url).rstrip("/")


def check_address(url: str) -> str:
    """Return the address as it is; see `check_base_url` for errors."""
    parts = urlsplit(url)
    if re.search(r"[\s\\\x00-\x1f]", url) or parts.scheme not in ("http", "https"):
        raise ValueError("must begin with https://")
    if "@" in parts.netloc:
        raise ValueError("must not carry a user or password; use auth")
    if "?" in url or "#" in url:
        raise ValueError("must not carry a query or fragment; use params")
    parts.port  # noqa: B018 - raises ValueError when it is not a port
    loopback = _is_loopback((parts.hostname or "").lower())
    if parts.scheme == "http" and not loopback:
        raise ValueError("must use https; http is only for this machine")
    return url


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        # Also keeps out what only a resolver reads as an address: 127.1, 0x7f000001, 2130706433.
        if not _HOST_NAME.match(host):
            raise ValueError(f"'{host}' is not a host name") from None
        return host == "localhost"
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if not address.is_loopback and (not address.is_global or address.is_multicast):
        raise ValueError(f"'{host}' is a private, link-local or reserved address")
    return address.is_loopback
