"""What starts runs: schedules, the inbox, the sweeper."""

from collections.abc import Iterable
from typing import Any

from aws_cdk import Stack
from constructs import Construct

from cdk.constructs.inbox import Inbox, queue
from cdk.constructs.schedules import Schedules
from cdk.constructs.sweeper import Sweeper
from cdk.stacks.compute import ComputeStack
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
        Schedules(
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
        Sweeper(
            self, "sweeper", environment=environment, function=compute.functions["sweep"].function
        )
