"""Requests signed by AWS's Signature Version 4, for APIs that ask for it."""

from typing import TYPE_CHECKING

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError

from lakekit.errors import SourceRejectedError

if TYPE_CHECKING:
    from requests import PreparedRequest

# What a proxy or the client may change after the signature, and what an earlier one has written.
_UNSIGNED = {"accept-encoding", "authorization", "connection", "content-length", "user-agent",
             "x-amz-date", "x-amz-security-token"}  # fmt: skip


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
    signed = AWSRequest(request.method, request.url, headers, request.body or b"")
    SigV4Auth(found, service, region).add_auth(signed)
    for name in ("Authorization", "X-Amz-Date", "X-Amz-Security-Token"):
        if name in signed.headers:
            request.headers[name] = signed.headers[name]
