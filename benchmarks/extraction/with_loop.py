"""A plain loop as a contestant: `python -m benchmarks.extraction.with_loop URL/PATH FOLDER`.

What one writes first: a session of requests, its parsed JSON, one line for each record in a gzip
file of the level that Lakekit uses. It has no guards, retries or digests.
"""

import gzip
import json
import sys
from pathlib import Path

import requests

from benchmarks.extraction.process import Watch


def main() -> int:
    """Extract, and print what that took as a line of JSON."""
    url, folder = sys.argv[1:]
    rows, watch = 0, Watch()
    with (
        requests.Session() as session,
        gzip.open(Path(folder) / "records.jsonl.gz", "wt", compresslevel=6) as file,
    ):
        while url:
            response = session.get(url, timeout=300)
            response.raise_for_status()
            page = response.json()
            for record in page["items"]:
                file.write(json.dumps(record) + "\n")
                rows += 1
            url = page["next"]
    sys.stdout.write(json.dumps(watch.figures(rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
