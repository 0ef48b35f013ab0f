"""A deadline for a whole answer: a socket's own time-out begins again with every byte."""

import socket
import threading
from contextlib import suppress
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.retry import Retry


class Deadline:
    """Cuts the connection that is in use when its time is over; one request at a time.

    A request sees it as a connection that broke; `passed` says why.
    """

    def __init__(self) -> None:
        self.passed = False
        self._timer: threading.Timer | None = None
        self._connection: HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    def start(self, seconds: float) -> None:
        """Give what follows so many seconds."""
        self.stop()
        self.passed = False
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """End the deadline; what is in use goes on."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._timer = self._connection = self._socket = None

    def watch(self, connection: HTTPConnection) -> None:
        """Say which connection is in use; once it answers, its socket may no longer be its own."""
        with self._lock:
            self._connection = connection
            self._socket = connection.sock or self._socket

    def _cut(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            self.passed = True
            found = self._socket or getattr(self._connection, "sock", None)
        if found is not None:
            with suppress(OSError):
                socket.socket.shutdown(found, socket.SHUT_RDWR)


class DeadlineAdapter(HTTPAdapter):
    """Opens connections that a deadline watches, with a TLS context of its own if one is given."""

    def __init__(self, deadline: Deadline, tls: Any = None) -> None:
        self._classes = _pool_classes(deadline)
        self._tls = {"ssl_context": tls} if tls else {}
        super().__init__(max_retries=Retry(0, read=False))

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **options: Any
    ) -> None:
        """Make the pools of connections."""
        super().init_poolmanager(connections, maxsize, block, **options, **self._tls)
        self._watch(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Make the pools of connections through a proxy."""
        manager = super().proxy_manager_for(proxy, **options, **self._tls)
        self._watch(manager)
        return manager

    def _watch(self, manager: PoolManager) -> None:
        manager.pool_classes_by_scheme = self._classes


def _pool_classes(deadline: Deadline) -> dict[str, type]:
    class Watched(HTTPConnection):
        def connect(self) -> None:
            deadline.watch(self)
            super().connect()

        def getresponse(self) -> Any:
            deadline.watch(self)
            return super().getresponse()

    class WatchedTls(Watched, HTTPSConnection):
        pass

    class Pool(HTTPConnectionPool):
        ConnectionCls = Watched

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = WatchedTls

    return {"http": Pool, "https": TlsPool}
