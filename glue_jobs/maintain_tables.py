"""MaintainTables: compact, expire and tidy the tables of a source where their health asks for it."""

import sys
from datetime import UTC, datetime

import boto3

from lakekit.aws.object_store import S3ObjectStore
from lakekit.config import default_folder, read_contracts
from lakekit.spark.jobs import maintain_tables
from lakekit.spark.session import job_session
from lakekit.steps import MaintainTables, job_arguments


def main(argv: list[str]) -> None:
    """Run the job."""
    arguments = job_arguments(MaintainTables, argv)
    store = S3ObjectStore(arguments.landing_bucket, boto3.client("s3"))
    contracts = read_contracts(default_folder(), arguments.source)
    maintain_tables(job_session(), store, arguments, contracts, lambda: datetime.now(UTC))


if __name__ == "__main__":
    main(sys.argv)
