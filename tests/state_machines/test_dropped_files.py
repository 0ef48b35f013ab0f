"""A file that is dropped into the inbox, loaded with the real function, state machine and jobs."""

import json
from typing import Any

from lakekit import layout
from tests.worlds import until


def test_a_dropped_file_is_loaded_by_its_event_once(world):
    names, machines = world.sandbox.names, world.sandbox.client("stepfunctions")
    body = b'{"id":1,"city":"here"}\n{"id":2,"city":"here"}\n'
    key = f"{layout.inbox_prefix(world.source, world.table)}day1.ndjson"

    def runs() -> list[Any]:
        found = machines.list_executions(stateMachineArn=names["machines"]["load_source"])
        given = [
            machines.describe_execution(executionArn=each["executionArn"])
            for each in found["executions"]
        ]
        return [each for each in given if world.source in each["input"]]

    events = world.sandbox.client("sqs")
    world.put(key, body)
    [run] = until(runs)
    until(lambda: runs()[0]["status"] != "RUNNING")
    assert runs()[0]["status"] == "SUCCEEDED"
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
    assert [each["executionArn"] for each in runs()] == [run["executionArn"]]
    dead = events.receive_message(QueueUrl=names["queues"]["inbox_dead"])
    assert "Messages" not in dead
