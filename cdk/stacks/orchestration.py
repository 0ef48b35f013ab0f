"""What starts runs: schedules, the inbox, the sweeper."""

from collections.abc import Iterable
from typing import Any

from aws_cdk import Stack
from constructs import Construct

from cdk.constructs.access import FUNCTION_ACCESS, grant_landing
from cdk.constructs.bundle import function_code
from cdk.constructs.inbox import Inbox, queue
from cdk.constructs.pause import WORK, PausedSchedules
from cdk.constructs.schedules import Schedules
from cdk.constructs.step_lambda import StepLambda
from cdk.constructs.sweeper import Sweeper
from cdk.stacks.compute import ComputeStack, common_variables
from cdk.stacks.storage import StorageStack
from lakekit.config.environment import Environment
from lakekit.config.source import Source


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
            machine=compute.machines["load_source"],
            dead_letters=unscheduled,
        )
        route_file = compute.functions["route_file"]
        Inbox(
            self,
            "inbox",
            environment=environment,
            landing=storage.landing,
            function=route_file.function,
            role=route_file.role,
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
        Sweeper(
            self, "sweeper", environment=environment, function=compute.functions["sweep"].function
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
