"""Which rights a request to S3 needs."""

import re
from collections.abc import Iterator

from lakekit.sandbox.rights.policies import Need
from lakekit.sandbox.rights.request import Place, Request, UnknownRequestError

# What a query of a bucket asks for, by the name that it has.
OF_BUCKETS = {
    "location": "GetBucketLocation",
    "uploads": "ListBucketMultipartUploads",
    "versioning": "GetBucketVersioning",
    "versions": "ListBucketVersions",
}
# How one key is used: a write in parts reads what it has encrypted.
READS, WRITES, PARTS = ("Decrypt",), ("GenerateDataKey",), ("Decrypt", "GenerateDataKey")


def needs(request: Request, place: Place) -> Iterator[Need]:
    """Yield what a request needs, with the right to the key of its bucket."""
    bucket, key = bucket_and_key(request)
    if not key:
        yield from _of_bucket(request, place, bucket)
        return
    copied = request.headers.get("x-amz-copy-source", "").lstrip("/")
    if request.method == "PUT" and copied:
        source, _, name = copied.partition("/")
        yield _object("GetObject", source, name.partition("?")[0])
        yield from _keys(place, bucket, PARTS)
    action, used = _of_object(request)
    yield _object(action, bucket, key)
    if not copied:
        yield from _keys(place, bucket, used)


def if_absent(request: Request) -> Iterator[Need]:
    """Yield what lets S3 say that an object is not there: without it, it says 403."""
    bucket, key = bucket_and_key(request)
    if key and request.method in ("GET", "HEAD"):
        yield _bucket("ListBucket", bucket)


def bucket_and_key(request: Request) -> tuple[str, str]:
    """Return what a request names, in its path or in the name of the host."""
    path = request.path.lstrip("/")
    named = re.match(r"(.+)\.s3[.-][^/]*amazonaws\.com", request.host)
    if named:
        return named.group(1), path
    bucket, _, key = path.partition("/")
    return bucket, key


def _of_bucket(request: Request, place: Place, bucket: str) -> Iterator[Need]:
    if request.method == "POST" and "delete" in request.query:
        for key in re.findall(r"<Key>([^<]*)</Key>", request.body().decode()):
            yield _object("DeleteObject", bucket, key)
        return
    asked = OF_BUCKETS.keys() & request.query.keys()
    if not bucket or request.method not in ("GET", "HEAD") or len(asked) > 1:
        raise UnknownRequestError(f"{request.method} /{bucket}?{'&'.join(request.query)}")
    yield _bucket(OF_BUCKETS[asked.pop()] if asked else "ListBucket", bucket)


def _of_object(request: Request) -> tuple[str, tuple[str, ...]]:
    """Return the action, and how it uses the key of its bucket."""
    version = "Version" if "versionId" in request.query else ""
    in_parts = request.query.keys() & {"uploads", "uploadId"}
    match request.method:
        case "GET" if not in_parts and "tagging" not in request.query:
            return f"GetObject{version}", READS
        case "HEAD":
            return f"GetObject{version}", ()
        case "PUT" if "tagging" not in request.query:
            return "PutObject", PARTS if in_parts else WRITES
        case "POST" if in_parts:
            return "PutObject", PARTS
        case "DELETE" if in_parts:
            return "AbortMultipartUpload", ()
        case "DELETE":
            return f"DeleteObject{version}", ()
    raise UnknownRequestError(f"{request.method} of an object, ?{'&'.join(request.query)}")


def _keys(place: Place, bucket: str, used: tuple[str, ...]) -> Iterator[Need]:
    key = place.keys.get(bucket)
    through = {"kms:ViaService": f"s3.{place.region}.amazonaws.com"}
    for action in used if key else ():
        yield Need(f"kms:{action}", str(key), through)


def _object(action: str, bucket: str, key: str) -> Need:
    return Need(f"s3:{action}", f"arn:aws:s3:::{bucket}/{key}")


def _bucket(action: str, bucket: str) -> Need:
    return Need(f"s3:{action}", f"arn:aws:s3:::{bucket}")
