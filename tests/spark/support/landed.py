"""Records as a run lands them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def land(file: Path, records: Iterable[Any]) -> str:
    """Write records, and raw lines as they are; return where."""
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    file.write_text("".join(f"{line}\n" for line in lines))
    return str(file)
