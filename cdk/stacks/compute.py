"""What runs: a function for each light step, a Glue job for each Spark step, and their machines.

In one stack, so that a release is deployed, or taken back, as a whole. Definitions name versions of
functions, whose names change with each release: another stack could not import them.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.constructs.access import (
    FUNCTION_ACCESS,
    JOB_ACCESS,
    grant_lake,
    grant_lake_metadata,
    grant_landing,
    grant_published,
)
from cdk.constructs.bundle import function_code, library
from cdk.constructs.catalog import allow_catalog_key
from cdk.constructs.configuration import Configuration
from cdk.constructs.definitions import TOKENS, token
from cdk.constructs.deployment import Deployment
from cdk.constructs.failures import Failures
from cdk.constructs.job_logs import JobLogs
from cdk.constructs.lake_formation import Grants, allow_loaders, location_arn
from cdk.constructs.machine import Machine
from cdk.constructs.secrets import ReadableSecrets, decrypting, reading, secret_names
from cdk.constructs.spark_job import JobPackages, JobSettings, SparkJob, spark_conf
from cdk.constructs.step_lambda import StepLambda, Work
from cdk.constructs.wheels import Wheels
from cdk.stacks.storage import SPARK_EVENTS, StorageStack
from lakekit import layout
from lakekit.config.environment import Environment
from lakekit.config.functions import Step
from lakekit.config.source import Source

# Seconds: as the tasks of load_source have them, so that the function ends first. No task waits for
# route_file, which lands a batch of files one after the other. How many at once: what 200 sources
# ask for that start together, and in all less than the 900 that an account can give away.
FUNCTIONS: dict[Step, Work] = {
    "start_run": Work(55, 50),
    "extract_pages": Work(890, 200),
    "claim_landings": Work(115, 50),
    "validate_landing": Work(890, 150),
    "plan_tables": Work(290, 50),
    "complete_run": Work(290, 50),
    "record_failure": Work(55, 50),
    "start_pending": Work(55, 10),
    "route_file": Work(890, 20),
    "sweep": Work(890, 1),
}
# Those that read sources and contracts; what a run needs is pinned in its own documents.
CONFIGURED: tuple[Step, ...] = ("start_run", "route_file", "sweep")
# Who starts the runs of a source, and who asks or takes the leases of its tables.
STARTING: tuple[Step, ...] = (
    "complete_run",
    "record_failure",
    "start_pending",
    "route_file",
    "sweep",
)
# Who sends events of lineage.
LINEAGE: tuple[Step, ...] = ("start_run", "complete_run", "record_failure")
# Who reads tables' metadata by the catalog.
CATALOG_READERS: tuple[Step, ...] = ("plan_tables", "complete_run", "sweep")
LEASING: tuple[Step, ...] = (*STARTING, "claim_landings")
EXTRAS = {"extract_pages": ("functions", "extract")}
JOBS = ("create_tables", "merge_scd2", "maintain_tables", "rebuild_table")
# Of the jobs, those that take leases themselves, and read contracts.
HOLDERS = ("maintain_tables", "rebuild_table")
# Those that stage change sets.
MERGING = ("merge_scd2", "rebuild_table")
# What each does to tables in the catalog: a merge makes those of a journal or a quarantine, too.
_MADE = ("GetTable", "CreateTable", "UpdateTable")
CATALOG = {
    "create_tables": _MADE,
    "merge_scd2": _MADE,
    "maintain_tables": ("GetTable", "UpdateTable"),
    "rebuild_table": _MADE,
}
# Its runs share the lease's owner, so that the next takes over what one left behind.
ALONE = ("rebuild_table",)
RUN_JOB = ["glue:StartJobRun", "glue:GetJobRun", "glue:GetJobRuns", "glue:BatchStopJobRun"]


def common_variables(environment: Environment, storage: StorageStack) -> dict[str, str]:
    """Return the variables of every function."""
    return {
        "LAKEKIT_ENVIRONMENT": environment.environment,
        "LAKEKIT_LANDING_BUCKET": storage.landing.bucket_name,
        "LAKEKIT_DATABASE": storage.database,
        "LAKEKIT_WAREHOUSE": storage.warehouse,
        "LAKEKIT_LEASE_SECONDS": str(environment.timeouts.lease),
    }


class ComputeStack(Stack):
    def __init__(  # noqa: PLR0913  parts by name
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        root: Path,
        config: Path,
        sources: Iterable[Source],
        storage: StorageStack,
        **props: Any,
    ) -> None:
        super().__init__(scope, id, **props)
        self._environment = environment
        self._root = root
        self._storage = storage
        self.deployment = Deployment(environment, root, storage.log_key)
        self.load_source_arn = self._machine_arn("load_source")
        self.maintain_tables_arn = self._machine_arn("maintain_tables")
        self.configuration = Configuration(
            self, "configuration", environment=environment, config=config
        )
        self.functions = {step: self._function(step) for step in FUNCTIONS}
        secrets = ReadableSecrets(
            self,
            "secrets",
            role=self.functions["extract_pages"].role,
            names=secret_names(environment, sources),
            key=storage.key,
        )
        self._grant_functions()
        packages = JobPackages(root, library(self, root), Wheels(self, "wheels", root=root))
        job_logs = JobLogs(
            self,
            "job_logs",
            environment=environment,
            key=storage.key,
            log_key=storage.log_key,
            events=(storage.results, SPARK_EVENTS),
        )
        self.jobs = {
            job: SparkJob(
                self,
                job,
                environment=environment,
                packages=packages,
                settings=self._settings(job),
                logs=job_logs,
            )
            for job in JOBS
        }
        for name, job in self.jobs.items():
            grant_landing(storage.landing, job.role, JOB_ACCESS[name])
            self._grant_lake(name, job)
            for statement in storage.catalog_statements(*CATALOG[name]):
                job.role.add_to_policy(statement)
            if name in HOLDERS:
                self.configuration.grant_read(job.role)
            if name not in ALONE:
                job.role.add_to_policy(self._own_runs_statement(name))
        self.jobs["rebuild_table"].role.add_to_policy(storage.drop_shadows_statement())
        self._govern()
        self.failures = Failures(self, "failures", environment=environment, key=storage.log_key)
        self.machines = self._machines()
        # A release that knows a new field is there before the files that have it, and the right to
        # a secret before the source that names it.
        for each in (*self.functions.values(), *self.jobs.values(), secrets):
            self.configuration.parameter.node.add_dependency(each)

    def _govern(self) -> None:
        """Let who uses the catalog use its key, and be known to Lake Formation."""
        writers = {name: job.role for name, job in self.jobs.items()}
        readers = {step: self.functions[step].role for step in CATALOG_READERS}
        for role in (*writers.values(), *readers.values()):
            allow_catalog_key(role, self._environment)
        if self._environment.lake_formation:
            place = location_arn(self, self._storage.lake.bucket_name)
            grants = Grants(Construct(self, "lake_formation"), self._environment)
            allow_loaders(grants, location=place, writers=writers, readers=readers)

    def _machines(self) -> dict[str, Machine]:
        supply = self._supply()
        # A job is called `maintain_tables` too.
        scope = Construct(self, "machines")

        def made(name: str) -> Machine:
            machine = Machine(scope, name, deployment=self.deployment, supply=supply)
            self._grant_machine(machine)
            return machine

        maintain_tables = made("maintain_tables")
        supply["MaintainTablesStateMachine"] = maintain_tables.state_machine_arn
        load_source = made("load_source")
        maintain_tables.grant_start_execution(load_source)
        return {"load_source": load_source, "maintain_tables": maintain_tables}

    def _supply(self) -> dict[str, str]:
        storage = self._storage
        named = {name for tokens in TOKENS.values() for name in tokens}
        functions = {token(step, "Function"): each for step, each in self.functions.items()}
        return {
            **{name: functions[name].version.function_arn for name in functions.keys() & named},
            **{token(name, "Job"): each.job.job_name for name, each in self.jobs.items()},
            "LandingBucket": storage.landing.bucket_name,
            "Database": storage.database,
            "Warehouse": storage.warehouse,
            "FailureTopic": self.failures.topic.topic_arn,
        }

    def _grant_machine(self, machine: Machine) -> None:
        """Allow a machine what its tokens name, and nothing else.

        Of a function that is each version, also those of executions that began before.
        """
        tokens = TOKENS[machine.node.id]
        functions = [
            f"{each.function.function_arn}:*"
            for step, each in self.functions.items()
            if token(step, "Function") in tokens
        ]
        jobs = [j.job.job_arn for name, j in self.jobs.items() if token(name, "Job") in tokens]
        for actions, resources in ((["lambda:InvokeFunction"], functions), (RUN_JOB, jobs)):
            machine.add_to_role_policy(iam.PolicyStatement(actions=actions, resources=resources))
        self.failures.allow_publishing(machine)

    def _grant_lake(self, name: str, job: SparkJob) -> None:
        """Let a job read tables, and write them: metadata alone, all files, change sets of merges.

        For a new column CreateTables looks for the newest extract, which data files may say alone.
        """
        tables = f"warehouse/{self._environment.database}.db/"
        staged = (f"warehouse/{layout.STAGING}",) if name in MERGING else ()
        write = f"{tables}*/metadata/" if name == "create_tables" else tables
        lake = self._storage.lake
        grant_lake(lake, job.role, read=(tables, *staged), write=(write, *staged))

    def _own_runs_statement(self, job: str) -> iam.PolicyStatement:
        """A job waits for an earlier run of its own that Step Functions has lost."""
        arn = self.format_arn(service="glue", resource=f"job/{self._environment.name(job)}")
        return iam.PolicyStatement(actions=["glue:GetJobRuns"], resources=[arn])

    @property
    def _load_jobs(self) -> list[str]:
        """The names of the jobs of a run, whose use CompleteRun asks for."""
        return [self._environment.name(job) for job in ("create_tables", "merge_scd2")]

    def _machine_arn(self, machine: str) -> str:
        return self.format_arn(
            service="states",
            resource="stateMachine",
            resource_name=self._environment.name(machine),
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )

    def _settings(self, job: str) -> JobSettings:
        """Return what a run gets that is not started with workers of its own, as a merge is.

        The bytes that maintenance and a rebuild will read are not known before: Glue scales down.
        """
        jobs = self._environment.jobs
        number = jobs.max_workers if job in HOLDERS else jobs.min_workers
        return JobSettings(
            workers=jobs.workers(0).model_copy(update={"number": number}),
            runs_at_once=1 if job in ALONE else jobs.max_concurrent_runs,
            arguments=self._arguments(job),
        )

    def _arguments(self, job: str) -> dict[str, str]:
        tiering = self._environment.storage.lake_tiering
        found = {"--conf": spark_conf(self._storage.warehouse, tiering=tiering)}
        if job in HOLDERS:
            found["--lease_seconds"] = str(self._environment.timeouts.lease)
            found["--config_parameter"] = self.configuration.name
        return found

    def _function(self, step: Step) -> StepLambda:
        storage = self._storage
        variables = common_variables(self._environment, storage)
        if step == "plan_tables":
            variables["LAKEKIT_JOBS"] = self._environment.jobs.model_dump_json()
        if step == "complete_run":
            variables["LAKEKIT_LOAD_JOBS"] = json.dumps(self._load_jobs)
            variables["LAKEKIT_TABLE_METRICS"] = str(self._environment.table_metrics).lower()
            variables["LAKEKIT_RESULTS_BUCKET"] = storage.results.bucket_name
        if step in LINEAGE and self._environment.lineage:
            given = self._environment.lineage.model_dump(exclude_none=True)
            catalog = f"arn:{self.partition}:glue:{self.region}:{self.account}"
            variables["LAKEKIT_LINEAGE"] = json.dumps({**given, "catalog": catalog})
        if step == "sweep":
            variables["LAKEKIT_SCHEDULES"] = str(self._environment.schedules).lower()
            if self._environment.pause:
                variables["LAKEKIT_PAUSE"] = self._environment.pause.model_dump_json()
        if step in LEASING:
            variables["LAKEKIT_LOAD_SOURCE_ARN"] = self.load_source_arn
            variables["LAKEKIT_MAINTAIN_TABLES_ARN"] = self.maintain_tables_arn
        if step in CONFIGURED:
            variables["LAKEKIT_CONFIG_PARAMETER"] = self.configuration.name
        function = StepLambda(
            self,
            step,
            deployment=self.deployment,
            code=function_code(self, self._root, EXTRAS.get(step, ("functions",))),
            work=FUNCTIONS[step],
            variables=variables,
        )
        grant_landing(storage.landing, function.role, FUNCTION_ACCESS[step])
        if step in CONFIGURED:
            self.configuration.grant_read(function.role)
        return function

    def _grant_functions(self) -> None:
        storage = self._storage
        for step in CATALOG_READERS:
            for statement in storage.catalog_statements("GetTable"):
                self.functions[step].allow(statement)
            grant_lake_metadata(storage.lake, self.functions[step].role)
        grant_published(storage.results, self.functions["complete_run"].role)
        self.functions["complete_run"].allow(
            iam.PolicyStatement(
                actions=["events:PutEvents"],
                resources=[self.format_arn(service="events", resource="event-bus/default")],
            )
        )
        inbox = self.format_arn(service="sqs", resource=self._environment.name("inbox"))
        self.functions["route_file"].allow(
            iam.PolicyStatement(
                actions=["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
                resources=[inbox],
            )
        )
        jobs = [self.format_arn(service="glue", resource=f"job/{each}") for each in self._load_jobs]
        self.functions["complete_run"].allow(
            iam.PolicyStatement(actions=["glue:GetJobRuns"], resources=jobs)
        )
        self._grant_lineage()
        for step in STARTING:
            self.functions[step].allow(
                iam.PolicyStatement(
                    actions=["states:StartExecution"], resources=[self.load_source_arn]
                )
            )
        # A lease whose execution has ended may be taken over before it expires.
        machines = (self.load_source_arn, self.maintain_tables_arn)
        executions = [f"{arn.replace(':stateMachine:', ':execution:')}:*" for arn in machines]
        for step in LEASING:
            self.functions[step].allow(
                iam.PolicyStatement(actions=["states:DescribeExecution"], resources=executions)
            )

    def _grant_lineage(self) -> None:
        """Let functions write below the prefix of lineage, or read the token of its address."""
        lineage = self._environment.lineage
        for step in LINEAGE if lineage else ():
            if lineage and lineage.url.startswith("s3://"):
                place = lineage.url.removeprefix("s3://").rstrip("/")
                objects = self.format_arn(
                    service="s3", region="", account="", resource=f"{place}/*",
                    arn_format=ArnFormat.NO_RESOURCE_NAME,
                )  # fmt: skip
                self.functions[step].allow(
                    iam.PolicyStatement(actions=["s3:PutObject"], resources=[objects])
                )
            elif lineage and lineage.secret:
                name = lineage.secret.replace("{environment}", self._environment.environment)
                self.functions[step].allow(reading(self, [name]))
                self.functions[step].allow(decrypting(self, self._storage.key))
