"""What starts runs: schedules, the inbox, streams, the sweeper.

It knows functions and machines by names alone, and imports nothing of compute: a step can come and
go.
"""

from collections.abc import Iterable
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk.constructs.access import FUNCTION_ACCESS, grant_landing
from cdk.constructs.bundle import function_code
from cdk.constructs.inbox import Inbox, queue
from cdk.constructs.inbox_stream import InboxStream
from cdk.constructs.pause import WORK, PausedSchedules
from cdk.constructs.preparation import Preparations
from cdk.constructs.refresh import DatasetRefreshes
from cdk.constructs.schedules import Schedules
from cdk.constructs.sharing import WORK as SHARING
from cdk.constructs.sharing import Sharing, sharing_variables
from cdk.constructs.step_lambda import StepLambda
from cdk.constructs.sweeper import Sweeper
from cdk.stacks.compute import FUNCTIONS, ComputeStack, common_variables
from cdk.stacks.storage import StorageStack
from lakekit.config.environment import Environment
from lakekit.config.functions import Step
from lakekit.config.source import Source

# Holds what should have been done for readers, and was not.
LOADED_DEAD = "loaded_dead"


class OrchestrationStack(Stack):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        sources: Iterable[Source],
        storage: StorageStack,
        compute: ComputeStack,
        **props: Any,
    ) -> None:
        super().__init__(scope, id, **props)
        unscheduled = queue(self, environment, "schedules_dead", days=14)
        schedules = Schedules(
            self,
            "schedules",
            environment=environment,
            sources=sources,
            machine=sfn.StateMachine.from_state_machine_arn(
                self, "load_source", compute.load_source_arn
            ),
            dead_letters=unscheduled,
        )
        Inbox(
            self,
            "inbox",
            environment=environment,
            landing=storage.landing,
            function=self._function(environment, "route_file"),
            seconds=FUNCTIONS["route_file"].seconds,
        )
        # In a scope of its own: a contract may be called `inbox`.
        streams = Construct(self, "streams")
        for stream in environment.streams:
            InboxStream(
                streams,
                environment=environment,
                stream=stream,
                landing=storage.landing,
                keys=(storage.key, storage.log_key),
            )
        if pause := environment.pause:
            PausedSchedules(
                self,
                "pause",
                environment=environment,
                pause=pause,
                function=self._pausing(schedules, storage, compute),
                schedules=schedules,
            )
        self._share(environment, storage, compute)
        if environment.preparations:
            Preparations(
                self,
                "preparations",
                environment=environment,
                landing=storage.landing,
                key=storage.key,
            )
        Sweeper(
            self,
            "sweeper",
            environment=environment,
            function=self._function(environment, "sweep"),
            dead_letters=unscheduled,
        )

    def _share(
        self, environment: Environment, storage: StorageStack, compute: ComputeStack
    ) -> None:
        """Do for readers what follows a load."""
        if not (environment.shares_tables or environment.refreshes):
            return
        dead = queue(self, environment, LOADED_DEAD, days=14)
        if environment.shares_tables:
            function = StepLambda(
                self,
                "share_table",
                deployment=compute.deployment,
                code=function_code(self, compute.deployment.root, ("functions",)),
                work=SHARING,
                variables={
                    **common_variables(environment, storage),
                    **sharing_variables(environment),
                    "LAKEKIT_CONFIG_PARAMETER": compute.configuration.name,
                },
            )
            compute.configuration.grant_read(function.role)
            Sharing(
                self,
                "sharing",
                environment=environment,
                storage=storage,
                function=function,
                dead_letters=dead,
            )
        if environment.refreshes:
            DatasetRefreshes(
                self,
                "refreshes",
                environment=environment,
                log_key=storage.log_key,
                dead_letters=dead,
            )

    def _function(self, environment: Environment, step: Step) -> lambda_.IFunction:
        name = environment.name(step)
        arn = self.format_arn(service="lambda", resource=f"function:{name}")
        return lambda_.Function.from_function_attributes(
            self, step, function_arn=arn, same_environment=True
        )

    def _pausing(
        self, schedules: Schedules, storage: StorageStack, compute: ComputeStack
    ) -> StepLambda:
        environment = compute.deployment.environment
        function = StepLambda(
            self,
            "pause_schedules",
            deployment=compute.deployment,
            code=function_code(self, compute.deployment.root, ("functions",)),
            work=WORK,
            variables={
                **common_variables(environment, storage),
                "LAKEKIT_SCHEDULE_GROUP": schedules.group,
            },
        )
        grant_landing(storage.landing, function.role, FUNCTION_ACCESS["pause_schedules"])
        return function
