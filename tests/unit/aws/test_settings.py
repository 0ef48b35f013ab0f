"""The settings of functions and jobs, as their environment has them."""

from pathlib import Path

import pytest

from lakekit.aws.settings import read_settings
from lakekit.errors import InvalidEnvironmentError, UnknownSourceError

ENVIRONMENT = {
    "LAKEKIT_ENVIRONMENT": "dev",
    "LAKEKIT_LANDING_BUCKET": "b",
    "LAKEKIT_DATABASE": "d",
    "LAKEKIT_WAREHOUSE": "s3://w",
    "LAKEKIT_LEASE_SECONDS": "3600",
}


def test_the_environment_is_read_at_the_door() -> None:
    urls = '{"shop": "http://127.0.0.1:8000"}'
    settings = read_settings(ENVIRONMENT | {"LAKEKIT_BASE_URLS": urls, "PATH": "/bin"})

    assert settings.landing_bucket == "b"
    assert settings.base_urls == {"shop": "http://127.0.0.1:8000"}


def test_a_source_of_other_environments_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/shop.yaml").write_text(
        "source: shop\nbase_url: https://a.org\nenvironments: [dev]\n"
    )
    config = ENVIRONMENT | {"LAKEKIT_CONFIG": str(tmp_path)}

    assert read_settings(config).source("shop").source == "shop"
    with pytest.raises(UnknownSourceError, match="environments does not name prod"):
        read_settings(config | {"LAKEKIT_ENVIRONMENT": "prod"}).source("shop")


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"LAKEKIT_LEASE_SECONDS": "0"}, "lease_seconds"),
        ({"LAKEKIT_DATABASE": ""}, "database"),
        ({"LAKEKIT_BASE_URLS": "nonsense"}, "base_urls"),
    ],
)
def test_says_what_the_environment_lacks(change: dict[str, str], path: str) -> None:
    with pytest.raises(InvalidEnvironmentError, match=f"environment: {path}"):
        read_settings(ENVIRONMENT | change)
