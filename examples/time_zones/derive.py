"""Derive the change files in `data/` from releases of the `tzdata` package on PyPI.

.venv/bin/python examples/time_zones/derive.py

Each file holds what one release changed in `zone1970.tab`; the first one holds the whole table.
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
TABLE = "tzdata/zoneinfo/zone1970.tab"
# Every release since 2020a that changed the table: its name, the package that has it, and when it
# was published. The times are those in NEWS.md of the package's source distribution.
RELEASES = (
    ("2020a", "2020.1", "2020-04-23T23:03:47Z"),
    ("2020e", "2020.5", "2020-12-22T23:14:34Z"),
    ("2021b", "2021.2.post0", "2021-09-24T23:23:00Z"),  # 2021.2 has only a part of 2021b
    ("2022b", "2022.2", "2022-08-10T22:38:32Z"),
    ("2022d", "2022.4", "2022-09-23T19:02:57Z"),
    ("2022f", "2022.6", "2022-10-29T01:04:57Z"),
    ("2022g", "2022.7", "2022-11-29T16:58:31Z"),
    ("2023a", "2023.1", "2023-03-22T19:39:33Z"),
    ("2023d", "2023.4", "2023-12-22T04:02:24Z"),
    ("2024b", "2024.2", "2024-09-04T19:27:47Z"),
    ("2025a", "2025.1", "2025-01-15T18:47:24Z"),
    ("2025b", "2025.2", "2025-03-22T20:40:46Z"),
    ("2025c", "2025.3", "2025-12-10T22:42:37Z"),
    ("2026b", "2026.2", "2026-04-23T06:06:43Z"),
    ("2026c", "2026.3", "2026-07-08T17:23:58Z"),
    ("2026d", "2026.4", "2026-09-11T22:21:07Z"),
    ("2026e", "2026.5", "2026-09-30T00:14:38Z"),
)
# Releases before 2022b have this zone 4 degrees too far north: +5946 in place of +5546.
CORRECTED, CORRECTED_IN, CORRECTION_OF = "America/Dawson_Creek", "2022b", "2020a"

Zones = dict[str, dict[str, Any]]


def main() -> None:
    """Download the releases and write the files."""
    before: Zones = {}
    tables: dict[str, Zones] = {}
    for release, package, released_at in RELEASES:
        tables[release] = now = read_zones(download_table(package))
        write(f"{release}.ndjson", changes(before, now, released_at))
        before = now
    at = next(time for release, _, time in RELEASES if release == CORRECTION_OF)
    correct = tables[CORRECTED_IN][CORRECTED]
    write("correction.ndjson", [{**correct, "released_at": at, "op": "U"}])


def download_table(package: str) -> str:
    """Return the text of the table in one release of the package."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
        subprocess.run([*pip, f"tzdata=={package}"], check=True)  # noqa: S603
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(TABLE).decode()


def read_zones(table: str) -> Zones:
    """Return the rows of the table by the name of the zone."""
    lines = [line.split("\t") for line in table.splitlines() if not line.startswith("#")]
    return {
        name: {
            "name": name,
            "countries": countries,
            "coordinates": coordinates,
            "comments": comments[0] if comments else None,
        }
        for countries, coordinates, name, *comments in lines
    }


def changes(before: Zones, now: Zones, released_at: str) -> Iterator[dict[str, Any]]:
    """Yield a record of each zone that is new, has changed or is missing, by name."""
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield {"name": name, "released_at": released_at, "op": "D"}
        elif now[name] != before.get(name):
            yield {**now[name], "released_at": released_at, "op": "U"}


def write(name: str, records: Any) -> None:
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    (DATA / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
