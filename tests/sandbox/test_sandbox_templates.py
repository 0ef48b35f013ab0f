"""Resources come from the synthesised templates: their faults show here."""

import json
from pathlib import Path

import pytest

from lakekit.sandbox.intrinsics import UnknownFunctionError, resolve
from lakekit.sandbox.resources import ResourceError, Resources
from lakekit.sandbox.spark_conf import deployed
from lakekit.sandbox.template import Assembly, digest, find_scripts, synthesise

ROLE = "arn:aws:iam::111111111111:role/r"


def assembly(*stacks: dict) -> Assembly:
    named = {f"stack{number}": stack for number, stack in enumerate(stacks)}
    return Assembly(Path(), "111111111111", "eu-west-1", named)


def resources(*stacks: dict) -> Resources:
    def no_client(service: str):
        raise AssertionError(f"nothing of {service} should be created")

    return Resources(assembly(*stacks), no_client)


class Names:
    def ref(self, name):
        return f"<{name}>"

    def attribute(self, name, attribute):
        return f"<{name}.{attribute}>"

    def imported(self, export):
        return f"<import {export}>"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"Ref": "A"}, "<A>"),
        ({"Fn::GetAtt": ["A", "Arn"]}, "<A.Arn>"),
        ({"Fn::GetAtt": "A.B.C"}, "<A.B.C>"),
        ({"Fn::Join": ["-", ["x", {"Ref": "A"}]]}, "x-<A>"),
        ({"Fn::ImportValue": {"Fn::Sub": "${A}:e"}}, "<import <A>:e>"),
        ({"Fn::Sub": "${A}/${A.Arn}/${!B}"}, "<A>/<A.Arn>/${B}"),
        ({"Fn::Sub": ["${x}${A}", {"x": {"Ref": "B"}}]}, "<B><A>"),
        ({"Fn::Select": [1, {"Fn::Split": [":", "a:b"]}]}, "b"),
        ([{"x": {"Ref": "A"}, "y": 1}], [{"x": "<A>", "y": 1}]),
    ],
)
def test_intrinsic_functions_resolve(value, expected):
    assert resolve(value, Names()) == expected


def test_an_unknown_intrinsic_function_is_an_error():
    with pytest.raises(UnknownFunctionError, match="Fn::Cidr"):
        resolve([{"Fn::Cidr": ["10.0.0.0/24", 6, 5]}], Names())


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        ({"A": {"Type": "AWS::Nice::Thing"}}, "AWS::Nice::Thing, which the sandbox cannot create"),
        (
            {"A": {"Type": "AWS::IAM::Policy", "Properties": {"x": {"Ref": "B"}}}},
            "there is no resource B",
        ),
        (
            {"A": {"Type": "AWS::IAM::Policy", "Properties": {"x": {"Fn::ImportValue": "e"}}}},
            "no stack exports e",
        ),
        (
            {"A": {"Type": "AWS::IAM::Policy", "Properties": {"x": {"Ref": "A"}}}},
            "A refers to itself",
        ),
        (
            {
                "A": {
                    "Type": "AWS::IAM::Policy",
                    "Properties": {"x": {"Fn::GetAtt": ["B", "Arn"]}},
                },
                "B": {"Type": "AWS::S3::BucketPolicy"},
            },
            "B has no attribute Arn",
        ),
        (
            {
                "A": {
                    "Type": "AWS::StepFunctions::StateMachine",
                    "Properties": {
                        "DefinitionString": '{"x": "${Given}", "y": "${Missing}"}',
                        "DefinitionSubstitutions": {"Given": "g"},
                        "RoleArn": ROLE,
                    },
                }
            },
            r"tokens \['Missing'\] get no value",
        ),
    ],
)
def test_what_is_wrong_in_a_template_is_said(stack, message):
    with pytest.raises(ResourceError, match=message):
        resources({"Resources": stack}).create_all()


def test_exports_of_other_stacks_resolve_whatever_their_order():
    first = {"Resources": {"A": {
        "Type": "AWS::IAM::Policy", "Properties": {"x": {"Fn::ImportValue": "region"}},
    }}}  # fmt: skip
    second = {
        "Resources": {},
        "Outputs": {"O": {"Value": {"Ref": "AWS::Region"}, "Export": {"Name": "region"}}},
    }
    made = resources(first, second)
    made.create_all()

    assert made.physical("stack0", "A").properties == {"x": "eu-west-1"}


def test_the_sandbox_has_what_the_templates_have(sandbox):
    machines = sandbox.client("stepfunctions").list_state_machines()["stateMachines"]
    buckets = [each["Name"] for each in sandbox.client("s3").list_buckets()["Buckets"]]
    variables = sandbox.client("lambda").get_function_configuration(
        FunctionName=sandbox.names["functions"]["start_run"]
    )["Environment"]["Variables"]

    arns = {each["stateMachineArn"] for each in machines}
    assert set(sandbox.names["machines"]) == {"load_source", "maintain_tables"}
    assert set(sandbox.names["machines"].values()) <= arns
    assert {sandbox.names["landing_bucket"], sandbox.names["lake_bucket"]} <= set(buckets)
    assert variables["LAKEKIT_WAREHOUSE"] == sandbox.names["warehouse"]
    definition = sandbox.client("stepfunctions").describe_state_machine(
        stateMachineArn=sandbox.names["machines"]["load_source"]
    )["definition"]
    assert "${" not in definition
    assert ":111111111111:function:lakekit-dev-start_run" in definition


def test_the_sandbox_has_the_schedules_of_the_templates_with_what_they_would_start(sandbox):
    scheduler, machines = sandbox.client("scheduler"), sandbox.names["machines"]
    [group] = [each["Name"] for each in scheduler.list_schedule_groups()["ScheduleGroups"]
               if each["Name"] != "default"]  # fmt: skip
    schedule = scheduler.get_schedule(GroupName=group, Name="shop_api")

    assert (group, schedule["State"]) == ("lakekit-dev-sources", "DISABLED")
    assert schedule["Target"]["Arn"] == machines["load_source"]
    assert json.loads(schedule["Target"]["Input"])["source"] == "shop_api"


def test_job_scripts_are_the_repositorys_own(tmp_path):
    (tmp_path / "glue_jobs").mkdir()
    (tmp_path / "glue_jobs" / "merge.py").write_text("print(1)")
    asset = tmp_path / "asset.1.py"
    asset.write_text("print(1)")
    found = Assembly(tmp_path, "1", "r", {}, {"s3://b/1.py": asset})

    assert find_scripts(found, tmp_path) == {"s3://b/1.py": tmp_path / "glue_jobs" / "merge.py"}


def test_templates_are_made_again_only_when_an_input_changes(tmp_path):
    (tmp_path / "cdk").mkdir()
    (tmp_path / "cdk" / "app.py").write_text(
        "import pathlib, sys\n"
        "out = pathlib.Path(sys.argv[sys.argv.index('--out') + 1])\n"
        "out.mkdir(parents=True)\n"
        "(out / 'manifest.json').write_text('{}')\n"
    )
    cache = tmp_path / "cache"
    cache.mkdir()

    first, second = synthesise(tmp_path, tmp_path, cache), synthesise(tmp_path, tmp_path, cache)
    (tmp_path / "cdk.json").write_text("{}")
    third = synthesise(tmp_path, tmp_path, cache)

    assert first == second != third
    assert third.name == digest(tmp_path, tmp_path)


def test_the_deployed_conf_argument_is_read_as_glue_reads_it():
    assert deployed("spark.a=1 --conf spark.b=x=y") == {"spark.a": "1", "spark.b": "x=y"}
