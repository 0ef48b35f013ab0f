"""How a source is signed in to, each way as the server sees it; and tokens, when they end."""

import base64
import hashlib
import json
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from joserfc import jwk, jwt
from werkzeug import Request, Response

from lakekit.aws.signing import sign
from lakekit.errors import CallBudgetExceededError, SourceRejectedError, SourceUnavailableError
from lakekit.extract import SourceClient, SourceRequest
from tests.unit.extract.conftest import SECRET, Api

JSON_SECRET = json.dumps({"id": "the-client", "key": SECRET, "number": 12345})
CREDENTIALS = {
    "type": "oauth2_client_credentials", "client_id": {"name": "j", "field": "id"},
    "client_secret": {"name": "j", "field": "key"},
}  # fmt: skip


def pem(key: Any) -> str:
    return str(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
    )


class Server(Api):
    """A source that issues tokens too: `token-1`, `token-2` and so on."""

    def __init__(self, api: Api) -> None:
        super().__init__(api.server)
        self.forms: list[dict[str, str]] = []
        self.token_requests: list[Request] = []
        self.expires_in: Any = 3600
        self.secrets = {"j": JSON_SECRET, "n": SECRET}
        self.refused: set[str] = set()
        self.server.expect_request("/token").respond_with_handler(self._issue)
        self.serve(self._answer)

    def _issue(self, request: Request) -> Response:
        self.token_requests.append(request)
        self.forms.append(request.form.to_dict())
        answer = {
            "access_token": f"token-{len(self.forms)}", "token_type": "Bearer",
            "expires_in": self.expires_in,
        }  # fmt: skip
        return Response(json.dumps(answer), content_type="application/json")

    def _answer(self, request: Request) -> Any:
        if request.headers.get("Authorization") in self.refused:
            return Response("no", status=401)
        return {"items": [1]}

    def client(self, *auth: dict[str, Any], **source: Any) -> SourceClient:
        return SourceClient(
            self.source(auth=list(auth), **source),
            self.secrets.__getitem__,
            sign=sign,
            sleep=self.naps.append,
        )

    def ask(self, client: SourceClient, path: str = "/items") -> list[str | None]:
        """Send one request, and return what all of them so far have signed in with."""
        client.send(SourceRequest(self.server.url_for(path)))
        return [each.headers.get("Authorization") for each in self.requests]

    def oauth(self, **changes: Any) -> dict[str, Any]:
        return CREDENTIALS | {"token_url": self.server.url_for("/token")} | changes


@pytest.fixture
def server(api: Api) -> Server:
    return Server(api)


def test_a_field_of_a_json_secret_is_a_secret(server: Server) -> None:
    server.ask(server.client({"type": "bearer", "secret": {"name": "j", "field": "number"}}))

    assert server.requests[0].headers["Authorization"] == "Bearer 12345"


@pytest.mark.parametrize(
    ("name", "field", "fault"),
    [("n", "key", "secret n: is not a JSON object"), ("j", "other", "secret j: has no text")],
)
def test_a_field_that_a_secret_lacks_is_named(
    server: Server, name: str, field: str, fault: str
) -> None:
    client = server.client({"type": "bearer", "secret": {"name": name, "field": field}})

    with pytest.raises(SourceRejectedError, match=fault) as caught:
        server.ask(client)

    assert SECRET not in str(caught.value)


def test_a_key_in_the_query_replaces_the_one_of_a_next_link(server: Server) -> None:
    client = server.client({"type": "api_key", "query": "key", "secret": "n"})

    client.send(SourceRequest(server.server.url_for("/items") + "?a=1%2C2&key=old&a=3"))

    assert server.requests[0].query_string.decode() == f"a=1%2C2&a=3&key={SECRET}"


def test_a_key_in_a_cookie(server: Server) -> None:
    server.ask(server.client({"type": "api_key", "cookie": "session", "secret": "n"}))

    assert server.requests[0].headers["Cookie"] == f"session={SECRET}"


def test_several_ways_go_together(server: Server) -> None:
    client = server.client(
        {"type": "api_key", "header": "X-Application", "secret": "n"},
        {"type": "basic", "username": {"name": "j", "field": "id"}, "secret": "n"},
    )
    server.ask(client)

    assert server.requests[0].headers["X-Application"] == SECRET
    user = base64.b64encode(f"the-client:{SECRET}".encode()).decode()
    assert server.requests[0].headers["Authorization"] == f"Basic {user}"


def test_a_token_is_asked_for_once(server: Server) -> None:
    client = server.client(server.oauth(scopes=["a", "b"], params={"audience": "x"}))

    server.ask(client)
    assert server.ask(client) == ["Bearer token-1", "Bearer token-1"]

    assert server.forms == [{"grant_type": "client_credentials", "scope": "a b", "audience": "x"}]
    expected = base64.b64encode(f"the-client:{SECRET}".encode()).decode()
    assert server.token_requests[0].headers["Authorization"] == f"Basic {expected}"
    assert client.calls == 3


def test_a_client_may_sign_in_within_the_form(server: Server) -> None:
    server.ask(server.client(server.oauth(client_auth="post")))

    assert server.forms[0]["client_secret"] == SECRET
    assert "Authorization" not in server.token_requests[0].headers


def test_a_token_that_ends_is_renewed_before(server: Server) -> None:
    server.expires_in = "61"
    client = server.client(server.oauth())
    clock = datetime.now(UTC).timestamp()
    [token] = client._sign_in._tokens.values()
    token._now = lambda: clock
    server.ask(client)
    clock += 2

    assert server.ask(client) == ["Bearer token-1", "Bearer token-2"]


def test_a_token_that_is_refused_in_mid_run_is_renewed_once(server: Server) -> None:
    client = server.client(server.oauth())
    server.ask(client)
    server.refused = {"Bearer token-1"}

    assert server.ask(client) == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


def test_a_new_token_that_is_refused_too_ends_it(server: Server) -> None:
    server.refused = {"Bearer token-1", "Bearer token-2"}

    with pytest.raises(SourceRejectedError, match="/items: 401"):
        server.ask(server.client(server.oauth()))

    assert len(server.forms) == 2


def test_a_key_that_was_rotated_in_mid_run_is_read_again(server: Server) -> None:
    client = server.client({"type": "bearer", "secret": "n"})
    server.ask(client)
    server.refused = {f"Bearer {SECRET}"}
    server.secrets["n"] = "rotated"

    assert server.ask(client)[-1] == "Bearer rotated"


def test_a_refresh_token_is_used_and_replaced_by_the_newest(server: Server) -> None:
    auth = server.oauth(type="oauth2_refresh_token", refresh_token="n", client_secret=None)  # noqa: S106
    server.ask(server.client(auth))

    assert server.forms == [
        {"grant_type": "refresh_token", "refresh_token": SECRET, "client_id": "the-client"}
    ]


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_signed_jwt_is_changed_for_a_token(server: Server, algorithm: str) -> None:
    key: Any = (
        rsa.generate_private_key(65537, 2048)
        if algorithm == "RS256"
        else ec.generate_private_key(ec.SECP256R1())
    )
    server.secrets["pem"] = pem(key)
    auth = {
        "type": "jwt_bearer", "issuer": "me", "subject": "ann", "private_key": "pem",
        "algorithm": algorithm, "key_id": "k1", "scopes": ["read"],
        "token_url": server.server.url_for("/token"),
    }  # fmt: skip

    assert server.ask(server.client(auth)) == ["Bearer token-1"]

    form = server.forms[0]
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    kind: Any = jwk.RSAKey if algorithm == "RS256" else jwk.ECKey
    token = jwt.decode(form["assertion"], kind.import_key(pem(key)), [algorithm])
    assert token.header["kid"] == "k1"
    assert {k: token.claims[k] for k in ("iss", "sub", "scope", "aud")} == {
        "iss": "me", "sub": "ann", "scope": "read", "aud": server.server.url_for("/token"),
    }  # fmt: skip


def test_a_jwt_may_be_the_token_itself(server: Server) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    server.secrets["pem"] = pem(key)
    auth = {
        "type": "jwt_bearer", "issuer": "me", "audience": "store", "private_key": "pem",
        "algorithm": "ES256",
    }  # fmt: skip

    [sent] = server.ask(server.client(auth))

    assert sent
    token = jwt.decode(sent.removeprefix("Bearer "), jwk.ECKey.import_key(pem(key)), ["ES256"])
    assert token.claims["aud"] == "store"


def test_a_secret_that_is_no_key_is_named(server: Server) -> None:
    auth = {"type": "jwt_bearer", "issuer": "me", "audience": "a", "private_key": "n"}

    with pytest.raises(SourceRejectedError, match="secret n: is no key for RS256"):
        server.ask(server.client(auth))


@pytest.mark.parametrize("keys", [True, False])
def test_requests_are_signed_as_aws_signs(
    server: Server, monkeypatch: pytest.MonkeyPatch, keys: bool
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    own = {"access_key_id": "AKID", "secret_access_key": "n"} if keys else {}
    client = server.client({"type": "sigv4", "region": "eu-central-1"} | own)
    url = server.server.url_for("/items")

    client.send(SourceRequest(url, params=(("b", "ü /"), ("a", "1"))))

    seen = server.requests[0]
    signed = AWSRequest(
        "GET", f"{url}?{seen.query_string.decode()}", {"Accept": "application/json"}
    )
    signed.headers["X-Amz-Content-SHA256"] = hashlib.sha256(seen.get_data()).hexdigest()
    signed.context["timestamp"] = seen.headers["X-Amz-Date"]
    signed.headers["X-Amz-Date"] = seen.headers["X-Amz-Date"]
    check = SigV4Auth(Credentials("AKID", SECRET), "execute-api", "eu-central-1")
    text = check.string_to_sign(signed, check.canonical_request(signed))
    assert seen.headers["Authorization"].endswith(check.signature(text, signed))


def test_a_token_is_no_request_of_the_rate(server: Server) -> None:
    """Another call would ask for a token first, too, and never come to a page."""
    client = server.client(server.oauth(), call_budget={"max_requests_per_second": 0.01})

    server.ask(client)
    assert server.naps == []

    server.ask(client)
    assert [round(nap) for nap in server.naps] == [100]


def test_the_server_of_tokens_counts_towards_the_budget(server: Server) -> None:
    client = server.client(server.oauth(), call_budget={"max_requests_per_run": 1})

    with pytest.raises(CallBudgetExceededError):
        server.ask(client)

    assert (len(server.forms), len(server.requests)) == (1, 0)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Response('{"error": "invalid_client", "x": "s3cret-value"}', status=401),
         "no token: 401: invalid_client$"),
        (Response('{"error": "s3cret-value"}', status=400), "no token: 400$"),
        (Response("<html>", status=200), "has no access_token"),
        (Response(status=302, headers={"Location": "https://example.org/"}), "no token: 302"),
    ],
)  # fmt: skip
def test_a_refused_token_says_why_and_no_more(api: Api, answer: Response, fault: str) -> None:
    api.server.expect_request("/no").respond_with_handler(lambda _: answer)
    server = Server(api)

    with pytest.raises(SourceRejectedError, match=fault) as caught:
        server.ask(server.client(server.oauth(token_url=api.server.url_for("/no"))))

    assert SECRET not in str(caught.value)


def test_a_server_of_tokens_that_is_down_is_asked_again(api: Api) -> None:
    down = [Response(status=503)] * 2
    api.server.expect_request("/down").respond_with_handler(lambda _: down.pop())
    server = Server(api)

    with pytest.raises(SourceUnavailableError, match="/down: 503"):
        server.ask(server.client(server.oauth(token_url=api.server.url_for("/down"))))

    assert down == []


@pytest.fixture
def certificate(tmp_path: Path) -> Iterator[tuple[str, str, int]]:
    """A server that asks for a certificate; yields the PEM of its one, its key, and its port."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    cert = made.public_bytes(serialization.Encoding.PEM).decode()
    (tmp_path / "server.pem").write_text(cert + pem(key))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=cert)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield cert, pem(key), server.server_port
    server.shutdown()
    server.server_close()


def test_shows_a_client_certificate(certificate: tuple[str, str, int], api: Api) -> None:
    cert, key, port = certificate
    secrets = {"cert": cert, "key": key}
    auth = {"type": "mutual_tls", "certificate": "cert", "private_key": "key"}
    auth["ca_certificate"] = "cert"
    source = api.source(base_url=f"https://localhost:{port}", auth=auth)
    client = SourceClient(source, secrets.__getitem__)

    answer = client.send(SourceRequest(f"https://localhost:{port}/"))

    client.close()
    assert answer.body == b"{}"


def test_a_certificate_without_its_key_is_named(api: Api) -> None:
    auth = {"type": "mutual_tls", "certificate": "cert", "private_key": "key"}

    with pytest.raises(SourceRejectedError, match="secrets cert, key: no certificate and private"):
        SourceClient(api.source(auth=auth), lambda _: "no PEM")
