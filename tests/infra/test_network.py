"""The network of an environment: its tiers, its ways out, and who is in it."""

import json
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import Environment as Place
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from cdk.constructs.acls import ranges
from cdk.constructs.endpoints import GATEWAY, INTERFACES, NO_ENDPOINT, PAUSE, TAGS, VIEWS
from cdk.stacks.network import NetworkStack
from lakekit.config.environment import Environment
from lakekit.config.source import load_source
from tests.infra.conftest import Stacks

Json = dict[str, Any]
# Services that take roles for what runs inside the network.
INSIDE = {"lambda.amazonaws.com", "glue.amazonaws.com"}
PAUSES = {"begins": "cron(0 20 ? * MON-FRI *)", "ends": "cron(0 6 ? * MON-FRI *)"}
GIVEN = {
    "vpc_id": "vpc-0123456789abcdef0",
    "subnets": {f"eu-west-1{zone}": f"subnet-0123456789abcdef{zone}" for zone in "ab"},
}


def synthesise(network: Any, *sources: str, **fields: Any) -> Template:
    """Return the template of a network alone."""
    given = {"environment": "dev", "account": "1" * 12, "region": "eu-west-1", **fields}
    environment = Environment.model_validate({**given, "network": network})
    assert environment.network
    app = App(analytics_reporting=False)
    place = Place(account=environment.account, region=environment.region)
    keys = Stack(app, "keys", env=place)
    stack = NetworkStack(
        app,
        "network",
        environment=environment,
        network=environment.network,
        sources=[load_source(text) for text in sources],
        log_key=kms.Key(keys, "key"),
        env=place,
    )
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def small() -> Template:
    """A network of development in three zones, with a source at a port of its own."""
    shop = "source: shop\nbase_url: https://shop.example:8443\n"
    local = "source: local\nbase_url: http://127.0.0.1:8080\n"
    return synthesise({"cidr": "10.1.0.0/22", "zones": 3}, shop, local, pause=PAUSES)


@pytest.fixture(scope="module")
def prod(environments: dict[str, Stacks]) -> Stacks:
    return environments["prod"]


def properties(template: Template, kind: str) -> list[Json]:
    return [each["Properties"] for each in template.find_resources(kind).values()]


def tagged(template: Template, kind: str, part: str) -> dict[str, Json]:
    """Return the resources of a kind with a part in their logical ids."""
    found = template.find_resources(kind)
    return {name: each["Properties"] for name, each in found.items() if part in name}


# Every role that is in the network has its ways.


def inner_roles(stacks: Stacks) -> Iterator[tuple[str, str]]:
    """Yield (role, action) of each right of what runs inside the network."""
    for template in stacks.values():
        roles = {
            name
            for name, role in template.find_resources("AWS::IAM::Role").items()
            if INSIDE & {s["Principal"]["Service"] for s in
                         role["Properties"]["AssumeRolePolicyDocument"]["Statement"]}
        }  # fmt: skip
        kinds = ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy")
        for policy in (each for kind in kinds for each in properties(template, kind)):
            for name in roles & {role["Ref"] for role in policy["Roles"]}:
                for statement in policy["PolicyDocument"]["Statement"]:
                    actions = statement["Action"]
                    for action in [actions] if isinstance(actions, str) else actions:
                        yield name, action


def test_each_service_that_a_role_may_call_has_an_endpoint_or_a_reason(
    environments: dict[str, Stacks],
) -> None:
    """Staging has a pause, prod has readers: together they have every role that there is."""
    called = {
        action.partition(":")[0] for stacks in environments.values()
        for _, action in inner_roles(stacks)
    }  # fmt: skip

    ways = GATEWAY.keys() | INTERFACES.keys() | PAUSE.keys() | VIEWS.keys() | TAGS.keys()
    assert called == ways | NO_ENDPOINT.keys()
    assert not NO_ENDPOINT.keys() & ways
    assert all(len(reason) > 40 for reason in NO_ENDPOINT.values())


def test_endpoints_are_those_of_the_services_that_are_called(prod: Stacks, small: Template) -> None:
    def services(template: Template) -> set[str]:
        names = [each["ServiceName"] for each in properties(template, "AWS::EC2::VPCEndpoint")]
        return {json.dumps(name).rpartition(".")[2].strip('"]}') for name in names}

    assert services(prod["network"]) == {
        *INTERFACES.values(),
        *VIEWS.values(),
        *TAGS.values(),
        "s3",
    }
    assert services(small) == {*INTERFACES.values(), *PAUSE.values(), "s3"}


def test_endpoints_serve_the_own_account_alone(small: Template) -> None:
    interfaces = [e for e in properties(small, "AWS::EC2::VPCEndpoint")
                  if e["VpcEndpointType"] == "Interface"]  # fmt: skip

    assert len(interfaces) == len(INTERFACES) + len(PAUSE)
    for each in interfaces:
        [statement] = each["PolicyDocument"]["Statement"]
        assert statement["Condition"]["StringEquals"] == {"aws:PrincipalAccount": "1" * 12}
        assert each["PrivateDnsEnabled"] is True
        assert len(each["SubnetIds"]) == 3


def test_all_functions_and_jobs_are_in_the_network_and_only_extraction_has_a_way_out(
    prod: Stacks,
) -> None:
    tiers: dict[str, set[str]] = {}
    for each in properties(prod["compute"], "AWS::Lambda::Function"):
        place = json.dumps(each["VpcConfig"])
        tier = "extract" if "networkextract" in place else "functions"
        assert place.count(f"network{tier}subnets") == place.count(f"network{tier}group") == 1
        tiers.setdefault(tier, set()).add(each["Handler"].split(".")[1])

    assert tiers["extract"] == {"extract_pages"}
    assert len(tiers["functions"]) == 9
    for job in properties(prod["compute"], "AWS::Glue::Job"):
        assert job["Connections"] == {"Connections": ["lakekit-prod-zone_1", "lakekit-prod-zone_2"]}


def test_code_of_a_function_cannot_make_network_interfaces(prod: Stacks) -> None:
    denied = [
        statement
        for policy in properties(prod["compute"], "AWS::IAM::Policy")
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    ]

    assert len(denied) == 10
    for each in denied:
        assert "ec2:CreateNetworkInterface" in each["Action"]
        assert "lambda:SourceFunctionArn" in each["Condition"]["ArnEquals"]


def test_an_environment_without_a_network_has_nothing_of_it(
    environments: dict[str, Stacks],
) -> None:
    for name in ("dev", "staging"):
        assert "network" not in environments[name]
        text = json.dumps(environments[name]["compute"].to_json())
        assert "VpcConfig" not in text
        assert "Connections" not in text
        assert "ec2:" not in text


# Its tiers.


def test_no_subnet_is_open_and_tiers_do_not_overlap(small: Template) -> None:
    subnets = properties(small, "AWS::EC2::Subnet")
    blocks = [ip_network(each["CidrBlock"]) for each in subnets]

    assert len(subnets) == 9
    assert all(each["MapPublicIpOnLaunch"] is False for each in subnets)
    assert all(block.subnet_of(ip_network("10.1.0.0/22")) for block in blocks)  # type: ignore[arg-type]
    assert sum(block.num_addresses for block in blocks) == 3 * (128 + 64 + 16)
    # By number: which zones an account has is known at deployment alone.
    assert {json.dumps(each["AvailabilityZone"]) for each in subnets} == {
        json.dumps({"Fn::Select": [number, {"Fn::GetAZs": ""}]}) for number in range(3)
    }


def test_only_the_private_tier_has_a_route_to_the_internet(small: Template) -> None:
    routes = properties(small, "AWS::EC2::Route")
    through_nat = [each for each in routes if "NatGatewayId" in each]
    through_gateway = [each for each in routes if "GatewayId" in each]

    assert len(routes) == 6
    assert all("private" in each["RouteTableId"]["Ref"] for each in through_nat)
    assert all("public" in each["RouteTableId"]["Ref"] for each in through_gateway)


def test_production_has_a_nat_gateway_per_zone_and_others_have_one(
    prod: Stacks, small: Template
) -> None:
    prod["network"].resource_count_is("AWS::EC2::NatGateway", 2)
    small.resource_count_is("AWS::EC2::NatGateway", 1)


def test_groups_let_out_what_a_tier_needs_and_nothing_in_but_workers_to_each_other(
    small: Template,
) -> None:
    groups = {each["GroupName"].rpartition("-")[2]: each
              for each in properties(small, "AWS::EC2::SecurityGroup")}  # fmt: skip
    out = {
        name: {(rule["IpProtocol"], rule.get("FromPort")) for rule in group["SecurityGroupEgress"]}
        for name, group in groups.items()
        if name != "endpoints"
    }

    assert out == {
        "extract": {("tcp", 443), ("tcp", 8443)},
        "functions": {("tcp", 443)},
        "jobs": {("tcp", 443)},
    }
    assert [name for name, each in groups.items() if "SecurityGroupIngress" in each] == []
    ingress = properties(small, "AWS::EC2::SecurityGroupIngress")
    workers = [each for each in ingress if each["GroupId"] == each["SourceSecurityGroupId"]]
    assert [(each["FromPort"], each["ToPort"]) for each in workers] == [(0, 65535)]
    assert {each["FromPort"] for each in ingress if each not in workers} == {443}
    assert len(ingress) == 4


def test_each_tier_has_an_acl_that_lets_tcp_alone_pass(small: Template) -> None:
    entries = small.find_resources("AWS::EC2::NetworkAclEntry")

    assert len(properties(small, "AWS::EC2::NetworkAcl")) == 3
    assert len(properties(small, "AWS::EC2::SubnetNetworkAclAssociation")) == 9
    assert {each["Properties"]["Protocol"] for each in entries.values()} == {6}
    out = {
        (tier, each["Properties"]["PortRange"]["From"])
        for name, each in entries.items()
        for tier in ("isolated", "private", "public")
        if tier in name and each["Properties"]["Egress"] and "0.0.0.0/0" in json.dumps(each)
    }
    assert out == {("isolated", 443), ("private", 443), ("private", 8443), ("public", 443),
                   ("public", 8443)}  # fmt: skip


def test_an_acl_stays_within_its_twenty_rules_however_many_ports_there_are() -> None:
    assert ranges([*range(8000, 8015)]) == [(port, port) for port in range(8000, 8015)]
    assert ranges([443, *range(8000, 8015)]) == [(443, 8014)]


def test_flows_are_logged_with_the_key_of_logs(small: Template) -> None:
    [flow] = properties(small, "AWS::EC2::FlowLog")
    [group] = properties(small, "AWS::Logs::LogGroup")

    assert (flow["TrafficType"], flow["ResourceType"]) == ("ALL", "VPC")
    assert group["LogGroupName"] == "/aws/vpc/lakekit-dev-flows"
    assert "KmsKeyId" in group
    assert group["RetentionInDays"] == 30


def test_a_connection_of_glue_is_in_each_isolated_subnet(small: Template) -> None:
    inputs = [each["ConnectionInput"] for each in properties(small, "AWS::Glue::Connection")]
    places = [each["PhysicalConnectionRequirements"] for each in inputs]

    assert [each["Name"] for each in inputs] == [f"lakekit-dev-zone_{n}" for n in (1, 2, 3)]
    assert len({json.dumps(each["SubnetId"]) for each in places}) == 3
    assert all("isolated" in json.dumps(each["SubnetId"]) for each in places)
    assert len({json.dumps(each["SecurityGroupIdList"]) for each in places}) == 1


# An existing VPC.


def test_in_an_existing_vpc_only_groups_and_connections_are_made() -> None:
    template = synthesise(GIVEN)

    kinds = {each["Type"] for each in template.to_json()["Resources"].values()}
    assert kinds == {
        "AWS::EC2::SecurityGroup", "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress", "AWS::Glue::Connection", "AWS::SSM::Parameter",
    }  # fmt: skip
    [needed] = template.to_json()["Outputs"].values()
    assert set(needed["Value"].split(",")) == {*INTERFACES.values(), "s3"}
    lists = [e["Value"] for e in properties(template, "AWS::SSM::Parameter")
             if e["Type"] == "StringList"]  # fmt: skip
    assert lists == [",".join(GIVEN["subnets"].values())] * 2
    zones = {
        each["ConnectionInput"]["PhysicalConnectionRequirements"]["AvailabilityZone"]
        for each in properties(template, "AWS::Glue::Connection")
    }
    assert zones == GIVEN["subnets"].keys()


def test_other_stacks_know_the_network_by_names_alone(prod: Stacks) -> None:
    names = {each["Name"] for each in properties(prod["network"], "AWS::SSM::Parameter")}
    asked = {
        each["Default"]
        for each in prod["compute"].to_json()["Parameters"].values()
        if "/network/" in each["Default"]
    }

    assert asked == names
    assert "Outputs" not in prod["network"].to_json()
