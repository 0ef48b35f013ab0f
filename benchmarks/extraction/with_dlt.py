"""dlt's pipeline as a contestant: `python -m benchmarks.extraction.with_dlt URL/PATH FOLDER`.

Its source `rest_api` into its destination `filesystem`: extract, normalize and load, with the
settings that dlt brings. It writes gzip JSON lines, with two columns of its own in each record.
"""

import json
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

os.environ |= {"RUNTIME__DLTHUB_TELEMETRY": "false", "RUNTIME__LOG_LEVEL": "ERROR"}

import dlt
from dlt.sources.rest_api import rest_api_source

from benchmarks.extraction.process import Watch


def main() -> int:
    """Extract, and print what that took as a line of JSON."""
    url, place = sys.argv[1:]
    address, folder = urlsplit(url), Path(place)
    watch = Watch()
    pipeline = dlt.pipeline(
        "bench",
        destination=dlt.destinations.filesystem(bucket_url=str(folder / "landed")),
        dataset_name="shop",
        pipelines_dir=str(folder / "pipelines"),
    )
    source = rest_api_source(
        {
            "client": {
                "base_url": f"{address.scheme}://{address.netloc}",
                "paginator": {"type": "json_link", "next_url_path": "next"},
            },
            "resources": [
                {
                    "name": "orders",
                    "endpoint": {"path": address.path.strip("/"), "data_selector": "items"},
                }
            ],
        }
    )
    pipeline.run(source, loader_file_format="jsonl")
    trace = pipeline.last_trace.last_normalize_info
    rows = trace.row_counts["orders"] if trace else 0
    sys.stdout.write(json.dumps(watch.figures(rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
