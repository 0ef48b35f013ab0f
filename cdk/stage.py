"""One environment: its storage, compute, orchestration and monitoring."""

from collections.abc import Iterable
from pathlib import Path

from aws_cdk import Environment as CdkEnvironment
from aws_cdk import PermissionsBoundary, Stage, Tags
from constructs import Construct

from cdk.stacks.compute import ComputeStack
from cdk.stacks.monitoring import MonitoringStack
from cdk.stacks.orchestration import OrchestrationStack
from cdk.stacks.storage import StorageStack
from lakekit.config.environment import Environment
from lakekit.config.source import Source


class LakekitStage(Stage):
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        sources: Iterable[Source],
        root: Path,
        config: Path,
    ) -> None:
        place = CdkEnvironment(account=environment.account, region=environment.region)
        boundary = environment.permissions_boundary
        super().__init__(
            scope,
            id,
            env=place,
            permissions_boundary=PermissionsBoundary.from_name(boundary) if boundary else None,
        )
        self.storage = StorageStack(
            self,
            "storage",
            environment=environment,
            stack_name=environment.name("storage"),
            termination_protection=environment.storage.removal == "retain",
        )
        self.compute = ComputeStack(
            self,
            "compute",
            environment=environment,
            root=root,
            config=config,
            storage=self.storage,
            stack_name=environment.name("compute"),
        )
        self.orchestration = OrchestrationStack(
            self,
            "orchestration",
            environment=environment,
            sources=sources,
            storage=self.storage,
            compute=self.compute,
            stack_name=environment.name("orchestration"),
        )
        self.monitoring = MonitoringStack(
            self,
            "monitoring",
            environment=environment,
            stack_name=environment.name("monitoring"),
        )
        # It names the topic, which must be there.
        self.monitoring.add_stack_dependency(self.compute)
        for key, value in environment.all_tags.items():
            Tags.of(self).add(key, value)
