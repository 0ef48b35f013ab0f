"""The bridge that lets S3A rename in an encrypted bucket over http."""

from typing import Any

from werkzeug.test import Client

from lakekit.sandbox.bridges.plain_http import KEY_HEADER, head_object
from lakekit.sandbox.http import Gateway


def moto(environ: dict[str, Any], start_response: Any) -> Any:
    headers = {KEY_HEADER: "arn:aws:kms:::key/1", "Content-Length": "7", "ETag": '"e"'}
    start_response("200 OK", list(headers.items()))
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [b"content"]


def test_a_head_keeps_all_but_the_kms_key_and_a_get_keeps_it_all() -> None:
    gateway = Gateway(moto)
    gateway.path("HEAD", "/*", lambda call, _: head_object(call))
    client = Client(gateway)

    head, get = client.head("/bucket/key"), client.get("/bucket/key")

    assert KEY_HEADER not in head.headers
    assert (head.headers["Content-Length"], head.headers["ETag"]) == ("7", '"e"')
    assert (get.headers[KEY_HEADER], get.text) == ("arn:aws:kms:::key/1", "content")
