"""The gate in front of the sandbox: it refuses what the role of a caller does not allow.

Who calls is known by the access key: that of a function, a job or a machine is the name of its
role. Who has another key, such as a person, may do everything.
"""

import io
import logging
from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape

from werkzeug.wrappers import Request as WebRequest
from werkzeug.wrappers import Response

from lakekit.sandbox.http import Application, AwsError, Environ, refuse
from lakekit.sandbox.rights import s3
from lakekit.sandbox.rights.needs import needs_of
from lakekit.sandbox.rights.policies import Need, allowed
from lakekit.sandbox.rights.request import Place, Request, UnknownRequestError, signed_by
from lakekit.sandbox.rights.roles import Roles

logger = logging.getLogger(__name__)
# Sources are read from their folder, so that an edit holds at once, also one of a secret's name.
NOT_REFUSED = ("secretsmanager:GetSecretValue",)


class Gate:
    """Asks for each request whether the caller's role allows it; until `close` it asks nothing."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._roles: Roles = {}
        self._place = Place("", "")
        self._asked: set[tuple[str, str, str]] = set()

    def close(self, roles: Roles, place: Place) -> None:
        """Let nobody pass from now on who has a role that does not allow it."""
        self._place, self._roles = place, roles

    @property
    def asked(self) -> list[tuple[str, str, str]]:
        """Return what roles were asked for and allowed: role, action, resource."""
        return sorted(self._asked)

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        key, service = signed_by(environ.get("HTTP_AUTHORIZATION", ""))
        if key not in self._roles:
            return self._application(environ, start_response)
        request = _request(environ, key, service)
        try:
            self._check(key, needs_of(request, self._place))
            if service != "s3":
                return self._application(environ, start_response)
            response = Response.from_app(self._application, environ)
            if response.status_code == 404:
                self._check(key, s3.if_absent(request))
        except (AwsError, UnknownRequestError) as error:
            return _refusal(service, error)(environ, start_response)
        return response(environ, start_response)

    def _check(self, role: str, needs: Iterable[Need]) -> None:
        for need in needs:
            if not allowed(self._roles[role], need) and need.action not in NOT_REFUSED:
                # An SDK may say no word of it.
                logger.warning("%s is not allowed: %s", role, need)
                raise AwsError("AccessDeniedException", f"{role} is not allowed: {need}", 403)
            self._asked.add((role, need.action, need.resource))


def _refusal(service: str, error: Exception) -> Response:
    if not isinstance(error, AwsError):
        error = AwsError("AccessDeniedException", f"which right is needed is not known: {error}")
    if service != "s3":
        return refuse(error)
    text = f"<Error><Code>AccessDenied</Code><Message>{escape(str(error))}</Message></Error>"
    return Response(text, 403, content_type="application/xml")


def _request(environ: Environ, key: str, service: str) -> Request:
    web = WebRequest(environ)

    def body() -> bytes:
        data = web.get_data()
        environ["wsgi.input"] = io.BytesIO(data)
        return data

    headers = {name.lower(): value for name, value in web.headers.items()}
    query = dict(web.args.items())
    return Request(key, service, web.method, web.host, web.path, query, headers, body)
