"""Paths into a JSON text: `$.data.items`, `$['odata.value'][0]`, `$.edges[*].node`."""

import re
from functools import cache
from typing import Annotated

from pydantic import AfterValidator

# A name of a field, the place in a list from 0, or every item of a list.
Step = str | int
_STEP = re.compile(
    r"\.(?P<name>[^\W\d][\w-]*)"
    r"|\[(?P<index>0|[1-9][0-9]{0,5})\]"
    r"|(?P<every>\[\*\])"
    r"|\[(?:'(?P<single>(?:[^'\\]|\\['\\])*)'|\"(?P<double>(?:[^\"\\]|\\[\"\\])*)\")\]"
)


class Every:
    """Every item of a list; no name of a field is equal to it."""


@cache
def path_steps(path: str) -> tuple[Step | type[Every], ...]:
    """Return the steps of a path.

    Raises:
        ValueError: It is none.

    Example:
        >>> path_steps("$.data['first name'][0].items")
        ('data', 'first name', 0, 'items')
    """
    if not path.startswith("$"):
        raise ValueError("must begin with $, which is the whole answer, as in $.data.items")
    steps: list[Step | type[Every]] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if not found:
            raise ValueError(
                f"{path[at:]!r} is no step: write .name, ['any name'], [0] or [*]; "
                "a name with other characters than letters, digits, _ and - needs the second form"
            )
        steps.append(_step(found))
        at = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step | type[Every]:
    if found["every"]:
        return Every
    if found["index"]:
        return int(found["index"])
    quoted = found["single"] if found["single"] is not None else found["double"]
    return found["name"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def path_of(steps: tuple[Step | type[Every], ...]) -> str:
    """Return the text of a path.

    Example:
        >>> path_of(("page", "@odata.next", 0, Every))
        "$.page['@odata.next'][0][*]"
    """
    return "$" + "".join(map(_text, steps))


def _text(step: Step | type[Every]) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if not isinstance(step, str):
        return "[*]"
    if re.fullmatch(r"[^\W\d][\w-]*", step):
        return f".{step}"
    escaped = step.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def _is_path(path: str) -> str:
    path_steps(path)
    return path


def _is_single(path: str) -> str:
    if path == "$":
        raise ValueError("must lead to a value in the answer, as $.next does")
    if Every in path_steps(path):
        raise ValueError("must lead to one value; [*] is for the records alone")
    return path


RecordsPath = Annotated[str, AfterValidator(_is_path)]
ValuePath = Annotated[str, AfterValidator(_is_single)]
