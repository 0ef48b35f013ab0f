"""Functions read sources and contracts where a parameter says that they are."""

import io
import zipfile
from pathlib import Path
from typing import Any

import boto3
import pytest

from lakekit.aws.configuration import stored
from lakekit.aws.configuration.stored import configuration_of_job
from lakekit.aws.settings import read_settings
from lakekit.errors import InvalidEnvironmentError, UnknownSourceError
from tests.lambdas.conftest import REGION, Account

PARAMETER = "/lakekit/dev/config"
ADDRESS = "s3://packages/{}.lakekit-dev-config.zip"


@pytest.fixture
def deployed(account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Account:
    """Deploy the files of the account's folder as an object, in place of the folder."""
    monkeypatch.delenv("LAKEKIT_CONFIG")
    monkeypatch.setenv("LAKEKIT_CONFIG_PARAMETER", PARAMETER)
    account.s3.create_bucket(
        Bucket="packages", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    deploy(account, tmp_path, "1")
    # As in a cold function.
    stored._NEWEST.clear()
    return account


def deploy(account: Account, folder: Path, name: str) -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for file in folder.glob("*/*.yaml"):
            archive.write(file, file.relative_to(folder))
    account.write(f"{name}.lakekit-dev-config.zip", body.getvalue(), bucket="packages")
    boto3.client("ssm").put_parameter(
        Name=PARAMETER, Value=ADDRESS.format(name), Type="String", Overwrite=True
    )


def test_a_run_begins_with_the_source_and_contracts_that_are_deployed(
    deployed: Account, event: Any
) -> None:
    result = deployed.call("start_run", event("start_run"))

    assert result == {"endpoints": ["orders"]}


def test_a_warm_function_sees_what_is_deployed_after_it(deployed: Account, tmp_path: Path) -> None:
    settings = read_settings()
    with pytest.raises(UnknownSourceError):
        settings.source("other")

    (tmp_path / "sources/other.yaml").write_text("source: other\nbase_url: https://a.org\n")
    deploy(deployed, tmp_path, "2")

    assert settings.source("other").source == "other"


def test_an_object_is_read_once(deployed: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read_settings()
    settings.source("shop")

    deployed.s3.delete_object(Bucket="packages", Key="1.lakekit-dev-config.zip")

    assert settings.source("shop").source == "shop"


@pytest.mark.parametrize("role", ["start_run", "route_file", "sweep", "share_table"])
def test_each_function_that_needs_them_may_read_them(deployed: Account, role: str) -> None:
    with deployed.rights.acting_as(role):
        assert read_settings().source("shop").source == "shop"


@pytest.mark.parametrize("job", ["maintain_tables", "rebuild_table"])
def test_a_job_reads_the_same(deployed: Account, job: str) -> None:
    with deployed.rights.acting_as(job):
        folder = configuration_of_job({}, PARAMETER)

    assert (folder / "sources/shop.yaml").is_file()


def test_what_is_missing_is_named(deployed: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    boto3.client("ssm").put_parameter(
        Name=PARAMETER, Value=ADDRESS.format("3"), Type="String", Overwrite=True
    )
    with pytest.raises(InvalidEnvironmentError, match=r"3\.lakekit-dev-config\.zip"):
        read_settings().source("shop")
    boto3.client("ssm").delete_parameter(Name=PARAMETER)
    with pytest.raises(InvalidEnvironmentError, match=f"no parameter {PARAMETER}"):
        read_settings().source("shop")
    monkeypatch.delenv("LAKEKIT_CONFIG_PARAMETER")
    with pytest.raises(InvalidEnvironmentError, match="LAKEKIT_CONFIG_PARAMETER"):
        read_settings().source("shop")
