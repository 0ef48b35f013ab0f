"""One behaviour suite: the fake in memory and S3 as moto has it."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from moto import mock_aws

from lakekit.aws import object_store
from lakekit.aws.object_store import S3ObjectStore
from lakekit.errors import StorageUnavailableError
from lakekit.ports import ObjectNotFoundError, ObjectStore, PreconditionFailedError
from tests.fakes import MemoryObjectStore

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@pytest.fixture
def s3() -> "Iterator[S3Client]":
    with mock_aws():
        client = boto3.client(
            "s3",
            region_name="us-east-1",
            aws_access_key_id="x",
            aws_secret_access_key="x",  # noqa: S106
        )
        client.create_bucket(Bucket="bucket")
        yield client


@pytest.fixture(params=["memory", "s3"])
def store(request: pytest.FixtureRequest) -> ObjectStore:
    if request.param == "memory":
        return MemoryObjectStore()
    return S3ObjectStore("bucket", request.getfixturevalue("s3"))


def test_gives_back_what_was_put(store: ObjectStore) -> None:
    etag = store.put("a/b", b"body")

    info = store.head("a/b")
    assert store.get("a/b") == b"body"
    assert info is not None
    assert (info.key, info.size, info.etag) == ("a/b", 4, etag)
    with store.open("a/b") as stream:
        assert (stream.read(2), stream.read()) == (b"bo", b"dy")
    assert store.uri("a/b").endswith("a/b")


@pytest.mark.parametrize("size", [0, 4, 5 << 20, (10 << 20) + 1])
def test_writes_a_file_of_any_size_once(
    store: ObjectStore, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "PIECE", 5 << 20)
    body = bytes(range(256)) * (size // 256 + 1)

    store.put_file("a", io.BytesIO(body[:size]))
    store.put_file("b", io.BytesIO(body[:size]), if_absent=True)

    assert store.get("a") == store.get("b") == body[:size]
    with pytest.raises(PreconditionFailedError):
        store.put_file("b", io.BytesIO(body), if_absent=True)
    assert store.get("b") == body[:size]


def test_an_upload_that_fails_leaves_nothing(
    s3: "S3Client", monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "SlowDown"}}, "UploadPart")

    monkeypatch.setattr(object_store, "PIECE", 5 << 20)
    monkeypatch.setattr(s3, "upload_part", fail)

    with pytest.raises(StorageUnavailableError, match="a: SlowDown"):
        S3ObjectStore("bucket", s3).put_file("a", io.BytesIO(b"x" * (6 << 20)))

    assert not s3.list_multipart_uploads(Bucket="bucket").get("Uploads")


def test_says_when_there_is_no_object(store: ObjectStore) -> None:
    assert store.head("a") is None
    for read in (store.get, store.open):
        with pytest.raises(ObjectNotFoundError):
            read("a")
    with pytest.raises(ObjectNotFoundError):
        store.copy("a", "b")


def test_puts_only_where_nothing_is(store: ObjectStore) -> None:
    store.put("a", b"1", if_absent=True)

    with pytest.raises(PreconditionFailedError):
        store.put("a", b"2", if_absent=True)

    assert store.get("a") == b"1"


def test_puts_only_over_the_object_that_was_read(store: ObjectStore) -> None:
    etag = store.put("a", b"1")
    store.put("a", b"2", if_match=etag)

    with pytest.raises(PreconditionFailedError):
        store.put("a", b"3", if_match=etag)
    with pytest.raises(PreconditionFailedError):
        store.put("missing", b"3", if_match=etag)

    assert store.get("a") == b"2"


def test_deletes_only_the_object_that_was_read(store: ObjectStore) -> None:
    first = store.put("a", b"1")
    second = store.put("a", b"2")

    store.delete("a", if_match=first)
    assert store.get("a") == b"2"

    store.delete("a", if_match=second)
    store.delete("a", if_match=second)
    assert store.head("a") is None


def test_lists_a_prefix_in_key_order(store: ObjectStore) -> None:
    for key in ("a/2", "b/1", "a/1", "a/10"):
        store.put(key, b"")

    assert [info.key for info in store.list("a/")] == ["a/1", "a/10", "a/2"]


def test_copies(store: ObjectStore) -> None:
    store.put("a", b"1")

    store.copy("a", "b")

    assert (store.get("a"), store.get("b")) == (b"1", b"1")


def test_copies_no_tags_which_would_need_rights_on_tags(s3: "S3Client") -> None:
    s3.put_object(Bucket="bucket", Key="a", Body=b"1", Tagging="owner=shop")

    S3ObjectStore("bucket", s3).copy("a", "b")

    assert s3.get_object_tagging(Bucket="bucket", Key="a")["TagSet"] != []
    assert s3.get_object_tagging(Bucket="bucket", Key="b")["TagSet"] == []


class BrokenClient:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def put_object(self, **_: Any) -> None:
        raise self.error


def client_error(code: str, status: int) -> ClientError:
    return ClientError(
        {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]
        "PutObject",
    )


@pytest.mark.parametrize(
    "error",
    [
        client_error("SlowDown", 503), client_error("InternalError", 500),
        client_error("ConditionalRequestConflict", 409), ReadTimeoutError(endpoint_url="x"),
    ],
)  # fmt: skip
def test_translates_what_a_retry_can_help(error: Exception) -> None:
    store = S3ObjectStore("bucket", BrokenClient(error))  # type: ignore[arg-type]

    with pytest.raises(StorageUnavailableError):
        store.put("a", b"")


def test_leaves_a_denied_access_as_it_is() -> None:
    store = S3ObjectStore("bucket", BrokenClient(client_error("AccessDenied", 403)))  # type: ignore[arg-type]

    with pytest.raises(ClientError):
        store.put("a", b"")
