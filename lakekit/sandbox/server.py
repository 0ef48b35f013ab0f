"""The sandbox's process: moto, the bridges, the runtimes, and the resources of the templates.

Reads its settings as one line of JSON, answers with one line when all is ready, and ends when its
standard input does: a sandbox ends with the process that started it.
"""

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

from lakekit.sandbox.bridges import event_targets, s3_folders, step_functions
from lakekit.sandbox.bridges.queue_polling import QueuePoller
from lakekit.sandbox.bridges.queue_redrive import move_messages
from lakekit.sandbox.bridges.schedules import SchedulerClock
from lakekit.sandbox.functions import Functions
from lakekit.sandbox.http import Gateway, answer
from lakekit.sandbox.jobs import Jobs
from lakekit.sandbox.resources import Resources, names_of
from lakekit.sandbox.rights.gate import Gate
from lakekit.sandbox.rights.roles import place_of, roles_of
from lakekit.sandbox.routes import Registry, add_routes
from lakekit.sandbox.settings import CREDENTIALS, LOOPBACK, Settings
from lakekit.sandbox.template import find_scripts, read_assembly


class Quiet(MotoRequestHandler):  # type: ignore[misc]  # moto is not followed
    """Handles requests without a line for each of them."""

    def log_request(self, *_: Any) -> None:
        pass


def read_settings(line: str) -> tuple[Settings, int]:
    """Return the settings, without an endpoint yet, and the port wanted."""
    given = json.loads(line)
    port = given.pop("port")
    paths = {key: Path(given[key]) for key in ("root", "folder", "assembly")}
    config = Path(given["config"]) if given["config"] else None
    return Settings(**{**given, **paths, "config": config, "endpoint": ""}), port


def client_maker(settings: Settings) -> Callable[[str], Any]:
    """Return a function that makes clients of this sandbox."""
    session: Any = boto3.Session(
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        region_name=settings.region,
    )
    lock = threading.Lock()

    def client(service: str) -> Any:
        with lock:
            return session.client(service, endpoint_url=settings.endpoint)

    return client


def serve(settings: Settings, port: int) -> None:
    """Serve until standard input ends."""
    default_user_config["stepfunctions"] = {"execute_state_machine": True}
    gateway = Gateway(DomainDispatcherApplication(create_backend_app))
    gate = Gate(gateway)
    server = make_server(LOOPBACK, port, gate, threaded=True, request_handler=Quiet)
    # The interpreter calls other services at http://localhost:$MOTO_PORT.
    os.environ.update(MOTO_PORT=str(server.port), MOTO_ACCOUNT_ID=settings.account)
    settings = replace(settings, endpoint=f"http://{LOOPBACK}:{server.port}")
    client = client_maker(settings)
    assembly = read_assembly(settings.assembly)
    registry = Registry(settings)
    functions = Functions(settings, registry.function)
    jobs = Jobs(settings, find_scripts(assembly, settings.root))
    poller = QueuePoller(functions.invoke, client, wait_scale=settings.wait_scale)
    clock = SchedulerClock(client)
    add_routes(gateway, registry, functions=functions, jobs=jobs, poller=poller)
    gateway.target(
        "AmazonSQS.StartMessageMoveTask", lambda c: answer(move_messages(client, c.body))
    )
    step_functions.install(settings.wait_scale, settings.endpoint)
    s3_folders.install()
    event_targets.install(client)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    resources = Resources(assembly, client)
    try:
        resources.create_all()
        gate.close(roles_of(resources), place_of(resources, settings.account, settings.region))
        for name, value in settings.secrets.items():
            client("secretsmanager").create_secret(Name=name, SecretString=value)
        about = {
            "endpoint": settings.endpoint,
            "region": settings.region,
            "folder": str(settings.folder),
            "names": names_of(resources),
        }
        gateway.path("GET", "/_sandbox/rights", lambda *_: answer(gate.asked))
        gateway.path("GET", "/_sandbox", lambda *_: answer(
            {**about, "spark_worker_pid": jobs.worker_pid}))  # fmt: skip
        clock.start()
        say(about)
        sys.stdin.read()
    finally:
        clock.stop()
        poller.stop()
        functions.stop()
        jobs.stop()


def say(what: dict[str, Any]) -> None:
    """Answer the process that started this one."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run the process."""
    # Ctrl-C in a terminal reaches this process too; the one that started it decides when to end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    settings, port = read_settings(sys.stdin.readline())
    try:
        serve(settings, port)
    except Exception as error:
        logging.getLogger(__name__).exception("the sandbox ends")
        say({"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
