"""Regions, networks, streams and deliveries: what is refused, and in which words."""

from pathlib import Path
from typing import Any

import pytest

from lakekit.config.deployment import environment_faults, missing_source_faults
from lakekit.config.environment import Environment, load_environment
from lakekit.config.source import load_source
from lakekit.errors import InvalidEnvironmentError

ACCOUNT, OTHER = "1" * 12, "2" * 12
VPC = "vpc-0123456789abcdef0"
SUBNETS = "{eu-west-1a: subnet-0123456789abcdef0, eu-west-1b: subnet-0123456789abcdef1}"
CONNECTION = "arn:aws:codeconnections:eu-west-1:{}:connection/01234567-89ab-cdef-0123-456789abcdef"
SMOKE = "smoke: shop\n"
COPIES = (
    "storage: {{replication: {{landing: 'arn:aws:s3:::{}', lake: 'arn:aws:s3:::copy-lake', "
    "key: 'arn:{}:kms:{}:111111111111:{}'}}}}"
)
COPY, KEY = "copy-landing", "key/01234567-89ab-cdef-0123-456789abcdef"
OWN = f"lakekit-dev-landing-{ACCOUNT}-eu-west-1"
PIPELINE = (
    SMOKE
    + "delivery: {{repository: acme/lake, pipeline: {{connection: '{}', environments: [{}]}}}}"
)


def environment(name: str = "dev", **fields: Any) -> Environment:
    given = {"environment": name, "account": ACCOUNT, "region": "eu-west-1", **fields}
    return Environment.model_validate(given)


def load(folder: Path, own: str) -> Environment:
    (folder / "base.yaml").write_text(f"region: eu-west-1\naccount: '{ACCOUNT}'\n")
    (folder / "dev.yaml").write_text(own)
    return load_environment("dev", folder=folder)


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        ("region: us-gov-west-1", "region: 'us-gov-west-1' is not a region that is known to have"),
        ("region: eu-wset-1", "region: 'eu-wset-1' is not a region .*; did you mean 'eu-west-1'?"),
        ("account: '000000000000'", "account: must be the 12 digits of an account"),
        ("account: '12345'", "account: must be the 12 digits of an account"),
        ("network: vcp", "network: 'vcp' is not none, vpc, or a mapping with cidr or with vpc_id"),
        ("network: {cidr: ten}", "network.cidr: 'ten' is not a range of IPv4 addresses like 10"),
        ("network: {cidr: 10.0.0.0}", "network.cidr: must have a size from /16 to /22, such as"),
        ("network: {cidr: 10.0.0.0/8}", "network.cidr: must have a size from /16 to /22, such as"),
        ("network: {cidr: 10.1.2.3/16}", "network.cidr: .* is an address within 10.1.0.0/16"),
        ("network: {cidr: 8.8.0.0/16}", "network.cidr: 8.8.0.0/16 is not private"),
        ("network: {zones: 4}", "network.zones: Input should be 2 or 3"),
        ("network: {vpc_id: vpc-1}", "network.vpc_id: String should match pattern"),
        (f"network: {{vpc_id: {VPC}}}", "network: with vpc_id, name under subnets a private one"),
        (f"network: {{subnets: {SUBNETS}}}", "network: subnets are those of an existing VPC"),
        (f"network: {{vpc_id: {VPC}, subnets: {SUBNETS}, zones: 2}}", "network: cidr and zones"),
        (
            f"network: {{vpc_id: {VPC}, subnets: {SUBNETS.replace('def1', 'def0')}}}",
            "network: two zones have the same subnet",
        ),
        (
            f"network: {{vpc_id: {VPC}, subnets: {SUBNETS.replace('west-1b', 'west-2b')}}}",
            "network.subnets.eu-west-2b: is not a zone of eu-west-1; the VPC of an environment",
        ),
        (COPIES.format(COPY, "aws", "eu-west-1", KEY), "storage.replication.key: is in eu-west-1"),
        (COPIES.format("copy-lake", "aws", "eu-west-2", KEY), "storage.replication: landing and"),
        (COPIES.format(COPY, "aws", "eu-west-2", "alias/a"), "storage.replication.key: String"),
        (COPIES.format(OWN, "aws", "eu-west-2", KEY), "storage.replication.landing: is a"),
        (
            COPIES.format(COPY, "aws-cn", "cn-north-1", KEY),
            "storage.replication.key: is in the partition aws-cn, and eu-west-1 in aws; S3 copies",
        ),
        ("streams: [{source: shop, contract: orders, buffer_seconds: 5}]", "streams.0.buffer_s"),
        (
            "streams: [{source: shop, contract: orders}, {source: shop, contract: orders}]",
            "streams.1.contract: 'orders' has a stream already",
        ),
        (
            f"streams: [{{source: shop, contract: {'o' * 60}}}]",
            "streams.0.contract: .* has 72 characters, and the name of a stream of Firehose has 64",
        ),
        ("delivery: {repository: acme/lake}", "smoke: delivery tries each release; name the"),
        ("delivery: {repository: lake}", "delivery.repository: String should match pattern"),
        (
            PIPELINE.format(CONNECTION.format(ACCOUNT), "dev, dev"),
            "delivery.pipeline.environments: an environment is named twice",
        ),
        (
            PIPELINE.format(CONNECTION.format(OTHER), "dev"),
            "delivery.pipeline.connection: is in account 2{12}, and dev in 1{12}",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_deployed_is_a_fault_with_its_place(
    tmp_path: Path, own: str, fault: str
) -> None:
    with pytest.raises(InvalidEnvironmentError, match=fault.replace("(", r"\(")) as caught:
        load(tmp_path, own)
    assert len(str(caught.value).splitlines()) == 1


def test_a_network_is_one_of_its_own_or_an_existing_one(tmp_path: Path) -> None:
    assert load(tmp_path, "log_days: 30").network is None
    assert load(tmp_path, "network: none").network is None
    own = load(tmp_path, "network: vpc").network
    wide = load(tmp_path, "network: {cidr: 172.16.0.0/20, zones: 3}").network
    given = load(tmp_path, f"network: {{vpc_id: {VPC}, subnets: {SUBNETS}}}").network

    assert own and (str(own.block), own.zone_count) == ("10.0.0.0/16", 2)
    assert wide and (str(wide.block), wide.zone_count) == ("172.16.0.0/20", 3)
    assert given and (given.vpc_id, given.zone_count) == (VPC, 2)


def between(*environments: Environment) -> list[str]:
    return [f"{name}: {fault}" for name, fault in environment_faults(environments)]


def test_networks_of_a_project_do_not_overlap() -> None:
    dev = environment(network={"cidr": "10.0.0.0/16"})

    assert between(dev, environment("prod", account=OTHER, network={"cidr": "10.1.0.0/16"})) == []
    assert between(dev, environment("prod", account=OTHER, network={"cidr": "10.0.64.0/20"})) == [
        "prod: network.cidr: 10.0.64.0/20 overlaps 10.0.0.0/16 of dev; give each network of a "
        "project a range of its own, so that they can be connected"
    ]


def test_a_copy_has_a_bucket_of_its_own() -> None:
    def copying(name: str, landing: str, lake: str) -> Environment:
        copies = {"landing": f"arn:aws:s3:::{landing}", "lake": f"arn:aws:s3:::{lake}",
                  "key": f"arn:aws:kms:eu-west-2:{ACCOUNT}:{KEY}"}  # fmt: skip
        return environment(name, storage={"replication": copies})

    one = copying("dev", "copy-landing", "copy-lake")
    same_copy = copying("qa", "copy-landing", "qa-lake")
    over = copying("test", "test-landing", one.bucket("lake"))

    assert environment_faults([one, copying("qa", "qa-landing", "qa-lake")]) == []
    assert [str(fault) for _, fault in environment_faults([one, same_copy])] == [
        "storage.replication: copy-landing is written by dev too; give each copy a bucket of its "
        "own"
    ]
    for pair in ([one, over], [over, one]):
        [(_, fault)] = environment_faults(pair)
        assert f"{one.bucket('lake')} is written by" in str(fault)


def test_lineage_goes_where_functions_in_a_network_have_a_way(tmp_path: Path) -> None:
    address = "lineage: {url: 'https://lineage.example/api'}\n"
    given = f"network: {{vpc_id: {VPC}, subnets: {SUBNETS}}}\n"

    for own in (address, f"{given}{address}", "network: vpc\nlineage: {url: 's3://acme/lineage'}"):
        load(tmp_path, own)
    with pytest.raises(InvalidEnvironmentError, match=r"dev.yaml:1:.*: lineage.url: the functions"):
        load(tmp_path, f"{address}network: vpc")


def test_a_copy_does_not_go_where_the_audit_is_recorded(tmp_path: Path) -> None:
    copies = COPIES.format(OWN.replace("landing", "trail"), "aws", "eu-west-2", KEY)

    load(tmp_path, copies)
    with pytest.raises(InvalidEnvironmentError, match=r"replication\.landing: is a bucket"):
        load(tmp_path, f"audit: {{}}\n{copies}")


def test_a_vpc_is_in_one_account_and_region() -> None:
    def given(name: str, region: str) -> Environment:
        subnets = {f"{region}{z}": f"subnet-0123456789abcdef{n}" for n, z in enumerate("ab")}
        network = {"vpc_id": VPC, "subnets": subnets}
        return environment(name, region=region, network=network)

    assert between(given("dev", "eu-west-1"), given("qa", "eu-west-1")) == []
    assert between(given("dev", "eu-west-1"), given("qa", "us-east-1")) == [
        f"qa: network.vpc_id: {VPC} is the VPC of dev in account {ACCOUNT} and eu-west-1; "
        "a VPC is in one account and region"
    ]


def test_an_account_knows_github_once_and_a_project_has_one_pipeline() -> None:
    repository = {"repository": "acme/lake"}
    pipeline = {"connection": CONNECTION.format(ACCOUNT), "environments": ["dev", "prd"]}
    dev = environment(delivery=repository)

    assert between(dev, environment("prod", account=OTHER, delivery=repository)) == []
    assert between(dev, environment("qa", delivery={**repository, "existing_provider": True})) == []
    assert between(dev, environment("qa", delivery=repository)) == [
        "qa: delivery.existing_provider: dev makes GitHub known to the same account, which can "
        "have it but once; set it to true"
    ]
    with_pipeline = {**repository, "existing_provider": True, "pipeline": pipeline}
    assert between(environment("qa", delivery=with_pipeline), environment(delivery=with_pipeline))[
        :2
    ] == [
        "qa: delivery.pipeline.environments: there is no prd; there are qa, dev",
        "dev: delivery.pipeline: qa has a pipeline too; a project has one, in the file of the "
        "environment in whose account it is",
    ]


def test_streams_and_the_smoke_test_name_sources_of_their_environment() -> None:
    shop = load_source("source: shop\nbase_url: https://a.org\n")
    elsewhere = load_source("source: crm\nbase_url: https://a.org\nenvironments: [prod]\n")
    stream = {"source": "crm", "contract": "people"}

    def faults(**fields: Any) -> list[str]:
        return list(map(str, missing_source_faults(environment(**fields), [shop, elsewhere])))

    assert faults(smoke="shop") == []
    assert faults(smoke="crm", streams=[stream]) == [
        "streams.0.source: dev has no source 'crm'; there are shop",
        "smoke: dev has no source 'crm'; there are shop",
    ]
