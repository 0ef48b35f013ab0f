"""When sources load: the `schedule` of each of them, with EventBridge Scheduler."""

import json
from collections.abc import Iterable
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk.aws_scheduler import CfnSchedule, CfnScheduleGroup
from constructs import Construct

from cdk.constructs.roles import service_role
from lakekit.config.environment import Environment
from lakekit.config.schedule import Schedule
from lakekit.config.source import Source


class Schedules(Construct):
    """A schedule for each source of an environment that has one, in a group of their own.

    However many there are, they share one role and one queue, and no policy grows with them.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        sources: Iterable[Source],
        machine: sfn.IStateMachine,
        dead_letters: sqs.IQueue,
    ) -> None:
        super().__init__(scope, id)
        self._state = "ENABLED" if environment.schedules else "DISABLED"
        # In it a schedule has the name of its source alone, which may be as long as that of one.
        self.group = environment.name("sources")
        self._group = CfnScheduleGroup(self, "group", name=self.group).ref
        self.role = self._role(machine, dead_letters)
        self._target: dict[str, Any] = {
            "arn": machine.state_machine_arn,
            "role_arn": self.role.role_arn,
            "dead_letter_config": CfnSchedule.DeadLetterConfigProperty(arn=dead_letters.queue_arn),
            "retry_policy": CfnSchedule.RetryPolicyProperty(
                maximum_event_age_in_seconds=2 * 3600, maximum_retry_attempts=10
            ),
        }
        # In a scope of its own: a source may be called `group` or `role`.
        self._scope = Construct(self, "of")
        for source in sources:
            if source.schedule and source.is_deployed_to(environment.environment):
                self._add(source.source, source.schedule)

    def _role(self, machine: sfn.IStateMachine, dead_letters: sqs.IQueue) -> iam.Role:
        role = service_role(self, "role", "scheduler")
        machine.grant_start_execution(role)
        dead_letters.grant(role, "sqs:SendMessage")
        return role

    def _add(self, source: str, schedule: Schedule) -> None:
        minutes = schedule.flexible_minutes
        CfnSchedule(
            self._scope,
            source,
            name=source,
            group_name=self._group,
            schedule_expression=schedule.expression,
            schedule_expression_timezone=schedule.time_zone,
            flexible_time_window=CfnSchedule.FlexibleTimeWindowProperty(
                mode="FLEXIBLE" if minutes else "OFF", maximum_window_in_minutes=minutes or None
            ),
            state=self._state,
            target=CfnSchedule.TargetProperty(
                **self._target, input=json.dumps({"source": source, "origin": "schedule"})
            ),
        )
