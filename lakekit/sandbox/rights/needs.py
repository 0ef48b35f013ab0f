"""Which rights a request needs: an action on one resource or several, as AWS documents them."""

import json
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import parse_qs, unquote

from lakekit.sandbox.rights import s3
from lakekit.sandbox.rights.policies import Need
from lakekit.sandbox.rights.request import Json, Place, Request, UnknownRequestError

# Secrets Manager ends the ARN of a secret with six letters of its own.
SUFFIX = "-AbCdEf"


def needs_of(request: Request, place: Place) -> list[Need]:
    """Return all that a request needs; each of it must be allowed.

    Raises:
        UnknownRequestError: It is not known which right that is.
    """
    if request.service == "s3":
        return list(s3.needs(request, place))
    if request.service in PATHS:
        return list(PATHS[request.service](request, place))
    if request.service not in RESOURCES:
        raise UnknownRequestError(f"{request.service}: {request.method} {request.path}")
    body = _body(request)
    operation = request.operation or body["Action"]
    resources = RESOURCES[request.service](operation, body, place)
    return [Need(f"{request.service}:{operation}", each) for each in resources]


def _body(request: Request) -> Json:
    text = request.body().decode() or "{}"
    if request.operation:
        found: Json = json.loads(text)
        return found
    return {name: values[0] for name, values in parse_qs(text).items()}


def _glue(operation: str, body: Json, place: Place) -> Iterator[str]:
    """A table has rights of its own, and needs those of its database and of the catalog."""
    if "JobName" in body:
        yield place.arn("glue", f"job/{body['JobName']}")
        return
    if "Database" not in operation and "Table" not in operation:
        raise UnknownRequestError(f"glue: {operation}")
    given = body.get("DatabaseInput", {})
    database = body.get("DatabaseName") or given.get("Name") or body.get("Name", "*")
    yield place.arn("glue", "catalog")
    yield place.arn("glue", f"database/{database}")
    if "Table" in operation:
        table = body.get("TableInput", {}).get("Name") or body.get("Name", "*")
        yield place.arn("glue", f"table/{database}/{table}")


def _states(operation: str, body: Json, place: Place) -> Iterator[str]:
    yield body.get("stateMachineArn") or body["executionArn"]


def _events(operation: str, body: Json, place: Place) -> Iterator[str]:
    buses = {entry.get("EventBusName", "default") for entry in body["Entries"]}
    yield from (place.arn("events", f"event-bus/{bus}") for bus in sorted(buses))


def _sqs(operation: str, body: Json, place: Place) -> Iterator[str]:
    yield place.arn("sqs", body["QueueUrl"].rpartition("/")[2])


def _secrets(operation: str, body: Json, place: Place) -> Iterator[str]:
    yield place.arn("secretsmanager", f"secret:{body['SecretId']}{SUFFIX}")


def _parameters(operation: str, body: Json, place: Place) -> Iterator[str]:
    yield place.arn("ssm", f"parameter{body['Name']}")


def _athena(operation: str, body: Json, place: Place) -> Iterator[str]:
    """Which workgroup a query is of that was started, a request does not say."""
    if operation == "StartQueryExecution":
        yield place.arn("athena", f"workgroup/{body['WorkGroup']}")
    elif operation != "GetQueryExecution":
        raise UnknownRequestError(f"athena: {operation}")


def _lake_formation(request: Request, place: Place) -> Iterator[Need]:
    yield Need(f"lakeformation:{request.path.strip('/')}", "*")


def _sns(request: Request, place: Place) -> Iterator[Need]:
    """To publish to a topic with a key of its own uses the key."""
    body = _body(request)
    topic, through = body["TopicArn"], {"kms:ViaService": f"sns.{place.region}.amazonaws.com"}
    yield Need(f"sns:{body['Action']}", topic)
    if key := place.keys.get(topic):
        yield Need("kms:Decrypt", key, through)
        yield Need("kms:GenerateDataKey", key, through)


def _lambda(request: Request, place: Place) -> Iterator[Need]:
    """Only an invocation: `/2015-03-31/functions/NAME/invocations`, with a version or without."""
    parts = unquote(request.path).strip("/").split("/")
    if request.method != "POST" or parts[1:2] + parts[3:] != ["functions", "invocations"]:
        raise UnknownRequestError(f"lambda: {request.method} {request.path}")
    arn = parts[2] if parts[2].startswith("arn:") else place.arn("lambda", f"function:{parts[2]}")
    version = request.query.get("Qualifier")
    yield Need("lambda:InvokeFunction", f"{arn}:{version}" if version else arn)


def _scheduler(request: Request, place: Place) -> Iterator[Need]:
    """To update a schedule passes on the role that it has."""
    parts = request.path.strip("/").split("/")
    if request.method == "GET" and parts == ["schedules"]:
        yield Need("scheduler:ListSchedules", "*")
        return
    actions = {"GET": "GetSchedule", "PUT": "UpdateSchedule"}
    if request.method not in actions or parts[0] != "schedules":
        raise UnknownRequestError(f"scheduler: {request.method} {request.path}")
    given: Json = json.loads(request.body() or b"{}")
    group = given.get("GroupName") or request.query.get("groupName", "default")
    schedule = place.arn("scheduler", f"schedule/{group}/{parts[1]}")
    yield Need(f"scheduler:{actions[request.method]}", schedule)
    if given:
        passed = {"iam:PassedToService": "scheduler.amazonaws.com"}
        yield Need("iam:PassRole", given["Target"]["RoleArn"], passed)


RESOURCES: dict[str, Callable[[str, Json, Place], Iterable[str]]] = {
    "athena": _athena,
    "events": _events,
    "glue": _glue,
    "secretsmanager": _secrets,
    "sqs": _sqs,
    "ssm": _parameters,
    "states": _states,
}
PATHS: dict[str, Callable[[Request, Place], Iterable[Need]]] = {
    "lakeformation": _lake_formation,
    "lambda": _lambda,
    "scheduler": _scheduler,
    "sns": _sns,
}
