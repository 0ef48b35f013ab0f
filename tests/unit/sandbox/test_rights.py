"""What a request to AWS needs, and whether a role's policies allow it."""

from typing import Any

import pytest

from lakekit.sandbox.rights.gate import Gate
from lakekit.sandbox.rights.needs import needs_of
from lakekit.sandbox.rights.policies import (
    Need,
    Statement,
    UnknownConditionError,
    allowed,
    parse_document,
)
from lakekit.sandbox.rights.request import Place, Request, UnknownRequestError

KEY = "arn:aws:kms:eu-west-1:1:key/data"
PLACE = Place("1", "eu-west-1", {"b": KEY, "arn:aws:sns:eu-west-1:1:t": KEY})
S3 = "arn:aws:s3:::b"
GLUE = "arn:aws:glue:eu-west-1:1"
SCHEDULE = {"GroupName": "g", "Target": {"RoleArn": "arn:aws:iam::1:role/r"}}


def request(service: str, method: str, path: str, body: str = "", **headers: str) -> Request:
    path, _, text = path.partition("?")
    query = dict(each.partition("=")[::2] for each in text.split("&")) if text else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("role", service, method, "127.0.0.1", path, query, named, body.encode)


def asked(service: str, method: str, path: str, body: str = "", **headers: str) -> list[str]:
    return [str(each) for each in needs_of(request(service, method, path, body, **headers), PLACE)]


@pytest.mark.parametrize(
    ("method", "path", "needs"),
    [
        ("GET", "/b?list-type=2&prefix=raw/", [f"s3:ListBucket on {S3}"]),
        ("GET", "/b?uploads=", [f"s3:ListBucketMultipartUploads on {S3}"]),
        ("HEAD", "/b/k/x", [f"s3:GetObject on {S3}/k/x"]),
        ("GET", "/b/k", [f"s3:GetObject on {S3}/k", f"kms:Decrypt on {KEY}"]),
        ("GET", "/b/k?versionId=3",
         [f"s3:GetObjectVersion on {S3}/k", f"kms:Decrypt on {KEY}"]),
        ("PUT", "/b/k", [f"s3:PutObject on {S3}/k", f"kms:GenerateDataKey on {KEY}"]),
        ("POST", "/b/k?uploads=", [f"s3:PutObject on {S3}/k", f"kms:Decrypt on {KEY}",
                                   f"kms:GenerateDataKey on {KEY}"]),
        ("DELETE", "/b/k?uploadId=1", [f"s3:AbortMultipartUpload on {S3}/k"]),
        ("DELETE", "/b/k", [f"s3:DeleteObject on {S3}/k"]),
        ("PUT", "/open/k", ["s3:PutObject on arn:aws:s3:::open/k"]),
    ],
)  # fmt: skip
def test_a_request_to_s3_needs_its_action_and_the_key_of_the_bucket(
    method: str, path: str, needs: list[str]
) -> None:
    assert asked("s3", method, path) == needs


def test_a_copy_reads_one_object_and_writes_another() -> None:
    needs = asked("s3", "PUT", "/b/k", x_amz_copy_source="/other/from")

    assert needs[0] == "s3:GetObject on arn:aws:s3:::other/from"
    assert f"s3:PutObject on {S3}/k" in needs


def test_to_delete_several_objects_needs_the_right_to_each() -> None:
    body = "<Delete><Object><Key>a</Key></Object><Object><Key>c/d</Key></Object></Delete>"

    assert asked("s3", "POST", "/b?delete=", body) == [
        f"s3:DeleteObject on {S3}/a", f"s3:DeleteObject on {S3}/c/d",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("service", "target", "body", "needs"),
    [
        ("glue", "AWSGlue.GetTable", '{"DatabaseName": "d", "Name": "t"}',
         ["catalog", "database/d", "table/d/t"]),
        ("glue", "AWSGlue.CreateTable", '{"DatabaseName": "d", "TableInput": {"Name": "t"}}',
         ["catalog", "database/d", "table/d/t"]),
        ("glue", "AWSGlue.GetDatabase", '{"Name": "d"}', ["catalog", "database/d"]),
        ("glue", "AWSGlue.StartJobRun", '{"JobName": "j"}', ["job/j"]),
    ],
)  # fmt: skip
def test_a_table_needs_rights_to_the_table_its_database_and_the_catalog(
    service: str, target: str, body: str, needs: list[str]
) -> None:
    action = target.replace("AWSGlue.", "glue:")

    assert asked(service, "POST", "/", body, x_amz_target=target) == [
        f"{action} on {GLUE}:{each}" for each in needs
    ]


@pytest.mark.parametrize(
    ("given", "needs"),
    [
        (request("states", "POST", "/", '{"executionArn": "e"}',
                 x_amz_target="AWSStepFunctions.DescribeExecution"),
         ["states:DescribeExecution on e"]),
        (request("ssm", "POST", "/", '{"Name": "/a/b"}', x_amz_target="AmazonSSM.GetParameter"),
         ["ssm:GetParameter on arn:aws:ssm:eu-west-1:1:parameter/a/b"]),
        (request("athena", "POST", "/", '{"WorkGroup": "w"}',
                 x_amz_target="AmazonAthena.StartQueryExecution"),
         ["athena:StartQueryExecution on arn:aws:athena:eu-west-1:1:workgroup/w"]),
        (request("athena", "POST", "/", '{"QueryExecutionId": "q"}',
                 x_amz_target="AmazonAthena.GetQueryExecution"), []),
        (request("lakeformation", "POST", "/GetResourceLFTags", "{}"),
         ["lakeformation:GetResourceLFTags on *"]),
        (request("lambda", "POST", "/2015-03-31/functions/f/invocations?Qualifier=3"),
         ["lambda:InvokeFunction on arn:aws:lambda:eu-west-1:1:function:f:3"]),
        (request("sns", "POST", "/", "Action=Publish&TopicArn=arn%3Aaws%3Asns%3Aeu-west-1%3A1%3At"),
         ["sns:Publish on arn:aws:sns:eu-west-1:1:t", f"kms:Decrypt on {KEY}",
          f"kms:GenerateDataKey on {KEY}"]),
        (request("scheduler", "PUT", "/schedules/s", str(SCHEDULE).replace("'", '"')),
         ["scheduler:UpdateSchedule on arn:aws:scheduler:eu-west-1:1:schedule/g/s",
          "iam:PassRole on arn:aws:iam::1:role/r"]),
    ],
)  # fmt: skip
def test_other_services_need_what_their_requests_name(given: Request, needs: list[str]) -> None:
    assert [str(each) for each in needs_of(given, PLACE)] == needs


@pytest.mark.parametrize(
    "given",
    [
        request("dynamodb", "POST", "/", "{}"),
        request("s3", "PUT", "/b"),
        request("s3", "GET", "/b/k?tagging="),
        request("glue", "POST", "/", "{}", x_amz_target="AWSGlue.StartCrawler"),
        request("lambda", "GET", "/2015-03-31/functions/f"),
    ],
)
def test_a_request_of_which_no_right_is_known_is_an_error(given: Request) -> None:
    with pytest.raises(UnknownRequestError):
        needs_of(given, PLACE)


ALLOW = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [f"{S3}/raw/*"]}


@pytest.mark.parametrize(
    ("document", "is_allowed"),
    [
        ([ALLOW], True),
        ([ALLOW | {"Action": "S3:getobject"}], True),
        ([ALLOW | {"Action": "s3:Get*"}], True),
        ([ALLOW | {"Resource": f"{S3}/raw"}], False),
        ([ALLOW | {"Action": "s3:PutObject"}], False),
        ([ALLOW, ALLOW | {"Effect": "Deny"}], False),
        ([ALLOW, ALLOW | {"Effect": "Deny", "Resource": f"{S3}/x"}], True),
        ([ALLOW | {"Condition": {"StringEquals": {"kms:ViaService": "s3"}}}], True),
        ([ALLOW | {"Condition": {"StringEquals": {"kms:ViaService": ["sns"]}}}], False),
        ([ALLOW | {"Condition": {"StringEquals": {"aws:Absent": "s3"}}}], False),
        ([ALLOW | {"Condition": {"ForAllValues:StringEquals": {"aws:Absent": "s3"}}}], True),
        (
            [ALLOW, ALLOW | {"Effect": "Deny", "Condition": {"ArnEquals": {"aws:Absent": "x"}}}],
            True,
        ),
        ([], False),
    ],
)
def test_policies_allow_as_iam_does(document: list[dict[str, Any]], is_allowed: bool) -> None:
    statements = parse_document({"Statement": document})

    need = Need("s3:GetObject", f"{S3}/raw/a/b", {"kms:ViaService": "s3"})
    assert allowed(statements, need) == is_allowed


def test_a_condition_that_is_not_evaluated_is_an_error() -> None:
    with pytest.raises(UnknownConditionError, match="IpAddress"):
        Statement.parse(ALLOW | {"Condition": {"IpAddress": {"aws:SourceIp": "1.2.3.4"}}})


def through(gate: Gate, key: str, method: str, path: str) -> str:
    """Send a request, and return its status."""
    seen: list[str] = []
    signed = f"AWS4-HMAC-SHA256 Credential={key}/20260101/eu-west-1/s3/aws4_request, SignedHeaders="
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "HTTP_AUTHORIZATION": signed,
               "SERVER_NAME": "x", "SERVER_PORT": "1", "wsgi.url_scheme": "http"}  # fmt: skip
    list(gate(environ, lambda status, *_: seen.append(status)))
    return seen[0][:3]


def test_the_gate_asks_for_roles_alone_and_says_403_for_404_to_who_may_not_list() -> None:
    def absent(environ: Any, start_response: Any) -> list[bytes]:
        start_response("404 NOT FOUND", [])
        return [b""]

    gate = Gate(absent)
    assert through(gate, "role", "GET", "/b/raw/x") == "404"
    gate.close({"role": parse_document({"Statement": [ALLOW]})}, Place("1", "eu-west-1"))

    assert through(gate, "person", "DELETE", "/b/raw/x") == "404"
    assert through(gate, "role", "DELETE", "/b/raw/x") == "403"
    # It may read, but not list.
    assert through(gate, "role", "GET", "/b/raw/x") == "403"
    assert gate.asked == [("role", "s3:GetObject", f"{S3}/raw/x")]
