"""A state machine, deployed from its definition file."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk.constructs.definitions import insert_timeouts, pick_tokens
from cdk.constructs.deployment import Deployment
from cdk.constructs.logs import log_group
from cdk.constructs.roles import service_role


class Machine(sfn.StateMachine):
    """`state_machines/<name>.asl.json`, deployed; rights are granted by who creates it.

    Each release publishes a version, and those of earlier ones stay.
    """

    def __init__(
        self,
        scope: Construct,
        machine: str,
        *,
        deployment: Deployment,
        supply: dict[str, str],
    ) -> None:
        environment = deployment.environment
        name = environment.name(machine)
        text = (deployment.root / "state_machines" / f"{machine}.asl.json").read_text(
            encoding="utf-8"
        )
        group = log_group(
            scope,
            f"{machine}_logs",
            f"/aws/vendedlogs/states/{name}",
            environment=environment,
            key=deployment.log_key,
        )
        super().__init__(
            scope,
            machine,
            state_machine_name=name,
            role=service_role(scope, f"{machine}_role", "states"),
            definition_body=sfn.DefinitionBody.from_string(
                insert_timeouts(text, machine, environment.timeouts)
            ),
            definition_substitutions=pick_tokens(machine, supply),
            tracing_enabled=True,
            # Each state, but not its input and output: those of a run are in its documents.
            logs=sfn.LogOptions(
                destination=group, level=sfn.LogLevel.ALL, include_execution_data=False
            ),
        )
        version = sfn.CfnStateMachineVersion(
            self,
            "version",
            state_machine_arn=self.state_machine_arn,
            state_machine_revision_id=self.state_machine_revision_id,
        )
        version.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
