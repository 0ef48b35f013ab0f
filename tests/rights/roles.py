"""The roles of the stored templates, with ARNs in place of CloudFormation's functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakekit.config.environment import read_environments
from lakekit.sandbox.intrinsics import resolve
from lakekit.sandbox.rights.policies import Statement, parse_document
from tests.infra.stored import Json, read

PROJECT = Path(__file__).parents[1] / "project"
POLICIES = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
# The property with a resource's name, and what its ARN ends with.
ARNS = {
    "AWS::Events::Rule": ("Name", "events", "rule/{}"),
    "AWS::Glue::Job": ("Name", "glue", "job/{}"),
    "AWS::IAM::Role": ("RoleName", "iam", "role/{}"),
    "AWS::KMS::Key": ("", "kms", "key/{}"),
    "AWS::Lambda::Function": ("FunctionName", "lambda", "function:{}"),
    "AWS::Logs::LogGroup": ("LogGroupName", "logs", "log-group:{}:*"),
    "AWS::SNS::Topic": ("TopicName", "sns", "{}"),
    "AWS::SQS::Queue": ("QueueName", "sqs", "{}"),
    "AWS::StepFunctions::StateMachine": ("StateMachineName", "states", "stateMachine:{}"),
}
# `Ref` gives the ARN of these.
REFERRED = ("AWS::SNS::Topic", "AWS::StepFunctions::StateMachine")
GLOBAL = ("iam",)
HASH = re.compile(r"(role|key)?[0-9A-F]{8}$")


@dataclass(frozen=True)
class Scope:
    """What names mean in one stack of an environment."""

    stack: str
    templates: dict[str, Json]
    account: str
    region: str

    def ref(self, name: str) -> Any:
        pseudo = {
            "AWS::AccountId": self.account, "AWS::Partition": "aws", "AWS::Region": self.region,
            "AWS::URLSuffix": "amazonaws.com",
        }  # fmt: skip
        if name in pseudo:
            return pseudo[name]
        if name in self.templates[self.stack].get("Parameters", {}):
            return name
        kind = self.templates[self.stack]["Resources"][name]["Type"]
        return self.attribute(name, "Arn") if kind in REFERRED else self._name(name, kind)

    def attribute(self, name: str, attribute: str) -> Any:
        kind = self.templates[self.stack]["Resources"][name]["Type"]
        if attribute != "Arn":
            return f"<{name}.{attribute}>"
        if kind == "AWS::S3::Bucket":
            return f"arn:aws:s3:::{self._name(name, kind, 'BucketName')}"
        _, service, form = ARNS[kind]
        region = "" if service in GLOBAL else self.region
        return f"arn:aws:{service}:{region}:{self.account}:{form.format(self._name(name, kind))}"

    def imported(self, export: str) -> Any:
        for stack, template in self.templates.items():
            for output in template.get("Outputs", {}).values():
                if output.get("Export", {}).get("Name") == export:
                    scope = Scope(stack, self.templates, self.account, self.region)
                    return resolve(output["Value"], scope)
        raise LookupError(export)

    def _name(self, name: str, kind: str, field: str = "") -> str:
        properties = self.templates[self.stack]["Resources"][name].get("Properties", {})
        given = properties.get(field or ARNS.get(kind, ("",))[0])
        return str(resolve(given, self)) if given else short(name)


def short(logical_id: str) -> str:
    """Return a logical id without its hash: `datakey65037D28` is `data`."""
    return HASH.sub("", logical_id)


def scopes(environment: str) -> Iterator[Scope]:
    """Yield each stack of an environment."""
    found = read_environments(PROJECT / "config/environments")[environment]
    templates = read(environment)
    for stack in templates:
        yield Scope(stack, templates, found.account, found.region)


def documents(environment: str) -> Iterator[tuple[str, Json]]:
    """Yield the document of each policy of a role, with the short name of the role."""
    for scope in scopes(environment):
        for resource in scope.templates[scope.stack]["Resources"].values():
            if resource["Type"] in POLICIES:
                properties = resource["Properties"]
                for role in properties["Roles"]:
                    yield short(role["Ref"]), resolve(properties["PolicyDocument"], scope)


def statements(environment: str) -> dict[str, tuple[Statement, ...]]:
    """Return what each role may do."""
    found: dict[str, tuple[Statement, ...]] = {}
    for role, document in documents(environment):
        found[role] = (*found.get(role, ()), *parse_document(document))
    return found


def listed(value: Any) -> list[Any]:
    """Return a list, also of one value that is given without."""
    return value if isinstance(value, list) else [value]
