"""What starts and chains the steps: state machines, schedules, the inbox, failure notices."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk.constructs.definitions import TOKENS
from cdk.constructs.failures import Failures
from cdk.constructs.inbox import Inbox, queue
from cdk.constructs.machine import Machine
from cdk.constructs.schedules import Schedules
from cdk.constructs.sweeper import Sweeper
from cdk.stacks.compute import ComputeStack
from cdk.stacks.storage import StorageStack
from lakekit.config.environment import Environment
from lakekit.config.source import Source

RUN_JOB = ["glue:StartJobRun", "glue:GetJobRun", "glue:GetJobRuns", "glue:BatchStopJobRun"]


def token(step: str, kind: str) -> str:
    """Return a step's token.

    >>> token("start_run", "Function")
    'StartRunFunction'
    """
    return "".join(word.capitalize() for word in step.split("_")) + kind


class OrchestrationStack(Stack):
    def __init__(  # noqa: PLR0913  options by name
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        sources: Iterable[Source],
        root: Path,
        storage: StorageStack,
        compute: ComputeStack,
        **props: Any,
    ) -> None:
        super().__init__(scope, id, **props)
        self._compute = compute
        self.failures = Failures(self, "failures", environment=environment, key=storage.key)
        supply = self._supply(storage)
        self.maintain_tables = Machine(
            self, "maintain_tables", environment=environment, root=root, supply=supply
        )
        supply["MaintainTablesStateMachine"] = self.maintain_tables.state_machine_arn
        self.load_source = Machine(
            self, "load_source", environment=environment, root=root, supply=supply
        )
        self.maintain_tables.grant_start_execution(self.load_source)
        for machine in (self.load_source, self.maintain_tables):
            self._grant(machine)
            self.failures.alarm_time_outs(machine, machine.node.id)
        unscheduled = queue(self, environment, "schedules_dead", days=14)
        self.failures.alarm(unscheduled, "schedules_dead")
        Schedules(
            self,
            "schedules",
            environment=environment,
            sources=sources,
            machine=self.load_source,
            dead_letters=unscheduled,
        )
        route_file = compute.functions["route_file"]
        inbox = Inbox(
            self,
            "inbox",
            environment=environment,
            landing=storage.landing,
            function=route_file.function,
            role=route_file.role,
        )
        self.failures.alarm(inbox.dead_letters, "inbox_dead")
        Sweeper(
            self, "sweeper", environment=environment, function=compute.functions["sweep"].function
        )

    def _supply(self, storage: StorageStack) -> dict[str, str]:
        compute = self._compute
        functions = {
            token(step, "Function"): each.function.function_arn
            for step, each in compute.functions.items()
            if step not in ("route_file", "sweep")
        }
        jobs = {token(name, "Job"): each.job.job_name for name, each in compute.jobs.items()}
        return {
            **functions,
            **jobs,
            "LandingBucket": storage.landing.bucket_name,
            "Database": storage.database,
            "Warehouse": storage.warehouse,
            "FailureTopic": self.failures.topic.topic_arn,
        }

    def _grant(self, machine: Machine) -> None:
        """Allow a machine what its tokens name, and nothing else."""
        tokens = TOKENS[machine.node.id]
        for step, each in self._compute.functions.items():
            if token(step, "Function") in tokens:
                each.function.grant_invoke(machine)
        jobs = [j.job for name, j in self._compute.jobs.items() if token(name, "Job") in tokens]
        machine.add_to_role_policy(
            iam.PolicyStatement(actions=RUN_JOB, resources=[job.job_arn for job in jobs])
        )
        self.failures.topic.grant_publish(machine)
