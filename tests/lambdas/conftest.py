"""Handlers as Lambda calls them, on moto in this process."""

import json
import logging
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from lakekit.aws import settings
from lakekit.aws.step import logger_of

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
    """An account with the resources that the functions expect."""

    def __init__(self) -> None:
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
        return call(step, event, context)

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
    with mock_aws():
        yield Account()
    _cold_start()


def _cold_start() -> None:
    """Drop clients, and loggers that write to the output of an earlier test."""
    settings._client.cache_clear()
    logger_of.cache_clear()
    for step in STEPS:
        logging.Logger.manager.loggerDict.pop(step, None)


@pytest.fixture
def event() -> Callable[[str], Any]:
    """Return a reader of the real events in `tests/events`."""
    return lambda name: json.loads((EVENTS / f"{name}.json").read_text())
