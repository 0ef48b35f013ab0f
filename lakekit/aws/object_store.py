"""The object store on S3. Errors of botocore are translated here, once."""

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from lakekit.aws.errors import translated
from lakekit.ports import ObjectInfo, ObjectNotFoundError, PreconditionFailedError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

# Of a multipart upload; S3 wants at least 5 MiB.
PIECE = 8 * 1024 * 1024


class S3ObjectStore:
    """One S3 bucket; see `lakekit.ports.ObjectStore`."""

    def __init__(self, bucket: str, client: "S3Client") -> None:
        self._bucket = bucket
        self._client = client

    def uri(self, key: str) -> str:
        """Return `s3://bucket/key`."""
        return f"s3://{self._bucket}/{key}"

    def get(self, key: str) -> bytes:
        """Return the object's bytes."""
        with self.open(key) as stream:
            return stream.read()

    def open(self, key: str) -> BinaryIO:
        """Return a stream over the object's bytes."""
        with translated(key):
            body = self._client.get_object(Bucket=self._bucket, Key=key)["Body"]
        return cast(BinaryIO, io.BufferedReader(_Stream(key, body), 1 << 20))

    def head(self, key: str) -> ObjectInfo | None:
        """Return what is known of the object."""
        try:
            with translated(key):
                found = self._client.head_object(Bucket=self._bucket, Key=key)
        except ObjectNotFoundError:
            return None
        return ObjectInfo(
            key,
            found["ContentLength"],
            found["ETag"],
            found["LastModified"],
            found.get("VersionId"),
        )

    def put(
        self, key: str, body: bytes, *, if_absent: bool = False, if_match: str | None = None
    ) -> str:
        """Write the object; conditions are S3's `If-None-Match: *` and `If-Match`."""
        condition: dict[str, Any] = {"IfNoneMatch": "*"} if if_absent else {}
        if if_match is not None:
            condition["IfMatch"] = if_match
        try:
            with translated(key):
                return self._client.put_object(
                    Bucket=self._bucket, Key=key, Body=body, **condition
                )["ETag"]
        except ObjectNotFoundError as error:
            if if_match is None:
                raise
            raise PreconditionFailedError(f"{key}: removed") from error

    def put_file(self, key: str, file: BinaryIO, *, if_absent: bool = False) -> str:
        """Write what a file holds; a large one by a multipart upload."""
        file.seek(0)
        first = file.read(PIECE)
        if len(first) < PIECE:
            return self.put(key, first, if_absent=if_absent)
        if if_absent and self.head(key):  # before all of it is sent
            raise PreconditionFailedError(key)
        with translated(key):
            upload = self._client.create_multipart_upload(Bucket=self._bucket, Key=key)["UploadId"]
        try:
            return self._send_pieces(key, upload, first, file, if_absent=if_absent)
        except BaseException:
            with suppress(Exception):
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload)
            raise

    def _send_pieces(
        self, key: str, upload: str, first: bytes, file: BinaryIO, *, if_absent: bool
    ) -> str:
        of_upload: Any = {"Bucket": self._bucket, "Key": key, "UploadId": upload}
        parts: list[Any] = []
        piece = first
        with translated(key):
            while piece:
                number = len(parts) + 1
                sent = self._client.upload_part(**of_upload, PartNumber=number, Body=piece)
                parts.append({"PartNumber": number, "ETag": sent["ETag"]})
                piece = file.read(PIECE)
            condition: Any = {"IfNoneMatch": "*"} if if_absent else {}
            return self._client.complete_multipart_upload(
                **of_upload, **condition, MultipartUpload={"Parts": parts}
            )["ETag"]

    def list(self, prefix: str, *, limit: int | None = None) -> Iterator[ObjectInfo]:
        """Yield the objects below a prefix in key order, the first `limit` of them."""
        pages = self._client.get_paginator("list_objects_v2")
        some: Any = {} if limit is None else {"PaginationConfig": {"MaxItems": limit}}
        with translated(prefix):
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix, **some):
                for each in page.get("Contents", []):
                    yield ObjectInfo(each["Key"], each["Size"], each["ETag"], each["LastModified"])

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names that stand between a prefix and the next slash, in order."""
        pages = self._client.get_paginator("list_objects_v2")
        with translated(prefix):
            for page in pages.paginate(Bucket=self._bucket, Prefix=prefix, Delimiter="/"):
                for each in page.get("CommonPrefixes", []):
                    yield each["Prefix"].removeprefix(prefix).rstrip("/")

    def delete(self, key: str, *, if_match: str | None = None) -> None:
        """Remove an object, if it is the one of an etag; the bucket keeps its versions."""
        condition: Any = {} if if_match is None else {"IfMatch": if_match}
        with suppress(ObjectNotFoundError, PreconditionFailedError), translated(key):
            self._client.delete_object(Bucket=self._bucket, Key=key, **condition)

    def copy(self, source_key: str, key: str) -> None:
        """Copy an object of up to 5 GB inside the bucket; tags, which need rights, stay behind."""
        with translated(source_key):
            self._client.copy_object(
                Bucket=self._bucket,
                Key=key,
                CopySource={"Bucket": self._bucket, "Key": source_key},
                TaggingDirective="REPLACE",
            )


class _Stream(io.RawIOBase):
    """A body that is read over the network: errors in the middle are translated too."""

    def __init__(self, key: str, body: Any) -> None:
        self._key = key
        self._body = body

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with translated(self._key):
            data = self._body.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._body.close()
        super().close()
