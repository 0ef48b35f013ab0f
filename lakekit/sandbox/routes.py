"""Which requests the sandbox answers itself, instead of moto."""

import json
import logging
import threading
import uuid
from typing import Any

from moto.awslambda.models import lambda_backends
from moto.glue.models import glue_backends
from werkzeug.wrappers import Response

from lakekit.sandbox.bridges.glue_versions import TableVersions
from lakekit.sandbox.bridges.plain_http import head_object
from lakekit.sandbox.bridges.queue_polling import Mapping, QueuePoller
from lakekit.sandbox.functions import Function, Functions
from lakekit.sandbox.http import AwsError, Call, Gateway, answer
from lakekit.sandbox.jobs import Jobs, TooManyRunsError
from lakekit.sandbox.settings import Settings, role_name

logger = logging.getLogger(__name__)
API = "/2015-03-31"


class Registry:
    """What was created in moto, as the runtimes need to know it."""

    def __init__(self, settings: Settings) -> None:
        self._glue = glue_backends[settings.account][settings.region]
        self._lambda = lambda_backends[settings.account][settings.region]

    def function(self, name: str) -> Function:
        """Return a function or a version of it, by name or ARN; a missing one is a KeyError."""
        own = name.split(":", 6)[6] if name.startswith("arn:") else name
        try:
            found = self._lambda.get_function(own)
        except Exception as error:
            raise KeyError(name) from error
        return Function(
            name=found.function_name,
            arn=found.function_arn,
            version=str(found.version),
            role=role_name(found.role),
            handler=found.handler,
            environment=dict(found.environment_vars),
            timeout=int(found.timeout),
            memory=int(found.memory_size),
        )

    def job(self, name: str) -> dict[str, Any]:
        """Return a job as GetJob shows it."""
        try:
            found: dict[str, Any] = self._glue.get_job(name).as_dict()
        except Exception as error:
            raise AwsError("EntityNotFoundException", f"Job {name} not found.") from error
        return found

    def table_version(self, database: str, table: str) -> str | None:
        """Return the table's current version, None if there is no such table."""
        try:
            return str(self._glue.get_table(database, table).as_dict()["VersionId"])
        except Exception:
            return None


class JobRoutes:
    """Glue's StartJobRun, GetJobRun, GetJobRuns and BatchStopJobRun."""

    def __init__(self, jobs: Jobs, registry: Registry) -> None:
        self._jobs = jobs
        self._registry = registry

    def start(self, call: Call) -> Response:
        job = self._registry.job(call.body["JobName"])
        try:
            run = self._jobs.start(job, call.body)
        except TooManyRunsError as error:
            what = f"Concurrent runs exceeded for {error}"
            raise AwsError("ConcurrentRunsExceededException", what) from error
        return answer({"JobRunId": run.id})

    def get(self, call: Call) -> Response:
        try:
            run = self._jobs.get(call.body["JobName"], call.body["RunId"])
        except KeyError as error:
            raise AwsError("EntityNotFoundException", f"Job run {error} not found.") from error
        return answer({"JobRun": run.describe()})

    def list(self, call: Call) -> Response:
        return answer({"JobRuns": [r.describe() for r in self._jobs.all(call.body["JobName"])]})

    def stop(self, call: Call) -> Response:
        name, stopped = call.body["JobName"], []
        for run_id in call.body["JobRunIds"]:
            self._jobs.stop_run(self._jobs.get(name, run_id))
            stopped.append({"JobName": name, "JobRunId": run_id})
        return answer({"SuccessfulSubmissions": stopped, "Errors": []})


class FunctionRoutes:
    """Lambda's Invoke and CreateEventSourceMapping."""

    def __init__(self, functions: Functions, poller: QueuePoller) -> None:
        self._functions = functions
        self._poller = poller

    def invoke(self, call: Call, name: str) -> Response:
        event = json.loads(call.request.get_data(cache=True) or b"{}")
        if call.request.headers.get("X-Amz-Invocation-Type") == "Event":
            threading.Thread(target=self._invoke_async, args=(name, event), daemon=True).start()
            return Response(status=202)
        try:
            result = self._functions.invoke(name, event)
        except KeyError as error:
            what = f"Function not found: {name}"
            raise AwsError("ResourceNotFoundException", what, 404) from error
        if result.failed:
            return answer(result.payload, X_Amz_Function_Error="Unhandled")
        return answer(result.payload)

    def map(self, call: Call, _: str) -> Response:
        self._poller.add(Mapping.from_request(call.body))
        return answer({"UUID": str(uuid.uuid4()), "State": "Enabled", **call.body}, 202)

    def _invoke_async(self, name: str, event: Any) -> None:
        # AWS tries an asynchronous call three times in all.
        for _ in range(3):
            if not self._functions.invoke(name, event).failed:
                return
        logger.error("asynchronous call of %s failed three times", name)


def add_routes(
    gateway: Gateway, registry: Registry, *, functions: Functions, jobs: Jobs, poller: QueuePoller
) -> None:
    """Let the runtimes and bridges answer their requests."""
    runs, calls = JobRoutes(jobs, registry), FunctionRoutes(functions, poller)
    versions = TableVersions(registry.table_version)
    gateway.target("AWSGlue.StartJobRun", runs.start)
    gateway.target("AWSGlue.GetJobRun", runs.get)
    gateway.target("AWSGlue.GetJobRuns", runs.list)
    gateway.target("AWSGlue.BatchStopJobRun", runs.stop)
    gateway.target("AWSGlue.UpdateTable", lambda c: versions.update_table(c.body, c.forward))
    gateway.path("HEAD", "/*", lambda call, _: head_object(call))
    gateway.path("POST", f"{API}/functions/*/invocations", calls.invoke)
    gateway.path("POST", f"{API}/event-source-mappings", calls.map)
