"""What AWS allows, computed from templates: sizes, counts and lengths of names.

Quotas that AWS raises on request are taken as they are for a new account.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from aws_cdk.assertions import Template

Json = dict[str, Any]
Resources = dict[str, Json]
# Stands for what is known at deployment alone: no ARN of ours is longer.
ARN = "x" * 140
# The longest values of what AWS says of the place.
PSEUDO = {"AWS::Partition": "aws-us-gov", "AWS::URLSuffix": "amazonaws.com.cn"}
# The property that holds a resource's name, and how long it may be.
NAMES = {
    "AWS::Athena::WorkGroup": ("Name", 128),
    "AWS::CloudWatch::Alarm": ("AlarmName", 255),
    "AWS::CloudWatch::Dashboard": ("DashboardName", 255),
    "AWS::Events::Rule": ("Name", 64),
    "AWS::Glue::Job": ("Name", 255),
    "AWS::Glue::SecurityConfiguration": ("Name", 255),
    "AWS::IAM::Role": ("RoleName", 64),
    "AWS::KMS::Alias": ("AliasName", 256),
    "AWS::Lambda::Function": ("FunctionName", 64),
    "AWS::Logs::LogGroup": ("LogGroupName", 512),
    "AWS::S3::Bucket": ("BucketName", 63),
    "AWS::SNS::Topic": ("TopicName", 256),
    "AWS::SQS::Queue": ("QueueName", 80),
    "AWS::Scheduler::Schedule": ("Name", 64),
    "AWS::Scheduler::ScheduleGroup": ("Name", 64),
    "AWS::StepFunctions::StateMachine": ("StateMachineName", 80),
}
# The property that holds a resource's policy, and how many characters it may have.
POLICIES = {
    "AWS::IAM::ManagedPolicy": ("PolicyDocument", 6_144),
    "AWS::IAM::Role": ("AssumeRolePolicyDocument", 2_048),
    "AWS::KMS::Key": ("KeyPolicy", 32_768),
    "AWS::S3::BucketPolicy": ("PolicyDocument", 20_480),
    "AWS::SNS::TopicPolicy": ("PolicyDocument", 30_720),
    "AWS::SQS::QueuePolicy": ("PolicyDocument", 8_192),
}
TEMPLATE_BYTES = 1_000_000
SECTIONS = {"Resources": 500, "Parameters": 200, "Outputs": 200, "Mappings": 200}
INLINE_POLICIES_OF_A_ROLE = 10_240
MANAGED_POLICIES_OF_A_ROLE = 10
STATEMENTS_OF_A_QUEUE = 20
VARIABLES_BYTES = 4_096
RULES_OF_A_BUS = 300
TARGETS_OF_A_RULE = 5
PATTERN_BYTES = 2_048
DEFINITION_BYTES = 1_048_576
WIDGETS_OF_A_DASHBOARD = 500
METRICS_OF_A_DASHBOARD = 2_500


def excesses(templates: Iterable[Template]) -> list[str]:
    """Return a line for each limit that some templates of one environment exceed."""
    documents: list[Json] = [template.to_json() for template in templates]
    found = [line for d in documents for rule in RULES for line in rule(d, d["Resources"])]
    rules = sum(len(of_type(d["Resources"], "AWS::Events::Rule")) for d in documents)
    return [
        *found,
        *above("rules of the event bus", rules, RULES_OF_A_BUS),
        *inline_policies(documents),
    ]


def above(what: str, size: int, limit: int) -> list[str]:
    return [f"{what}: {size:,} of {limit:,}"] if size > limit else []


def of_type(resources: Resources, kind: str) -> dict[str, Json]:
    return {name: each["Properties"] for name, each in resources.items() if each["Type"] == kind}


def characters(value: Any) -> int:
    """Return how long a value is as JSON without white space, once it is deployed."""
    return len(json.dumps(deployed(value), separators=(",", ":")))


def deployed(value: Any) -> Any:
    """Return a value with an ARN for each intrinsic function, joined where they are joined."""
    if isinstance(value, list):
        return [deployed(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return separator.join(deployed(part) for part in parts)
    if value.get("Ref") in PSEUDO:
        return PSEUDO[value["Ref"]]
    if any(key == "Ref" or key.startswith("Fn::") for key in value):
        return ARN
    return {key: deployed(each) for key, each in value.items()}


def sections(document: Json, resources: Resources) -> Iterator[str]:
    # The CLI uploads the file as it is, indented by one space.
    yield from above("template", len(json.dumps(document, indent=1)), TEMPLATE_BYTES)
    for section, limit in SECTIONS.items():
        yield from above(section, len(document.get(section, {})), limit)


def names(document: Json, resources: Resources) -> Iterator[str]:
    for kind, (key, limit) in NAMES.items():
        for properties in of_type(resources, kind).values():
            name = properties.get(key)
            if name is not None:
                yield from above(f"{kind} {name}", len(deployed(name)), limit)


def policies(document: Json, resources: Resources) -> Iterator[str]:
    for kind, (key, limit) in POLICIES.items():
        for name, properties in of_type(resources, kind).items():
            yield from above(f"{kind} {name}", characters(properties[key]), limit)
    for name, policy in of_type(resources, "AWS::SQS::QueuePolicy").items():
        statements = policy["PolicyDocument"]["Statement"]
        yield from above(f"statements of {name}", len(statements), STATEMENTS_OF_A_QUEUE)


def inline_policies(documents: list[Json]) -> Iterator[str]:
    """Yield the roles whose policies are too long together, in whichever stack these are."""
    exports = {
        output["Export"]["Name"]: output["Value"]
        for document in documents
        for output in document.get("Outputs", {}).values()
        if "Export" in output
    }
    sizes: dict[str, int] = defaultdict(int)
    for document in documents:
        for policy in of_type(document["Resources"], "AWS::IAM::Policy").values():
            for role in policy["Roles"]:
                name = exports.get(role.get("Fn::ImportValue"), role)
                sizes[json.dumps(name)] += characters(policy["PolicyDocument"])
    for name, size in sizes.items():
        yield from above(f"inline policies of {name}", size, INLINE_POLICIES_OF_A_ROLE)


def managed_policies(document: Json, resources: Resources) -> Iterator[str]:
    found = [
        role["Ref"] for policy in of_type(resources, "AWS::IAM::ManagedPolicy").values()
        for role in policy.get("Roles", ())
    ]  # fmt: skip
    for role in sorted(set(found)):
        name = f"managed policies of {role}"
        yield from above(name, found.count(role), MANAGED_POLICIES_OF_A_ROLE)


def functions(document: Json, resources: Resources) -> Iterator[str]:
    for name, properties in of_type(resources, "AWS::Lambda::Function").items():
        variables = deployed(properties.get("Environment", {}).get("Variables", {}))
        size = sum(len(key) + len(value) for key, value in variables.items())
        yield from above(f"variables of {name}", size, VARIABLES_BYTES)


def events(document: Json, resources: Resources) -> Iterator[str]:
    for name, properties in of_type(resources, "AWS::Events::Rule").items():
        yield from above(
            f"targets of {name}", len(properties.get("Targets", [])), TARGETS_OF_A_RULE
        )
        pattern = characters(properties.get("EventPattern", {}))
        yield from above(f"pattern of {name}", pattern, PATTERN_BYTES)


def machines(document: Json, resources: Resources) -> Iterator[str]:
    for name, properties in of_type(resources, "AWS::StepFunctions::StateMachine").items():
        size = len(deployed(properties["DefinitionString"]))
        yield from above(f"definition of {name}", size, DEFINITION_BYTES)


def dashboards(document: Json, resources: Resources) -> Iterator[str]:
    for name, properties in of_type(resources, "AWS::CloudWatch::Dashboard").items():
        widgets = json.loads(deployed(properties["DashboardBody"]))["widgets"]
        metrics = sum(len(each["properties"].get("metrics", [])) for each in widgets)
        yield from above(f"widgets of {name}", len(widgets), WIDGETS_OF_A_DASHBOARD)
        yield from above(f"metrics of {name}", metrics, METRICS_OF_A_DASHBOARD)


RULES: tuple[Callable[[Json, Resources], Iterator[str]], ...] = (
    sections, names, policies, managed_policies, functions, events, machines, dashboards,
)  # fmt: skip
