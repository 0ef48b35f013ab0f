"""The WSGI layer in front of moto: what bridges answer themselves, and how."""

import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from werkzeug.wrappers import Request, Response

Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]


class AwsError(Exception):
    """An error as AWS's JSON services answer it."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


@dataclass
class Call:
    """One request: its JSON body, and how to hand it on to moto."""

    request: Request
    body: dict[str, Any]
    forward: Callable[[], Response]


def _with_middle(handle: Callable[[Call, str], Response], middle: str, call: Call) -> Response:
    return handle(call, middle)


def answer(result: Any, status: int = 200, **headers: str) -> Response:
    """Return a JSON response."""
    text = result if isinstance(result, str) else json.dumps(result)
    kind = "application/x-amz-json-1.1"
    return Response(text, status, {name.replace("_", "-"): v for name, v in headers.items()},
                    content_type=kind)  # fmt: skip


def refuse(error: AwsError) -> Response:
    """Return an error response."""
    body = {"__type": error.code, "Type": "User", "message": str(error), "Message": str(error)}
    return answer(body, error.status, x_amzn_ErrorType=error.code)


class Gateway:
    """Answers what it has a route for, and hands everything else to moto."""

    def __init__(self, moto: Application) -> None:
        self._moto = moto
        self._targets: dict[str, Callable[[Call], Response]] = {}
        self._paths: list[tuple[str, str, Callable[[Call, str], Response]]] = []

    def target(self, name: str, handle: Callable[[Call], Response]) -> None:
        """Answer requests with this `X-Amz-Target`."""
        self._targets[name] = handle

    def path(self, method: str, pattern: str, handle: Callable[[Call, str], Response]) -> None:
        """Answer a path; the one `*` in the pattern is handed over."""
        self._paths.append((method, pattern, handle))

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        handle = self._find(environ)
        if handle is None:
            return self._moto(environ, start_response)
        request = Request(environ)
        data = request.get_data()
        environ["wsgi.input"] = io.BytesIO(data)

        def forward() -> Response:
            return Response.from_app(self._moto, environ)

        try:
            call = Call(request, json.loads(data) if data else {}, forward)
            response = handle(call)
        except AwsError as error:
            response = refuse(error)
        return response(environ, start_response)

    def _find(self, environ: Environ) -> Callable[[Call], Response] | None:
        if (name := environ.get("HTTP_X_AMZ_TARGET", "")) in self._targets:
            return self._targets[name]
        for method, pattern, handle in self._paths:
            before, _, after = pattern.partition("*")
            path = environ["PATH_INFO"]
            if (
                environ["REQUEST_METHOD"] == method
                and path.startswith(before)
                and path.rstrip("/").endswith(after.rstrip("/"))
            ):
                middle = path[len(before) : len(path.rstrip("/")) - len(after.rstrip("/"))]
                return partial(_with_middle, handle, middle)
        return None
