"""Alarms: each has a name of the environment, says what is wrong, and names its runbook."""

from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from cdk_monitoring_constructs import (
    CustomMetricWithAlarm,
    CustomThreshold,
    ErrorCountThreshold,
    MaxMessageAgeThreshold,
    MaxMessageCountThreshold,
    MinUsageCountThreshold,
)

from lakekit.config.environment import Environment

PERIOD = Duration.minutes(5)
# The sweeper looks every quarter of an hour.
WATCHED = Duration.hours(1)
RUNBOOKS = "docs/runbooks"
ABOVE = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
MISSING = cloudwatch.TreatMissingData


class Alarms:
    """Makes the thresholds of an environment's alarms."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def errors(self, part: str, runbook: str, what: str) -> dict[str, ErrorCountThreshold]:
        """Return an alarm at the first error."""
        common = self._common(part, runbook, what)
        return {part: ErrorCountThreshold(max_error_count=0, **common)}

    def messages(self, part: str, runbook: str, what: str) -> dict[str, MaxMessageCountThreshold]:
        """Return an alarm at the first message of a queue."""
        common = self._common(part, runbook, what)
        return {part: MaxMessageCountThreshold(max_message_count=0, **common)}

    def message_age(
        self, part: str, runbook: str, what: str, *, seconds: int
    ) -> dict[str, MaxMessageAgeThreshold]:
        """Return an alarm at a message that waits for longer."""
        common = self._common(part, runbook, what)
        return {part: MaxMessageAgeThreshold(max_age_in_seconds=seconds, **common)}

    def silence(self, part: str, runbook: str, what: str) -> dict[str, MinUsageCountThreshold]:
        """Return an alarm at a function that is not called for as long as the sweeper may be."""
        common = self._common(part, runbook, what, period=WATCHED, missing=MISSING.BREACHING)
        return {part: MinUsageCountThreshold(min_count=1, **common)}

    def above(
        self,
        metric: cloudwatch.Metric,
        threshold: float,
        part: str,
        runbook: str,
        what: str,
        *,
        period: Duration = PERIOD,
    ) -> CustomMetricWithAlarm:
        """Return a metric with an alarm above a value."""
        common = self._common(part, runbook, what, period=period)
        return CustomMetricWithAlarm(
            metric=metric,
            alarm_friendly_name=part,
            add_alarm={
                part: CustomThreshold(threshold=threshold, comparison_operator=ABOVE, **common)
            },
        )

    def _common(
        self,
        part: str,
        runbook: str,
        what: str,
        *,
        period: Duration = PERIOD,
        missing: cloudwatch.TreatMissingData = MISSING.NOT_BREACHING,
    ) -> dict[str, Any]:
        name = self._environment.name(part)
        return {
            "alarm_name_override": name,
            "alarm_description_override": f"{name} {what}.",
            "runbook_link": f"{RUNBOOKS}/{runbook}.md",
            "datapoints_to_alarm": 1,
            "evaluation_periods": 1,
            "period": period,
            "treat_missing_data_override": missing,
        }
