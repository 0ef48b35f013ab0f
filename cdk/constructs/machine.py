"""A state machine, deployed from its definition file."""

from pathlib import Path

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from cdk.constructs.definitions import insert_timeouts, pick_tokens
from lakekit.config.environment import Environment


class Machine(sfn.StateMachine):
    """`state_machines/<name>.asl.json`, deployed; rights are granted by who creates it.

    Each release publishes a version, and those of earlier ones stay.
    """

    def __init__(
        self,
        scope: Construct,
        machine: str,
        *,
        environment: Environment,
        root: Path,
        supply: dict[str, str],
    ) -> None:
        name = environment.name(machine)
        text = (root / "state_machines" / f"{machine}.asl.json").read_text(encoding="utf-8")
        log_group = logs.LogGroup(
            scope,
            f"{machine}_logs",
            log_group_name=f"/aws/vendedlogs/states/{name}",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        super().__init__(
            scope,
            machine,
            state_machine_name=name,
            definition_body=sfn.DefinitionBody.from_string(
                insert_timeouts(text, machine, environment.timeouts)
            ),
            definition_substitutions=pick_tokens(machine, supply),
            logs=sfn.LogOptions(
                destination=log_group, level=sfn.LogLevel.ERROR, include_execution_data=False
            ),
        )
        version = sfn.CfnStateMachineVersion(
            self,
            "version",
            state_machine_arn=self.state_machine_arn,
            state_machine_revision_id=self.state_machine_revision_id,
        )
        version.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
