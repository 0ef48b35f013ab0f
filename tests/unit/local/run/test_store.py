"""The folder behaves as the other stores; see tests/unit/aws for those."""

import io
from pathlib import Path

import pytest

from lakekit.local.run.store import FolderObjectStore
from lakekit.ports import ObjectNotFoundError, PreconditionFailedError


@pytest.fixture
def store(tmp_path: Path) -> FolderObjectStore:
    return FolderObjectStore(tmp_path / "bucket")


def test_what_was_put_is_there(store: FolderObjectStore) -> None:
    etag = store.put("raw/s/t/1/part", b"body")

    found = store.head("raw/s/t/1/part")
    assert found is not None
    assert (found.key, found.size, found.etag) == ("raw/s/t/1/part", 4, etag)
    assert found.modified is not None
    assert found.modified.tzinfo is not None
    assert store.get("raw/s/t/1/part") == b"body"
    assert Path(store.uri("raw/s/t/1/part")).read_bytes() == b"body"


@pytest.mark.parametrize("key", ["a", "b", "a/b/c"])
def test_what_was_not_put_is_absent(store: FolderObjectStore, key: str) -> None:
    store.put("a/b", b"")

    assert store.head(key) is None
    with pytest.raises(ObjectNotFoundError):
        store.get(key)


def test_a_condition_that_does_not_hold_changes_nothing(store: FolderObjectStore) -> None:
    first = store.put("k", b"1", if_absent=True)
    second = store.put("k", b"2", if_match=first)

    with pytest.raises(PreconditionFailedError):
        store.put("k", b"3", if_absent=True)
    with pytest.raises(PreconditionFailedError):
        store.put("k", b"3", if_match=first)
    with pytest.raises(PreconditionFailedError):
        store.put("new", b"3", if_match=second)
    with pytest.raises(PreconditionFailedError):
        store.put_file("k", io.BytesIO(b"3"), if_absent=True)
    assert store.get("k") == b"2"
    assert [each.key for each in store.list("")] == ["k"]


def test_the_same_body_again_is_another_state(store: FolderObjectStore) -> None:
    assert store.put("k", b"1") != store.put("k", b"1")


def test_lists_keys_in_their_order_by_any_beginning(store: FolderObjectStore) -> None:
    for key in ("a/2", "a/10", "a-b", "a/b/c", "b", "a/.mark"):
        store.put(key, b"")

    assert [each.key for each in store.list("a/")] == ["a/.mark", "a/10", "a/2", "a/b/c"]
    assert [each.key for each in store.list("a")] == ["a-b", "a/.mark", "a/10", "a/2", "a/b/c"]
    assert [each.key for each in store.list("a/", limit=2)] == ["a/.mark", "a/10"]
    assert [each.key for each in store.list("nothing/")] == []


def test_folders_that_hold_something(store: FolderObjectStore) -> None:
    for key in ("raw/b/1", "raw/a/x/1", "raw/file", "raw/empty/1"):
        store.put(key, b"")
    store.delete("raw/empty/1")
    store.delete("raw/empty/1")

    assert [*store.folders("raw/")] == ["a", "b"]
    assert [*store.folders("none/")] == []


def test_copies(store: FolderObjectStore) -> None:
    store.put_file("a", io.BytesIO(b"x" * 10))
    store.copy("a", "b/c")

    assert store.get("b/c") == b"x" * 10
    with pytest.raises(ObjectNotFoundError):
        store.copy("none", "d")
