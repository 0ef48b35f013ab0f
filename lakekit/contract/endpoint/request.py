"""What one request to an endpoint says: path, parameters, headers, body."""

import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from lakekit.contract.endpoint.placeholders import Template, placeholder_faults
from lakekit.models import Model

# Those that belong to signing in or to the connection.
RESERVED_HEADERS = {
    "authorization", "connection", "content-encoding", "content-length", "expect", "host",
    "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")


def _is_path(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError("must begin with /; it is below the source's base_url")
    if found := re.search(r"[?#\\\s\x00-\x1f\x7f]", path):
        shown = {"?": "?; use params", " ": "a blank; write %20"}.get(found[0], repr(found[0]))
        raise ValueError(f"must not have {shown}")
    if found := re.search(r"%(?![0-9A-Fa-f]{2})", path):
        raise ValueError("a % needs two hexadecimal digits behind it; write %25 for the sign")
    if re.search(r"(^|/)\.\.?(/|$)", path):
        raise ValueError("must not have . or .. between slashes")
    return path


def as_text(value: Any) -> Any:
    """Return a whole number of YAML as its text; a text as it is.

    Raises:
        ValueError: It is another value, such as 1.50, which YAML reads as 1.5.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, list | tuple | dict):
        raise ValueError("must be a text or a whole number")
    shown = str(value).lower() if isinstance(value, bool) else value
    raise ValueError(f"must be text, but YAML reads it as {shown}; put it in quotes")


def _param(value: Any) -> Any:
    texts = [as_text(each) for each in (value if isinstance(value, list | tuple) else [value])]
    if faults := [fault for text in texts for fault in placeholder_faults(text)]:
        raise ValueError("; ".join(faults))
    return texts if isinstance(value, list | tuple) else texts[0]


def _headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not the name of a header")
        if name.lower() in RESERVED_HEADERS:
            raise ValueError(f"{name} is not for a contract; the source's auth signs in")
        if not re.fullmatch(r"[!-~]([\t -~]*[!-~])?", value):
            raise ValueError(f"{name} must have printable ASCII, and no blanks around it")
    return headers


def _is_sendable(value: Any) -> Any:
    """Return a value of YAML that is JSON, and whose texts have known placeholders."""
    if isinstance(value, dict):
        for name, each in value.items():
            if not isinstance(name, str):
                raise ValueError(f"the name {name} must be text; put it in quotes")
            _is_sendable(each)
    elif isinstance(value, list | tuple):
        for each in value:
            _is_sendable(each)
    elif isinstance(value, str):
        if faults := placeholder_faults(value):
            raise ValueError("; ".join(faults))
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not JSON")
    elif not isinstance(value, int | float | None):
        raise ValueError(f"must be JSON, but YAML reads {value} as a date; put it in quotes")
    return value


UrlPath = Annotated[Template, AfterValidator(_is_path)]
Param = Annotated[str | tuple[str, ...], BeforeValidator(_param)]
Params = dict[Annotated[str, Field(min_length=1)], Param]
Headers = Annotated[dict[str, Template], AfterValidator(_headers)]
JsonFields = Annotated[dict[str, JsonValue], BeforeValidator(_is_sendable)]


class GraphQl(Model):
    """A query with its variables; placeholders are for the variables alone."""

    query: Annotated[str, Field(min_length=1)]
    variables: JsonFields = Field(default_factory=dict)


class Body(Model):
    """The body of a POST: exactly one of these."""

    json_fields: JsonFields | None = Field(None, alias="json")
    form: Params | None = None
    graphql: GraphQl | None = None
