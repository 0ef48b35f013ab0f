"""MaintainTables: compact, expire and tidy the tables of a source where health asks for it."""

import os
import sys

import boto3

from lakekit.aws.configuration.stored import configuration_of_job
from lakekit.aws.job_runs import wait_for_earlier_runs
from lakekit.aws.lease import Leases
from lakekit.aws.object_store import S3ObjectStore
from lakekit.aws.settings import utc_now
from lakekit.aws.telemetry.job_log import logged_job
from lakekit.config.load import read_contracts
from lakekit.spark.jobs import maintain_tables
from lakekit.spark.session.session import job_session
from lakekit.steps.events import job_arguments
from lakekit.steps.jobs import MaintainTables


def main(argv: list[str]) -> None:
    """Run the job."""
    arguments = job_arguments(MaintainTables, argv)
    wait_for_earlier_runs(argv, arguments.run_id, boto3.client("glue"))
    store = S3ObjectStore(arguments.landing_bucket, boto3.client("s3"))
    folder = configuration_of_job(os.environ, arguments.config_parameter)
    contracts = read_contracts(folder, arguments.source)
    leases = Leases(store, utc_now, lifetime=arguments.lease_lifetime)
    with logged_job("maintain_tables", arguments):
        maintain_tables(job_session(), store, arguments, contracts, leases=leases, clock=utc_now)


if __name__ == "__main__":
    main(sys.argv)
