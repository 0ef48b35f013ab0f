"""A file that is dropped into the inbox, loaded with the real function, state machine and jobs."""

import json
from typing import Any

import pytest

from lakekit import layout
from lakekit.landing.index import PENDING
from tests.worlds import World, until


def runs(world: World) -> list[Any]:
    """Return the executions of the world's source."""
    machines = world.sandbox.client("stepfunctions")
    arn = world.sandbox.names["machines"]["load_source"]
    pages = machines.get_paginator("list_executions").paginate(stateMachineArn=arn)
    found = [
        machines.describe_execution(executionArn=each["executionArn"])
        for page in pages
        for each in page["executions"]
    ]
    return [each for each in found if world.source in each["input"]]


def test_a_dropped_file_is_loaded_by_its_event_once_though_it_came_before_its_contract(world):
    names = world.sandbox.names
    body = b'{"id":1,"city":"here"}\n{"id":2,"city":"here"}\n'
    key = f"{layout.inbox_prefix(world.source, world.table)}day1.ndjson"

    events = world.sandbox.client("sqs")
    # Each attempt follows the last one at once.
    at_once = {"VisibilityTimeout": "60"}
    events.set_queue_attributes(QueueUrl=names["queues"]["inbox"], Attributes=at_once)
    with world.without_contract():
        world.put(key, body)
        queue = {"QueueUrl": names["queues"]["inbox_dead"], "AttributeNames": ["All"]}

        def dead() -> dict[str, str]:
            return events.get_queue_attributes(**queue)["Attributes"]

        until(lambda: dead()["ApproximateNumberOfMessages"] == "1")
    assert runs(world) == []
    events.start_message_move_task(SourceArn=dead()["QueueArn"])
    [run] = until(lambda: runs(world))
    until(lambda: runs(world)[0]["status"] != "RUNNING")
    assert runs(world)[0]["status"] == "SUCCEEDED"
    assert [row[:2] for row in world.rows()] == [(1, "here"), (2, "here")]

    # S3 delivers at least once: the same event comes again.
    s3 = world.sandbox.client("s3")
    head = s3.head_object(Bucket=names["landing_bucket"], Key=key)
    item = {"key": key, "etag": head["ETag"].strip('"'), "version-id": head["VersionId"]}
    again = {"time": head["LastModified"].strftime("%Y-%m-%dT%H:%M:%SZ"),
             "detail": {"bucket": {"name": names["landing_bucket"]}, "object": item}}  # fmt: skip
    events.send_message(QueueUrl=names["queues"]["inbox"], MessageBody=json.dumps(again))
    counts = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]

    def emptied() -> bool:
        found = events.get_queue_attributes(
            QueueUrl=names["queues"]["inbox"], AttributeNames=counts
        )
        return set(found["Attributes"].values()) == {"0"}

    until(emptied)
    assert [each["executionArn"] for each in runs(world)] == [run["executionArn"]]
    assert dead()["ApproximateNumberOfMessages"] == "0"


@pytest.mark.long
def test_a_hundred_files_at_once_are_a_few_runs_and_each_is_merged_once(world):
    world.change_contract("  paginator", "  extract: incremental\n  paginator")
    world.change_contract("history: {", "history: {sequence_by: at, ")
    world.change_contract("history:", "  - {name: at, type: timestamp}\nhistory:")
    for n in range(100):
        record = {
            "id": n % 10,
            "city": f"city {n}",
            "at": f"2026-01-01T00:{n // 60:02}:{n % 60:02}Z",
        }
        key = f"{layout.inbox_prefix(world.source, world.table)}{n:03}.ndjson"
        world.put(key, json.dumps(record).encode())

    landed = layout.source_prefix(world.source)
    until(lambda: sum(key.endswith("/.complete") for key in world.keys(landed)) == 100, seconds=400)
    until(lambda: all(each["status"] != "RUNNING" for each in runs(world)))

    rows = world.rows()
    assert sorted(row[1] for row in rows) == sorted(f"city {n}" for n in range(100))
    assert sum(row[-1] for row in rows) == 10
    assert {each["status"] for each in runs(world)} == {"SUCCEEDED"}
    assert len(runs(world)) <= 20
    assert not [key for key in world.keys(layout.index_prefix(PENDING)) if world.source in key]
