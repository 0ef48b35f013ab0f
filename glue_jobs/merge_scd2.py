"""MergeScd2: fold the landed records of a run into the history of its tables."""

import sys

import boto3

from lakekit.aws.job_runs import wait_for_earlier_runs
from lakekit.aws.object_store import S3ObjectStore
from lakekit.aws.settings import utc_now
from lakekit.aws.telemetry.job_log import logged_job
from lakekit.spark.jobs import merge_tables
from lakekit.spark.session.session import job_session
from lakekit.steps.events import job_arguments
from lakekit.steps.jobs import MergeScd2


def main(argv: list[str]) -> None:
    """Run the job."""
    arguments = job_arguments(MergeScd2, argv)
    wait_for_earlier_runs(argv, arguments.run_id, boto3.client("glue"))
    store = S3ObjectStore(arguments.landing_bucket, boto3.client("s3"))
    with logged_job("merge_scd2", arguments):
        merge_tables(job_session(), store, arguments, clock=utc_now)


if __name__ == "__main__":
    main(sys.argv)
