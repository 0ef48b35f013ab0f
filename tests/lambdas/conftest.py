"""Handlers as Lambda calls them, on moto in this process."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from lakekit.aws import settings
from lakekit.aws.step import logger_of
from lakekit.sandbox.rights.policies import Statement, parse_document
from lakekit.sandbox.rights.request import Place
from tests.rights import recording
from tests.rights.enforced import ASKED, Rights
from tests.rights.roles import documents

# The jobs that read contracts.
HOLDERS = ("maintain_tables", "rebuild_table")
STEPS = [path.parent.name for path in (Path(__file__).parents[2] / "lambdas").glob("*/handler.py")]
EVENTS = Path(__file__).parents[1] / "events"
REGION = "eu-central-1"
ACCOUNT = "123456789012"
MACHINE = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:lakekit-dev-load_source"
MAINTENANCE = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:lakekit-dev-maintain_tables"
SOURCE = (
    "source: shop\nbase_url: https://shop.example\n"
    "auth: {type: api_key, secret: '{environment}-shop-key'}\n"
)
CONTRACT = (
    "contract: orders\nsource: shop\n"
    "endpoint: {path: /orders, records: $.items, "
    "paginator: {type: page_number, total_path: $.pages}}\n"
    "schema: [{name: id, type: bigint}, {name: price, type: double}]\nhistory: {keys: [id]}\n"
)


KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/data"
# By the names that templates give them.
BUCKETS = {
    **{f"lakekit-dev-{bucket}-111111111111-eu-west-1": bucket
       for bucket in ("landing", "lake", "results")},
    "cdk-hnb659fds-assets-111111111111-eu-west-1": "packages",
}  # fmt: skip
# What the templates of the tests' environments name, and what it is called here.
NAMES = {
    "lakekit-staging": "lakekit-dev", "/staging/": "/dev/", "222222222222": "111111111111",
    "lakekit-prod": "lakekit-dev", "/prod/": "/dev/", "333333333333": "111111111111",
    "lakekit_prod": "lakekit_dev",
    **BUCKETS,
    "111111111111": ACCOUNT, "eu-west-1": REGION,
    "lakekit-dev-sources": "sources", "lakekit-dev-queries": "queries",
    "lakekit/dev/shop_api": "dev-shop-key",
}  # fmt: skip


@cache
def stored_roles() -> dict[str, tuple[Statement, ...]]:
    """Return what each step may do by the templates, with the names of these tests."""
    found: dict[str, tuple[Statement, ...]] = {}
    # Only staging has pauses, and only prod shares its tables.
    pausing = [each for each in documents("staging") if each[0] == "pauseschedules"]
    sharing = [each for each in documents("prod") if each[0] == "sharetable"]
    for role, document in (*documents("dev"), *pausing, *sharing):
        text = json.dumps(document)
        for name, own in NAMES.items():
            text = text.replace(name, own)
        found[role] = (*found.get(role, ()), *parse_document(json.loads(text)))
    return {name: found[name.replace("_", "")] for name in (*STEPS, *HOLDERS)}


class Context:
    """What Lambda passes with the event."""

    aws_request_id = "52fdfc07-2182-454f-963f-5f0f9a621d72"
    function_name = "step"
    memory_limit_in_mb = 512
    invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:step"

    def __init__(self, seconds: float = 800) -> None:
        self.seconds = seconds

    def get_remaining_time_in_millis(self) -> int:
        return int(self.seconds * 1000)


def call(step: str, event: Any, context: Any = None) -> dict[str, Any]:
    """Call a handler with the JSON that Lambda would give it, and take JSON back."""
    module = import_module(f"lambdas.{step}.handler")
    result = module.handler(json.loads(json.dumps(event)), context or Context())
    found: dict[str, Any] = json.loads(json.dumps(result))
    return found


class Account:
    """An account with the resources that the functions expect, and the roles that they have."""

    def __init__(self, rights: Rights) -> None:
        self.rights = rights
        self.s3: Any = boto3.client("s3")
        self.sfn: Any = boto3.client("stepfunctions")
        self.glue: Any = boto3.client("glue")
        place: Any = {"LocationConstraint": REGION}
        for bucket in ("landing", "lake", "results"):
            self.s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=place)
        self.glue.create_database(DatabaseInput={"Name": "lakekit_dev"})
        boto3.client("secretsmanager").create_secret(
            Name="dev-shop-key", SecretString="s3cret-value"
        )
        for name in ("load_source", "maintain_tables"):
            self.sfn.create_state_machine(
                name=f"lakekit-dev-{name}",
                definition='{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 99, '
                '"End": true}}}',
                roleArn=f"arn:aws:iam::{ACCOUNT}:role/states",
            )

    def call(self, step: str, event: Any, context: Any = None) -> dict[str, Any]:
        with self.rights.acting_as(step):
            return call(step, event, context)

    def may_read_secret(self, step: str, name: str) -> None:
        """Let a step read a secret, as the templates do for the one that a source names."""
        arn = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:{name}-??????"
        self.rights.allow(step, "secretsmanager:GetSecretValue", arn)

    def names(self) -> list[str]:
        return [o["Key"] for o in self.s3.list_objects_v2(Bucket="landing").get("Contents", [])]

    def read(self, key: str, bucket: str = "landing") -> Any:
        return json.loads(self.s3.get_object(Bucket=bucket, Key=key)["Body"].read())

    def write(self, key: str, body: Any, bucket: str = "landing") -> str:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        etag: str = self.s3.put_object(Bucket=bucket, Key=key, Body=data)["ETag"]
        return etag

    def table(self, metadata: dict[str, Any]) -> None:
        """Make the table `orders` as Iceberg's Glue catalog leaves it."""
        key = "warehouse/lakekit_dev.db/orders/metadata/00001.metadata.json"
        self.write(key, metadata, bucket="lake")
        parameters = {"table_type": "ICEBERG", "metadata_location": f"s3://lake/{key}"}
        self.glue.create_table(
            DatabaseName="lakekit_dev", TableInput={"Name": "orders", "Parameters": parameters}
        )


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Account]:
    for folder, text in (("sources/shop", SOURCE), ("contracts/orders", CONTRACT)):
        path = tmp_path / f"{folder}.yaml"
        path.parent.mkdir()
        path.write_text(text)
    variables = {
        "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": REGION, "LAKEKIT_ENVIRONMENT": "dev",
        "LAKEKIT_LANDING_BUCKET": "landing", "LAKEKIT_RESULTS_BUCKET": "results",
        "LAKEKIT_DATABASE": "lakekit_dev", "LAKEKIT_WAREHOUSE": "s3://lake/warehouse",
        "LAKEKIT_LEASE_SECONDS": "3600",
        "LAKEKIT_JOBS": '{"min_workers": 3, "worker_type": "G.2X"}',
        "LAKEKIT_LOAD_SOURCE_ARN": MACHINE, "LAKEKIT_MAINTAIN_TABLES_ARN": MAINTENANCE,
        "LAKEKIT_CONFIG": str(tmp_path),
    }  # fmt: skip
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    _cold_start()
    keys = dict.fromkeys(("landing", "lake", "results"), KEY)
    rights = Rights(dict(stored_roles()), Place(ACCOUNT, REGION, keys))
    with mock_aws(), rights.installed():
        yield Account(rights)
    _cold_start()


def _cold_start() -> None:
    """Drop clients, and loggers that write to the output of an earlier test."""
    settings._client.cache_clear()
    logger_of.cache_clear()
    for step in STEPS:
        logging.Logger.manager.loggerDict.pop(step, None)


@pytest.fixture(scope="session", autouse=True)
def recorded(pytestconfig: pytest.Config) -> Iterator[None]:
    """With `--record-rights`, store what steps asked for, in the names of the templates."""
    yield
    if pytestconfig.getoption("record_rights"):
        recording.store("functions", map(_as_deployed, ASKED))


def _as_deployed(call: recording.Call) -> recording.Call:
    step, action, resource = call
    region = resource.replace(REGION, "eu-west-1").replace(ACCOUNT, "111111111111")
    for name, own in BUCKETS.items():
        region = re.sub(rf"^arn:aws:s3:::{own}(?=/|$)", f"arn:aws:s3:::{name}", region)
    for name, own in (("lakekit/dev/shop_api", "dev-shop-key"),
                      ("schedule/lakekit-dev-sources/", "schedule/sources/"),
                      ("workgroup/lakekit-dev-queries", "workgroup/queries")):  # fmt: skip
        region = region.replace(own, name)
    return step.replace("_", ""), action, region


@pytest.fixture
def event() -> Callable[[str], Any]:
    """Return a reader of the real events in `tests/events`."""
    return lambda name: json.loads((EVENTS / f"{name}.json").read_text())
