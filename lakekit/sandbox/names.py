"""What the created resources are called, for those who talk to them."""

from typing import Any

from lakekit.sandbox.resources import Resources


def names_of(resources: Resources) -> dict[str, Any]:
    """Return buckets, database and the like, and by short name machines, functions and the rest.

    A short name is the last part of a name: `load_source` for `lakekit-dev-load_source`.
    """

    def by_short_name(kind: str) -> dict[str, str]:
        found = resources.of_type(kind)
        return {each.ref.replace("/", ":").rpartition(":")[2].rpartition("-")[2]: each.ref
                for each in found}  # fmt: skip

    functions = resources.of_type("AWS::Lambda::Function")
    variables = functions[0].properties["Environment"]["Variables"] if functions else {}
    warehouse = variables.get("LAKEKIT_WAREHOUSE", "")
    return {
        "landing_bucket": variables.get("LAKEKIT_LANDING_BUCKET", ""),
        "lake_bucket": warehouse.removeprefix("s3://").partition("/")[0],
        "database": variables.get("LAKEKIT_DATABASE", ""),
        "warehouse": warehouse,
        "machines": by_short_name("AWS::StepFunctions::StateMachine"),
        "functions": by_short_name("AWS::Lambda::Function"),
        "jobs": by_short_name("AWS::Glue::Job"),
        "queues": by_short_name("AWS::SQS::Queue"),
        "topics": by_short_name("AWS::SNS::Topic"),
    }
