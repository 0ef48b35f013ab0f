"""The pause of an environment: a function that switches its schedules off and on, by the clock."""

import json

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from cdk.constructs.roles import service_role
from cdk.constructs.schedules import Schedules
from cdk.constructs.step_lambda import StepLambda, Work
from lakekit.config.environment import Environment
from lakekit.config.money import Pause

# 200 schedules take two calls each.
WORK = Work(seconds=300, at_once=1)


class PausedSchedules(Construct):
    """Two schedules of their own that call the function `pause_schedules`."""

    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, pause: Pause,
        function: StepLambda, schedules: Schedules,
    ) -> None:  # fmt: skip
        super().__init__(scope, id)
        self._pause = pause
        self._group = scheduler.CfnScheduleGroup(self, "group", name=environment.name("pause")).ref
        self._function = function
        _allow_switching(self, function, schedules)
        role = service_role(self, "role", "scheduler")
        function.function.grant_invoke(role)
        self._add("pause", pause.begins, role)
        self._add("resume", pause.ends, role)

    def _add(self, action: str, expression: str, role: iam.Role) -> None:
        scheduler.CfnSchedule(
            self,
            action,
            name=action,
            group_name=self._group,
            schedule_expression=expression,
            schedule_expression_timezone=self._pause.time_zone,
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=self._function.function.function_arn,
                role_arn=role.role_arn,
                input=json.dumps({"action": action}),
                retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(
                    maximum_event_age_in_seconds=3600, maximum_retry_attempts=10
                ),
            ),
        )


def _allow_switching(scope: Construct, function: StepLambda, schedules: Schedules) -> None:
    """Let the function switch the schedules of sources; to update one passes on its role."""
    stack = Stack.of(scope)

    def arn(name: str) -> str:
        return stack.format_arn(
            service="scheduler",
            resource="schedule",
            resource_name=name,
            arn_format=ArnFormat.SLASH_RESOURCE_NAME,
        )

    # To list has no resources to name.
    function.allow(iam.PolicyStatement(actions=["scheduler:ListSchedules"], resources=["*"]))
    function.allow(
        iam.PolicyStatement(
            actions=["scheduler:GetSchedule", "scheduler:UpdateSchedule"],
            resources=[arn(f"{schedules.group}/*")],
        )
    )
    function.allow(
        iam.PolicyStatement(
            actions=["iam:PassRole"],
            resources=[schedules.role.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}},
        )
    )
