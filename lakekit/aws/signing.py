"""Requests signed by AWS's Signature Version 4, for APIs that ask for it."""

from hashlib import sha256
from typing import TYPE_CHECKING, cast

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError

from lakekit.errors import SourceRejectedError

if TYPE_CHECKING:
    from requests import PreparedRequest

# What a proxy or the client may change after the signature, and what an earlier one has written.
_WRITTEN = ("Authorization", "X-Amz-Content-SHA256", "X-Amz-Date", "X-Amz-Security-Token")
_UNSIGNED = {"accept-encoding", "connection", "content-length", "user-agent",
             *(name.lower() for name in _WRITTEN)}  # fmt: skip


def sign(
    request: "PreparedRequest", service: str, region: str, keys: tuple[str, str] | None
) -> None:
    """Sign a request whose address and body are final, with two keys or the process's own role.

    Raises:
        SourceRejectedError: There are no credentials.
    """
    try:
        found = Credentials(*keys) if keys else boto3.session.Session().get_credentials()
    except BotoCoreError as error:
        raise SourceRejectedError(f"sigv4: {type(error).__name__}") from None
    if found is None:
        raise SourceRejectedError("sigv4: there are no credentials")
    headers = {k: v for k, v in request.headers.items() if k.lower() not in _UNSIGNED}
    # The client sends bytes alone. Some services, such as OpenSearch Serverless, want the digest of
    # the body as a header too.
    body = cast(bytes, request.body or b"")
    headers["X-Amz-Content-SHA256"] = sha256(body).hexdigest()
    signed = AWSRequest(request.method, request.url, headers, body)
    SigV4Auth(found, service, region).add_auth(signed)
    for name in _WRITTEN:
        if name in signed.headers:
            request.headers[name] = signed.headers[name]
