"""The frames of windows: a key may have many rows."""

import ast
from pathlib import Path

import lakekit.spark


def frames() -> list[str]:
    """Return the calls that give a window its frame."""
    files = Path(lakekit.spark.__path__[0]).rglob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return [
        ast.unparse(call)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("sBetween")
    ]


def test_no_frame_has_all_rows_ahead_of_each_row_as_spark_would_read_them_for_each() -> None:
    found = frames()

    ahead = [frame for frame in found if "unboundedFollowing" in frame]
    assert len(found) > len(ahead)
    assert not [frame for frame in ahead if "(Window.unboundedPreceding, " not in frame]
