"""Lakekit as a contestant, and its memory for a body: `python -m … URL/PATH FOLDER [ENDPOINT]`.

Runs what the function ExtractPages runs, with a folder in place of a bucket.
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.extraction.process import Watch
from benchmarks.landing import FolderStore
from lakekit import layout
from lakekit.config.source import load_source
from lakekit.contract.contract import load_contract
from lakekit.errors import LakekitError
from lakekit.extract import SourceClient
from lakekit.runs.documents import Run
from lakekit.runs.extract_pages import extract_pages
from lakekit.steps.functions import ExtractPages

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PAGED = "records: $.items, paginator: {type: next_url, next_path: $.next}"


def extract(url: str, folder: Path, endpoint: str = PAGED) -> dict[str, Any]:
    """Land what an address answers, and return what that took."""
    address = urlsplit(url)
    source = load_source(
        f"source: shop\nbase_url: {address.scheme}://{address.netloc}\n"
        "max_response_mb: 400\ntimeout_seconds: 300\ncall_budget: {max_requests_per_run: 100000}"
    )
    contract = load_contract(
        f"contract: orders\nsource: shop\nendpoint: {{path: {address.path}, {endpoint}}}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )
    run = Run(
        run_id="r", started_at=NOON, extraction_time=NOON, source=source, contracts=(contract,)
    )
    store: Any = FolderStore(folder)
    store.put(layout.run_key("r"), run.to_json())
    step = ExtractPages(run_id="r", source="shop", endpoint="orders")
    watch = Watch()
    try:
        outcome: Any = extract_pages(
            step, store, lambda s, limits: SourceClient(s, str, limits=limits), lambda: 890
        ).rows
    except LakekitError as error:
        outcome = f"{type(error).__name__}: {error}"
    return watch.figures(outcome)


def main(arguments: Sequence[str]) -> int:
    """Extract, and print what that took as a line of JSON."""
    url, folder, *endpoint = arguments
    sys.stdout.write(json.dumps(extract(url, Path(folder), *endpoint)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
