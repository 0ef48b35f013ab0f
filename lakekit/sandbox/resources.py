"""The resources of the templates, created in moto one by one.

A resource is created when another first refers to it, so their order does not matter.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lakekit.sandbox.creators import CREATORS, NOT_BUILT, Created
from lakekit.sandbox.intrinsics import resolve
from lakekit.sandbox.template import Assembly

Client = Callable[[str], Any]


class ResourceError(Exception):
    """A template names what does not exist, or what the sandbox cannot create."""


@dataclass
class Resources:
    """All that was created: `created[stack, logical id]`."""

    assembly: Assembly
    client: Client
    created: dict[tuple[str, str], Created] = field(default_factory=dict)
    _open: list[tuple[str, str]] = field(default_factory=list)

    def create_all(self) -> None:
        """Create every resource of every stack."""
        for stack, template in self.assembly.stacks.items():
            for name in template["Resources"]:
                self.physical(stack, name)

    def physical(self, stack: str, name: str) -> Created:
        """Return a resource, after creating it if it is not there yet."""
        key = (stack, name)
        if key in self.created:
            return self.created[key]
        if key in self._open:
            raise ResourceError(f"{stack}: {name} refers to itself")
        resource = self.assembly.stacks[stack]["Resources"].get(name)
        if resource is None:
            raise ResourceError(f"{stack}: there is no resource {name}")
        self._open.append(key)
        self.created[key] = self._create(stack, name, resource)
        self._open.remove(key)
        return self.created[key]

    def of_type(self, kind: str) -> list[Created]:
        """Return the resources of one type."""
        return [
            self.created[stack, name]
            for stack, template in self.assembly.stacks.items()
            for name, resource in template["Resources"].items()
            if resource["Type"] == kind
        ]

    def _create(self, stack: str, name: str, resource: dict[str, Any]) -> Created:
        kind = resource["Type"]
        # Resolved even where nothing is created: a wrong reference must show.
        properties = resolve(resource.get("Properties", {}), StackScope(self, stack))
        if kind in NOT_BUILT:
            return Created(name, {each: f"{name}.{each}" for each in NOT_BUILT[kind]}, properties)
        if kind not in CREATORS:
            raise ResourceError(f"{stack}: {name} is a {kind}, which the sandbox cannot create")
        fallback = f"{stack}-{name}"[:60]
        try:
            return CREATORS[kind](self.client, fallback, properties)
        except Exception as error:
            shown = json.dumps(properties, default=str)[:500]
            raise ResourceError(f"{stack}: {name} ({kind}): {error}\n{shown}") from error


@dataclass(frozen=True)
class StackScope:
    """What names mean in one stack."""

    resources: Resources
    stack: str

    def ref(self, name: str) -> Any:
        """Return a resource's physical id, a parameter's default or a pseudo parameter."""
        assembly = self.resources.assembly
        pseudo = {
            "AWS::AccountId": assembly.account,
            "AWS::Partition": "aws",
            "AWS::Region": assembly.region,
            "AWS::StackName": self.stack,
            "AWS::URLSuffix": "amazonaws.com",
        }
        if name in pseudo:
            return pseudo[name]
        parameters = assembly.stacks[self.stack].get("Parameters", {})
        if name in parameters:
            return parameters[name].get("Default", "")
        return self.resources.physical(self.stack, name).ref

    def attribute(self, name: str, attribute: str) -> Any:
        """Return a resource's attribute."""
        attributes = self.resources.physical(self.stack, name).attributes
        if attribute not in attributes:
            raise ResourceError(f"{self.stack}: {name} has no attribute {attribute}")
        return attributes[attribute]

    def imported(self, export: str) -> Any:
        """Return what a stack exports."""
        for stack, template in self.resources.assembly.stacks.items():
            for output in template.get("Outputs", {}).values():
                if output.get("Export", {}).get("Name") == export:
                    return resolve(output["Value"], StackScope(self.resources, stack))
        raise ResourceError(f"{self.stack}: no stack exports {export}")


def names_of(resources: Resources) -> dict[str, Any]:
    """Return buckets, database and the like, and by short name machines, functions and the rest.

    A short name is the last part of a name: `load_source` for `lakekit-dev-load_source`.
    """

    def by_short_name(kind: str) -> dict[str, str]:
        found = resources.of_type(kind)
        return {each.ref.replace("/", ":").rpartition(":")[2].rpartition("-")[2]: each.ref
                for each in found}  # fmt: skip

    functions = resources.of_type("AWS::Lambda::Function")
    variables: dict[str, Any] = {}
    for each in functions:
        variables |= each.properties["Environment"]["Variables"]
    warehouse = variables.get("LAKEKIT_WAREHOUSE", "")
    return {
        "landing_bucket": variables.get("LAKEKIT_LANDING_BUCKET", ""),
        "results_bucket": variables.get("LAKEKIT_RESULTS_BUCKET", ""),
        "lake_bucket": warehouse.removeprefix("s3://").partition("/")[0],
        "database": variables.get("LAKEKIT_DATABASE", ""),
        "warehouse": warehouse,
        "machines": by_short_name("AWS::StepFunctions::StateMachine"),
        "functions": by_short_name("AWS::Lambda::Function"),
        "jobs": by_short_name("AWS::Glue::Job"),
        "queues": by_short_name("AWS::SQS::Queue"),
        "topics": by_short_name("AWS::SNS::Topic"),
    }
