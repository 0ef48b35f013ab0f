"""What a month may cost: a budget with its notices, and what is unusual."""

import json
from typing import Any

from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_ce as ce
from constructs import Construct

from lakekit.config.environment import Environment
from lakekit.config.money import Budget

# Percent of the budget, and whether it is spent or is expected to be.
NOTICES = ((50, "ACTUAL"), (80, "ACTUAL"), (100, "ACTUAL"), (100, "FORECASTED"))


class Spending(Construct):
    """The budget of an environment, and a monitor of its costs.

    Both know it by the tag `environment`, which must be active as a cost allocation tag in the
    account that pays.
    """

    def __init__(
        self, scope: Construct, id: str, *, environment: Environment, budget: Budget, topic_arn: str
    ) -> None:
        super().__init__(scope, id)
        self._environment, self._topic = environment, topic_arn
        self._budget(budget)
        self._monitor(budget)

    def _budget(self, budget: Budget) -> None:
        budgets.CfnBudget(
            self,
            "budget",
            budget=budgets.CfnBudget.BudgetDataProperty(
                budget_name=self._environment.name("monthly"),
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=budgets.CfnBudget.SpendProperty(amount=budget.monthly_usd, unit="USD"),
                cost_filters={"TagKeyValue": [f"user:environment${self._environment.environment}"]},
            ),
            notifications_with_subscribers=[self._notice(*notice) for notice in NOTICES],
        )

    def _notice(self, percent: int, kind: str) -> Any:
        return budgets.CfnBudget.NotificationWithSubscribersProperty(
            notification=budgets.CfnBudget.NotificationProperty(
                comparison_operator="GREATER_THAN",
                notification_type=kind,
                threshold=percent,
                threshold_type="PERCENTAGE",
            ),
            subscribers=[
                budgets.CfnBudget.SubscriberProperty(subscription_type="SNS", address=self._topic)
            ],
        )

    def _monitor(self, budget: Budget) -> None:
        name = self._environment.name("costs")
        tag = {"Key": "environment", "Values": [self._environment.environment]}
        monitor = ce.CfnAnomalyMonitor(
            self,
            "monitor",
            monitor_name=name,
            monitor_type="CUSTOM",
            monitor_specification=json.dumps({"Tags": tag}),
        )
        above = {"Key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE", "MatchOptions": ["GREATER_THAN_OR_EQUAL"],
                 "Values": [str(budget.anomaly_usd)]}  # fmt: skip
        ce.CfnAnomalySubscription(
            self,
            "anomalies",
            subscription_name=name,
            frequency="IMMEDIATE",
            monitor_arn_list=[monitor.attr_monitor_arn],
            subscribers=[
                ce.CfnAnomalySubscription.SubscriberProperty(type="SNS", address=self._topic)
            ],
            threshold_expression=json.dumps({"Dimensions": above}),
        )
