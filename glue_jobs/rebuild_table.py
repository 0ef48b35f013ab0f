"""RebuildTable: derive a table again from the runs that its landing bucket has."""

import os
import sys

import boto3

from lakekit.aws.configuration.stored import configuration_of_job
from lakekit.aws.lease import Leases
from lakekit.aws.object_store import S3ObjectStore
from lakekit.aws.settings import utc_now
from lakekit.aws.telemetry.job_log import logged_job
from lakekit.config.load import read_contracts
from lakekit.spark.rebuild.job import rebuild_from_landing
from lakekit.spark.session.session import job_session
from lakekit.steps.events import job_arguments
from lakekit.steps.jobs import RebuildTable


def main(argv: list[str]) -> None:
    """Run the job."""
    arguments = job_arguments(RebuildTable, argv)
    store = S3ObjectStore(arguments.landing_bucket, boto3.client("s3"))
    folder = configuration_of_job(os.environ, arguments.config_parameter)
    contracts = read_contracts(folder, arguments.source)
    leases = Leases(store, utc_now, lifetime=arguments.lease_lifetime)
    with logged_job("rebuild_table", arguments):
        rebuild_from_landing(job_session(), store, arguments, contracts, leases=leases)


if __name__ == "__main__":
    main(sys.argv)
