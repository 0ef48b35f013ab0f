"""One environment: storage, network, compute, orchestration, monitoring, delivery."""

from collections.abc import Iterable
from pathlib import Path

from aws_cdk import Environment as CdkEnvironment
from aws_cdk import PermissionsBoundary, Stage, Tags
from constructs import Construct

from cdk.stacks.compute import ComputeStack
from cdk.stacks.delivery import DeliveryStack
from cdk.stacks.monitoring import MonitoringStack
from cdk.stacks.network import NetworkStack
from cdk.stacks.orchestration import OrchestrationStack
from cdk.stacks.storage import StorageStack
from lakekit.config.environment import Environment
from lakekit.config.source import Source


class LakekitStage(Stage):
    """The stacks of an environment; `pipeline` is the one whose account has the pipeline of it."""

    def __init__(  # noqa: PLR0913  parts by name
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        sources: Iterable[Source],
        root: Path,
        config: Path,
        pipeline: Environment | None = None,
    ) -> None:
        place = CdkEnvironment(account=environment.account, region=environment.region)
        boundary = environment.permissions_boundary
        super().__init__(
            scope,
            id,
            env=place,
            permissions_boundary=PermissionsBoundary.from_name(boundary) if boundary else None,
        )
        retained = environment.storage.removal == "retain"
        self.storage = StorageStack(
            self,
            "storage",
            environment=environment,
            stack_name=environment.name("storage"),
            termination_protection=retained,
        )
        self.network = None
        if environment.network:
            self.network = NetworkStack(
                self,
                "network",
                environment=environment,
                network=environment.network,
                sources=sources,
                log_key=self.storage.log_key,
                stack_name=environment.name("network"),
                termination_protection=retained,
            )
        self.compute = ComputeStack(
            self,
            "compute",
            environment=environment,
            root=root,
            config=config,
            sources=sources,
            storage=self.storage,
            stack_name=environment.name("compute"),
            termination_protection=retained,
        )
        if self.network:
            # It knows the network by names, which must be there.
            self.compute.add_stack_dependency(self.network)
        self.orchestration = OrchestrationStack(
            self,
            "orchestration",
            environment=environment,
            sources=sources,
            storage=self.storage,
            compute=self.compute,
            stack_name=environment.name("orchestration"),
            termination_protection=retained,
        )
        # They know functions, machines and the topic by names, which must be there.
        self.orchestration.add_stack_dependency(self.compute)
        self.monitoring = MonitoringStack(
            self,
            "monitoring",
            environment=environment,
            stack_name=environment.name("monitoring"),
            termination_protection=retained,
        )
        self.monitoring.add_stack_dependency(self.compute)
        self.delivery = None
        if environment.delivery:
            self.delivery = DeliveryStack(
                self,
                "delivery",
                environment=environment,
                delivery=environment.delivery,
                pipeline=pipeline,
                stack_name=environment.name("delivery"),
                termination_protection=retained,
            )
        for key, value in environment.all_tags.items():
            Tags.of(self).add(key, value)
