"""What a person types as an answer: names, a response, parts between commas."""

from collections.abc import Sequence
from typing import Any

import yaml

from lakekit.discover.columns import ColumnGuess
from lakekit.discover.sample import contract_of

NONE = "none"


def read_names(text: str, names: Sequence[str]) -> list[str]:
    """Return names between commas, which are some of those that there are."""
    if text == NONE:
        return []
    found = [each.strip() for each in text.split(",") if each.strip()]
    unknown = [each for each in found if each not in names]
    if unknown or not found:
        raise ValueError(f"'{', '.join(unknown) or text}' is none of {', '.join(names)}")
    return found


def parts_of(text: str) -> list[str]:
    """Return the parts between commas that are in no brackets."""
    parts, level = [""], 0
    for sign in text:
        level += (sign in "<(") - (sign in ">)")
        if sign == "," and level == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part for part in parts if part.strip()]


def read_response(text: str) -> dict[str, Any]:
    """Return the `response` of an endpoint that a person has typed."""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict):
        raise ValueError("write a response as in {format: csv, delimiter: ';'}")
    contract_of({"endpoint": {"path": "/", "response": found}})
    return found


def about_column(column: ColumnGuess) -> str:
    """Return what was seen of a column, in brackets; nothing if there is nothing to say."""
    nulls = f"null in {column.nulls} of {column.total}" if 0 < column.nulls < column.total else ""
    place = f"from {column.field}" if column.field else ""
    notes = "; ".join(filter(None, (place, column.saw, nulls)))
    return f"  ({notes})" if notes else ""
