"""How an operator sees what runs and hears of what does not: a dashboard and alarms.

It knows what it watches by names alone, and imports nothing from other stacks: a step can come and
go. No resource of it grows with the number of sources and tables; each stream has three alarms.
"""

from typing import Any

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from cdk_monitoring_constructs import (
    AlarmFactoryDefaults,
    CustomMetricGroup,
    DefaultDashboardFactory,
    MetricFactoryDefaults,
    MonitoringFacade,
    SnsAlarmActionStrategy,
)
from constructs import Construct

from cdk.constructs.alarms import PERIOD, WATCHED, Alarms
from cdk.constructs.definitions import TOKENS
from cdk.constructs.failures import TOPIC
from cdk.constructs.refresh import MACHINE
from cdk.constructs.replication import RULE
from cdk.constructs.sharing import LOADED
from cdk.constructs.spending import Spending
from cdk.stacks.compute import FUNCTIONS, JOBS
from cdk.stacks.orchestration import LOADED_DEAD
from cdk.stacks.storage import REQUESTS
from lakekit.config.environment import Environment

NAMESPACE = "Lakekit"
# Of its own metrics those of the sweeper; the others are of CompleteRun.
WATCHED_METRICS = (
    "SourcesOverdue", "TablesStale", "LandingsPending", "OldestPendingSeconds", "LandingsBlocked",
)  # fmt: skip
# Functions that no state machine waits for: nothing else notices that they fail.
BY_EVENTS = ("route_file", "sweep", "pause_schedules", "share_table")
# The share of rejected records in one load above which somebody should look.
MOST_QUARANTINED = 0.05
# A dropped file that waits for longer has no one who lands it; a record of a stream likewise.
MOST_SECONDS_IN_INBOX = MOST_SECONDS_IN_STREAM = 3600


class MonitoringStack(Stack):
    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, **props: Any
    ) -> None:
        super().__init__(scope, id, **props)
        self._environment = environment
        self._alarms = Alarms(environment)
        topic = sns.Topic.from_topic_arn(self, "topic", self._arn("sns", TOPIC))
        self._facade = MonitoringFacade(
            self,
            "monitoring",
            alarm_factory_defaults=AlarmFactoryDefaults(
                alarm_name_prefix=environment.name("x"),
                actions_enabled=True,
                action=SnsAlarmActionStrategy(on_alarm_topic=topic),
            ),
            metric_factory_defaults=MetricFactoryDefaults(namespace=NAMESPACE),
            dashboard_factory=DefaultDashboardFactory(
                self,
                "dashboards",
                dashboard_name_prefix=environment.name("lakekit"),
                create_summary_dashboard=False,
                detail_dashboard_range=Duration.days(2),
            ),
        )
        self._facade.add_large_header(f"Lakekit, {environment.environment}")
        self._loads()
        self._waiting()
        self._machines()
        self._queues()
        self._streams()
        self._buckets()
        self._functions()
        self._jobs()
        self._say_that_rules_only_count()
        if budget := environment.budget:
            arn = self._arn("sns", TOPIC)
            Spending(self, "spending", environment=environment, budget=budget, topic_arn=arn)

    def _loads(self) -> None:
        """What was loaded, and what it has cost."""
        ratio = self._alarms.above(
            self._own("QuarantineRatio", "Maximum"),
            MOST_QUARANTINED,
            "quarantine_ratio",
            "quarantine-ratio",
            "has loaded a table of whose records more than one in twenty was rejected",
        )
        self._group("Versions", "VersionsOpened", "VersionsClosed")
        self._group("Records", "RecordsRead", "RecordsUnchanged", "RecordsQuarantined")
        self._group("Share of rejected records", ratio)
        self._group("Bytes and seconds of merges", "BytesRead", "MergeSeconds")
        self._group("Files of tables", "DataFiles", "DeleteFiles", "Snapshots", statistic="Maximum")
        self._group("DPU seconds", "DpuSeconds")
        self._group("US dollars of jobs", "CostUsd")
        self._facade.add_widget(
            cloudwatch.LogQueryWidget(
                title="What tables have cost",
                log_group_names=[f"/aws/lambda/{self._environment.name('complete_run')}"],
                query_lines=[
                    "filter ispresent(CostUsd.0)",
                    "stats sum(CostUsd.0) as usd, sum(DpuSeconds.0) as dpu_seconds, "
                    "sum(RecordsRead.0) as rows by table",
                    "sort usd desc",
                    "limit 20",
                ],
                width=24,
                height=8,
            )
        )

    def _waiting(self) -> None:
        """What waits or has grown old, as each sweep finds it."""
        stuck = self._environment.timeouts.lease
        for metric, most, part, runbook, what in (
            ("SourcesOverdue", 0, "sources_overdue", "sources-overdue",
             "has a source whose schedule was to start it and did not"),
            ("TablesStale", 0, "tables_stale", "tables-stale",
             "has a table that nothing was loaded into since the firing before the last"),
            ("OldestPendingSeconds", stuck, "backlog_age", "backlog-age",
             "has a landing that waits for longer than any run may take"),
            ("LandingsBlocked", 0, "landings_blocked", "landings-blocked",
             "has a landing that waits for a person"),
        ):  # fmt: skip
            watched = self._own(metric, "Maximum", period=WATCHED)
            self._group(
                metric,
                self._alarms.above(watched, most, part, runbook, what, period=WATCHED),
            )
        self._group("Landings that wait for a run", "LandingsPending", statistic="Maximum")

    def _machines(self) -> None:
        alarms = self._alarms
        refreshes = (MACHINE,) if self._environment.refreshes else ()
        for name in (*TOKENS, *refreshes):
            machine = sfn.StateMachine.from_state_machine_name(
                self, name, self._environment.name(name)
            )
            self._facade.monitor_step_function(
                state_machine=machine,
                human_readable_name=self._environment.name(name),
                add_failed_execution_count_alarm=alarms.errors(
                    f"{name}_failed", "executions-failed", "had an execution that failed"
                ),
                add_timed_out_execution_count_alarm=alarms.errors(
                    f"{name}_timed_out", "executions-timed-out", "had an execution that never ended"
                ),
                add_aborted_execution_count_alarm=alarms.errors(
                    f"{name}_aborted", "executions-aborted", "had an execution that was stopped"
                ),
                add_throttled_execution_count_alarm=alarms.errors(
                    f"{name}_throttled", "executions-throttled", "could not start or go on at once"
                ),
            )

    def _queues(self) -> None:
        alarms = self._alarms
        self._facade.monitor_sqs_queue_with_dlq(
            queue=self._queue("inbox"),
            dead_letter_queue=self._queue("inbox_dead"),
            human_readable_name=self._environment.name("inbox"),
            add_queue_max_message_age_alarm=alarms.message_age(
                "inbox_age",
                "inbox-age",
                "holds a dropped file that is not landed",
                seconds=MOST_SECONDS_IN_INBOX,
            ),
            add_dead_letter_queue_max_size_alarm=alarms.messages(
                "inbox_dead", "inbox-dead", "holds dropped files that could not be landed"
            ),
        )
        self._facade.monitor_sqs_queue(
            queue=self._queue("schedules_dead"),
            human_readable_name=self._environment.name("schedules_dead"),
            add_queue_max_size_alarm=alarms.messages(
                "schedules_dead", "schedules-dead", "holds starts of sources that failed"
            ),
        )
        if self._environment.shares_tables or self._environment.refreshes:
            self._facade.monitor_sqs_queue(
                queue=self._queue(LOADED_DEAD),
                human_readable_name=self._environment.name(LOADED_DEAD),
                add_queue_max_size_alarm=alarms.messages(
                    LOADED_DEAD, "loaded-dead", "holds loaded tables that readers do not see so"
                ),
            )
        if self._environment.shares_tables:
            self._facade.monitor_sqs_queue(
                queue=self._queue(LOADED),
                human_readable_name=self._environment.name(LOADED),
                add_queue_max_message_age_alarm=alarms.message_age(
                    "loaded_age",
                    "loaded-dead",
                    "holds a loaded table that ShareTable has not taken",
                    seconds=MOST_SECONDS_IN_INBOX,
                ),
            )
        self._facade.monitor_sqs_queue(
            queue=self._queue("notices_dead"),
            human_readable_name=self._environment.name("notices_dead"),
            add_queue_max_size_alarm=alarms.messages(
                "notices_dead", "notices-dead", "holds notices that an address did not get"
            ),
        )

    def _streams(self) -> None:
        """What comes in by streams. What Firehose has not read or not delivered waits there."""
        for stream in self._environment.streams:
            name = self._environment.name(stream.contract)
            firehose = ("AWS/Firehose", {"DeliveryStreamName": name})
            kinesis = ("AWS/Kinesis", {"StreamName": name})
            for (service, of), metric, most, part, what in (
                (firehose, "DeliveryToS3.DataFreshness", MOST_SECONDS_IN_STREAM, "late",
                 "holds a record that is not in the inbox after an hour"),
                (firehose, "KinesisMillisBehindLatest", MOST_SECONDS_IN_STREAM * 1000, "behind",
                 "holds a record that Firehose has not read for an hour"),
                (kinesis, "WriteProvisionedThroughputExceeded", 0, "refused",
                 "has refused a record: more came at once than it takes"),
            ):  # fmt: skip
                self._group(f"{stream.contract}: {metric}", self._alarms.above(
                    _metric(service, metric, of), most, f"{stream.contract}_stream_{part}",
                    "streams", what,
                ))  # fmt: skip

    def _buckets(self) -> None:
        """Copies that were not made, and requests, where the environment wants to know of them."""
        storage = self._environment.storage
        for part, copy in (storage.replication.names if storage.replication else {}).items():
            of = {"SourceBucket": self._environment.bucket(part), "DestinationBucket": copy,
                  "RuleId": RULE}  # fmt: skip
            failed = self._alarms.above(
                _metric("AWS/S3", "OperationsFailedReplication", of, "Sum"),
                0,
                f"{part}_copy_failed",
                "copy-failed",
                "has an object that was not copied to the other region",
            )
            self._group(f"{part}: copies that failed", failed)
        for part in ("landing", "lake") if storage.request_metrics else ():
            of = {"BucketName": self._environment.bucket(part), "FilterId": REQUESTS}
            names = ("AllRequests", "4xxErrors", "5xxErrors")
            self._group(f"{part}: requests", *(_metric("AWS/S3", n, of, "Sum") for n in names))

    def _functions(self) -> None:
        alarms = self._alarms
        more = {
            "pause_schedules": self._environment.pause is not None,
            "share_table": self._environment.shares_tables,
        }
        for step in (*FUNCTIONS, *(step for step, wanted in more.items() if wanted)):
            name = self._environment.name(step)
            own: dict[str, Any] = {}
            if step in BY_EVENTS:
                own["add_fault_count_alarm"] = alarms.errors(
                    f"{step}_failed", "functions-failed", "has failed"
                )
            if step == "sweep":
                own["add_min_invocations_count_alarm"] = alarms.silence(
                    "sweep_silent", "sweep-silent", "was not called for an hour"
                )
            self._facade.monitor_lambda_function(
                lambda_function=lambda_.Function.from_function_name(self, step, name),
                human_readable_name=name,
                add_throttles_count_alarm=alarms.errors(
                    f"{step}_throttled", "functions-throttled", "was called too often at once"
                ),
                **own,
            )

    def _jobs(self) -> None:
        """A state machine hears of its jobs; of a rebuild, which a person starts, nothing else."""
        alarms = self._alarms
        for job in JOBS:
            name = self._environment.name(job)
            own: dict[str, Any] = {}
            if job == "rebuild_table":
                own["add_job_failed_state_count_alarm"] = alarms.errors(
                    "rebuild_failed", "rebuild-failed", "has ended with an error"
                )
                own["add_job_timeout_state_count_alarm"] = alarms.errors(
                    "rebuild_timed_out", "rebuild-failed", "has taken longer than it may"
                )
            self._facade.monitor_glue_job(job_name=name, human_readable_name=name, **own)

    def _say_that_rules_only_count(self) -> None:
        """Of the rules for states of jobs the metrics are used; no target could lose an event."""
        for each in self.node.find_all():
            if isinstance(each, events.CfnRule):
                each.targets = []
                each.add_property_deletion_override("Targets")

    def _group(self, title: str, *metrics: Any, statistic: str = "Sum") -> None:
        """Add a graph of own metrics, some of which may be names alone."""
        shown = [self._own(m, statistic) if isinstance(m, str) else m for m in metrics]
        self._facade.monitor_custom(
            human_readable_name=title,
            alarm_friendly_name=title.replace(" ", ""),
            metric_groups=[CustomMetricGroup(title=title, metrics=shown)],
        )

    def _own(self, name: str, statistic: str, *, period: Duration = PERIOD) -> cloudwatch.Metric:
        service = "sweep" if name in WATCHED_METRICS else "complete_run"
        own = {"database": self._environment.database, "service": service}
        return _metric(NAMESPACE, name, own, statistic, period=period)

    def _queue(self, part: str) -> sqs.IQueue:
        return sqs.Queue.from_queue_arn(self, part, self._arn("sqs", part))

    def _arn(self, service: str, part: str) -> str:
        return self.format_arn(
            service=service,
            resource=self._environment.name(part),
            arn_format=ArnFormat.NO_RESOURCE_NAME,
        )


def _metric(
    namespace: str,
    name: str,
    of: dict[str, str],
    statistic: str = "Maximum",
    *,
    period: Duration = PERIOD,
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        statistic=statistic,
        period=period,
        label=name,
        dimensions_map=of,
    )
