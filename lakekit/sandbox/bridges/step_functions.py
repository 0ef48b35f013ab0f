"""Moto's interpreter: roles, two integrations, a Fail that passes an error on, shorter waits.

Moto 5.2.5 calls a method of `callback_endpoint`, which is None for Glue, in a `finally`, so that
`glue:startJobRun.sync` always fails; and it hands on times as `datetime`, which no state can write.
Its tasks call with one key, whatever the role of their machine.
It starts executions with the capitals of a state's parameters, which the API does not know. A Fail
state whose `ErrorPath` leads to an error of AWS, such as `States.TaskFailed`, makes it fail.
"""

import time
from datetime import datetime
from typing import Any

import boto3
from botocore.config import Config
from moto.stepfunctions.parser.asl.component.common.error_name.error_name import ErrorName
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_callback as callback,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_glue,
    state_task_service_sfn,
    state_task_service_sns,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_glue import (  # noqa: E501
    StateTaskServiceGlue,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_sfn import (  # noqa: E501
    StateTaskServiceSfn,
)
from moto.stepfunctions.parser.asl.component.state.fail import state_fail
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import (
    WaitFunction,
)

from lakekit.sandbox.settings import CREDENTIALS, role_name

# Where tasks get their clients.
CALLERS = (
    lambda_eval_utils,
    state_task_service_glue,
    state_task_service_sfn,
    state_task_service_sns,
)
# As moto's own clients have it: a function or a job may run for hours, and retries are states'.
CONFIG = Config(
    parameter_validation=False,
    retries={"total_max_attempts": 1},
    connect_timeout=99_999_999,
    read_timeout=99_999_999,
)
POLL_SECONDS = 0.1
_glue_client = StateTaskServiceGlue._get_glue_client
_call_step_functions = StateTaskServiceSfn._eval_service_task
_wait_interval = WaitFunction._wait_interval


class ScaledTime:
    """Replaces the module `time` where a Retry sleeps."""

    def __init__(self, scale: float) -> None:
        self._scale = scale

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds * self._scale)


def install(wait_scale: float, endpoint: str) -> None:
    """Patch the interpreter of this process."""

    def client_of_role(region: str, service: str, state_credentials: Any = None) -> Any:
        make: Any = boto3.client
        return make(
            service,
            region_name=region,
            endpoint_url=endpoint,
            aws_access_key_id=role_name(state_credentials.role_arn),
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            config=CONFIG,
        )

    for module in CALLERS:
        module.boto_client_for = client_of_role
    StateTaskServiceGlue._eval_integration_pattern = wait_for_job
    StateTaskServiceGlue._get_glue_client = staticmethod(client_with_plain_times)
    StateTaskServiceSfn._eval_service_task = call_by_plain_names
    state_fail.CustomErrorName = ErrorName
    callback._DELAY_SECONDS_SYNC_CONDITION_CHECK = POLL_SECONDS
    retrier_decl.time = ScaledTime(wait_scale)
    WaitFunction._wait_interval = lambda self, env, wait_seconds: _wait_interval(
        self, env, wait_seconds * wait_scale
    )


def wait_for_job(
    task: Any,
    env: Any,
    resource_runtime_part: Any,
    normalised_parameters: dict[str, Any],
    state_credentials: Any,
) -> None:
    """Ask for the run's state until it has ended; it is the only pattern that Glue has."""
    resolver = task._build_sync_resolver(
        env=env,
        resource_runtime_part=resource_runtime_part,
        normalised_parameters=normalised_parameters,
        state_credentials=state_credentials,
    )
    outcome = task._eval_sync(
        env=env,
        sync_resolver=resolver,
        timeout_seconds=None,
        callback_endpoint=None,
        heartbeat_endpoint=None,
    )
    env.stack.append(outcome)


def call_by_plain_names(task: Any, env: Any, **given: Any) -> None:
    """Call Step Functions by the names of its API, and answer with those of a state."""
    parameters = given["normalised_parameters"]
    plain = {name[0].lower() + name[1:]: value for name, value in parameters.items()}
    _call_step_functions(task, env, **given | {"normalised_parameters": plain})
    answer = env.stack.pop()
    env.stack.append({name[0].upper() + name[1:]: _plain(each) for name, each in answer.items()})


def client_with_plain_times(resource_runtime_part: Any, state_credentials: Any) -> Any:
    """Return a Glue client whose answers hold times as AWS's states see them."""
    client = _glue_client(
        resource_runtime_part=resource_runtime_part, state_credentials=state_credentials
    )
    client.meta.events.register("after-call.glue.GetJobRun", _plain_times)
    return client


def _plain_times(parsed: dict[str, Any], **_: Any) -> None:
    run = parsed.get("JobRun", {})
    for key, value in run.items():
        run[key] = _plain(value)


def _plain(value: Any) -> Any:
    return int(value.timestamp() * 1000) if isinstance(value, datetime) else value
