"""When sources load: the `schedule` of each file in `config/sources`."""

from pathlib import Path

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from lakekit.config.environment import Environment
from lakekit.config.load import read_sources


def read_schedules(folder: Path) -> dict[str, str]:
    """Return `cron(…)` or `rate(…)` of each source of a configuration that has a schedule."""
    return {each.source: each.schedule for each in read_sources(folder) if each.schedule}


class Schedules(Construct):
    """A rule for each scheduled source; disabled where the environment says so."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: Environment,
        sources: dict[str, str],
        machine: sfn.IStateMachine,
        dead_letters: sqs.IQueue,
    ) -> None:
        super().__init__(scope, id)
        for source, expression in sources.items():
            events.Rule(
                self,
                source,
                rule_name=environment.name(source),
                schedule=events.Schedule.expression(expression),
                enabled=environment.schedules,
                targets=[
                    targets.SfnStateMachine(
                        machine,
                        input=events.RuleTargetInput.from_object({"source": source}),
                        dead_letter_queue=dead_letters,
                        max_event_age=Duration.hours(2),
                        retry_attempts=10,
                    )
                ],
            )
