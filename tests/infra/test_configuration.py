"""The configuration of a project is no part of the code that is deployed."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cdk.constructs.configuration import pack
from cdk.stacks.compute import CONFIGURED, HOLDERS
from tests.infra.conftest import SOURCE, SOURCES, TWO, Stacks, make_project, synthesise

Json = dict[str, Any]
CONTRACT = (
    "contract: orders\nsource: newcomer\nendpoint: {path: /o}\n"
    "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Json, Json, Json]:
    """Return the resources: as they are, with a source and a contract more, with that changed."""
    project = make_project(
        tmp_path_factory.mktemp("project"), environments=TWO, sources={"shop": SOURCES["shop"]}
    )
    before = synthesise(tmp_path_factory.mktemp("cdk.out"), "dev", project=project)["dev"]
    source = SOURCE.format(name="newcomer", rest="schedule: rate(1 day)\nenvironments: [dev]")
    (project / "config/sources/newcomer.yaml").write_text(source)
    (project / "config/contracts/orders.yaml").write_text(CONTRACT)
    after = synthesise(tmp_path_factory.mktemp("cdk.out"), "dev", project=project)["dev"]
    (project / "config/contracts/orders.yaml").write_text(
        CONTRACT.replace("bigint}", "bigint}, {name: price, type: double}")
    )
    (project / "config/sources/newcomer.yaml").write_text(
        f"{source}\nauth: {{type: bearer, secret: 'lakekit/{{environment}}/newcomer'}}\n"
    )
    last = synthesise(tmp_path_factory.mktemp("cdk.out"), "dev", project=project)["dev"]
    return resources(before), resources(after), resources(last)


def resources(stacks: Stacks) -> Json:
    return {
        f"{stack}/{name}": each
        for stack, template in stacks.items()
        for name, each in template.to_json()["Resources"].items()
    }


def test_a_new_source_changes_the_configuration_and_adds_its_schedule_and_nothing_else(
    changed: tuple[Json, Json, Json],
) -> None:
    before, after, _ = changed

    differ = {before[name]["Type"] for name in before if before[name] != after.get(name)}
    assert differ == {"AWS::SSM::Parameter"}
    assert {after[name]["Type"] for name in after.keys() - before.keys()} == {
        "AWS::Scheduler::Schedule"
    }


def test_a_changed_contract_and_a_new_secret_change_the_configuration_and_who_reads_the_secret(
    changed: tuple[Json, Json, Json],
) -> None:
    _, before, after = changed

    differ = {before[name]["Type"] for name in before if before[name] != after.get(name)}
    assert differ == {"AWS::SSM::Parameter"}
    [policy] = [after[name] for name in after.keys() - before.keys()]
    assert policy["Type"] == "AWS::IAM::ManagedPolicy"
    assert ":secret:lakekit/dev/newcomer-??????" in json.dumps(policy)


def test_those_who_read_the_configuration_know_it_by_names_that_stay(dev: Stacks) -> None:
    text = json.dumps(dev["compute"].to_json())
    functions = {
        each["Properties"]["Handler"].split(".")[1]: each["Properties"]["Environment"]["Variables"]
        for each in dev["compute"].find_resources("AWS::Lambda::Function").values()
    }
    jobs = {
        each["Properties"]["Name"].rpartition("-")[2]: each["Properties"]["DefaultArguments"]
        for each in dev["compute"].find_resources("AWS::Glue::Job").values()
    }

    named = {step for step, each in functions.items() if "LAKEKIT_CONFIG_PARAMETER" in each}
    assert named == {*CONFIGURED}
    assert {job for job, each in jobs.items() if "--config_parameter" in each} == {*HOLDERS}
    assert text.count("/*.lakekit-dev-config.zip") == len(CONFIGURED) + len(HOLDERS)
    assert text.count("parameter/lakekit/dev/config") == len(CONFIGURED) + len(HOLDERS)


def test_the_parameter_changes_after_the_code_that_reads_what_it_names(dev: Stacks) -> None:
    [parameter] = dev["compute"].find_resources("AWS::SSM::Parameter").values()

    waits_for = " ".join(parameter["DependsOn"])
    assert all(step.replace("_", "") in waits_for for step in (*CONFIGURED, *HOLDERS))


def test_the_assembly_uploads_the_object_that_the_parameter_names(
    dev: Stacks, assembly: Path
) -> None:
    [parameter] = dev["compute"].find_resources("AWS::SSM::Parameter").values()
    key = parameter["Properties"]["Value"].rpartition("/")[2]
    stage = assembly / "assembly-dev"
    files = json.loads(next(stage.glob("*compute*.assets.json")).read_text())["files"]

    asset = files[key.removesuffix(".zip")]
    [destination] = asset["destinations"].values()
    assert destination["objectKey"] == key
    with zipfile.ZipFile(stage / asset["source"]["path"]) as archive:
        assert archive.namelist() == ["contracts/customers.yaml", "sources/shop_api.yaml"]


def test_the_same_files_give_the_same_bytes_and_environments_are_not_among_them(
    tmp_path: Path,
) -> None:
    for name in ("contracts/a", "sources/b", "environments/dev"):
        file = tmp_path / f"{name}.yaml"
        file.parent.mkdir()
        file.write_text(name)
    body = pack(tmp_path)
    (tmp_path / "environments/dev.yaml").write_text("other")
    (tmp_path / "sources/b.yaml").touch()

    assert pack(tmp_path) == body
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert archive.namelist() == ["contracts/a.yaml", "sources/b.yaml"]
