"""Listings with a delimiter: a folder whose objects are all deleted is none.

Moto 5.2.5 counts delete markers of a bucket with versions among the objects of a folder.
"""

from typing import Any

from moto.s3.models import FakeDeleteMarker, S3Backend

_list_objects = S3Backend.list_objects


def install() -> None:
    """Patch the object store of this process."""
    S3Backend.list_objects = list_objects


def list_objects(backend: S3Backend, bucket: Any, *args: Any, **named: Any) -> Any:
    """Return what moto returns, with the folders that hold an object."""
    keys, folders, *more = _list_objects(backend, bucket, *args, **named)
    there = [name for name, key in bucket.keys.items() if not isinstance(key, FakeDeleteMarker)]
    held = [each for each in folders if any(name.startswith(each) for name in there)]
    return keys, held, *more
