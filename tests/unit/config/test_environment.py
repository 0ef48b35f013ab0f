from pathlib import Path

import pytest

from lakekit.config.environment import Environment, environment_names, load_environment
from lakekit.errors import InvalidEnvironmentError

ROOT = Path(__file__).parents[3]
BASE = "region: eu-west-1\nstorage: {database: lake}\njobs: {min_workers: 2, timeout_minutes: 30}\n"


def write(folder: Path, dev: str) -> Path:
    (folder / "base.yaml").write_text(BASE)
    (folder / "dev.yaml").write_text(dev)
    return folder


@pytest.mark.parametrize("name", ["dev", "staging", "prod"])
def test_loads_the_environments_of_the_repository(name: str) -> None:
    environment = load_environment(name, folder=ROOT / "config/environments")
    assert environment.environment == name


def test_overlays_a_nested_field_and_keeps_its_neighbours(tmp_path: Path) -> None:
    folder = write(tmp_path, 'account: "123456789012"\njobs: {min_workers: 4}\n')
    jobs = load_environment("dev", folder=folder).jobs
    assert (jobs.min_workers, jobs.timeout_minutes) == (4, 30)


def test_reports_all_faults_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path, "account: nine\njobs: {min_wokers: 4}\nregion: Europe\n")
    with pytest.raises(InvalidEnvironmentError) as caught:
        load_environment("dev", folder=folder)
    message = str(caught.value)
    assert len(message.splitlines()) == 3
    assert "jobs.min_wokers: unknown field; did you mean 'min_workers'?" in message


def test_says_that_an_account_is_text(tmp_path: Path) -> None:
    folder = write(tmp_path, "account: 123456789012\n")
    with pytest.raises(InvalidEnvironmentError, match=r"account: must be text.* put it in quotes"):
        load_environment("dev", folder=folder)


def test_refuses_a_file_that_names_another_environment(tmp_path: Path) -> None:
    folder = write(tmp_path, 'environment: prod\naccount: "123456789012"\n')
    with pytest.raises(InvalidEnvironmentError, match="must be the file's name"):
        load_environment("dev", folder=folder)


@pytest.mark.parametrize("name", ["qa", "pre-prod", "x2"])
def test_an_environment_may_have_any_name(tmp_path: Path, name: str) -> None:
    write(tmp_path, "")
    (tmp_path / f"{name}.yaml").write_text('account: "123456789012"\n')
    environment = load_environment(name, folder=tmp_path)

    assert environment.name("start_run") == f"lakekit-{name}-start_run"
    assert environment_names(tmp_path) == sorted(["dev", name])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Prod", "lower-case"), ("pre_prod", "single hyphens"), ("-a", "single hyphens"),
        ("a--b", "single hyphens"), ("a-", "single hyphens"), ("2x", "lower-case"),
        ("base", "what all environments share"),
    ],
)  # fmt: skip
def test_refuses_a_name_of_which_no_bucket_can_be_made(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "base.yaml").write_text(BASE + 'account: "123456789012"\n')
    (tmp_path / f"{name}.yaml").write_text((tmp_path / "base.yaml").read_text())

    with pytest.raises(InvalidEnvironmentError, match=f"environment: .*{why}"):
        load_environment(name, folder=tmp_path)


def named(**fields: object) -> Environment:
    given = {"environment": "dev", "account": "1" * 12, "region": "eu-west-1", **fields}
    return Environment.model_validate(given)


@pytest.mark.parametrize("prefix", ["Acme", "ac-me", "ac_me", "2a", "", "aws", "amzn", "sthree"])
def test_refuses_a_prefix_that_is_ambiguous_or_reserved(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        named(prefix=prefix)


def test_a_prefix_begins_every_name() -> None:
    environment = named(prefix="acme", environment="pre-prod")

    assert environment.name("start_run") == "acme-pre-prod-start_run"
    assert environment.bucket("lake") == "acme-pre-prod-lake-111111111111-eu-west-1"
    assert environment.database == "acme_pre_prod"
    assert environment.secrets == "acme/pre-prod/"
    assert named(storage={"database": "lake"}).database == "lake"


def test_different_deployments_have_different_names() -> None:
    parts = ("a", "b", "a-b", "b-a", "a-a")
    made = [(prefix, name) for prefix in parts if "-" not in prefix for name in parts]
    environments = [named(prefix=prefix, environment=name) for prefix, name in made]

    for kind in ("database", "secrets"):
        assert len({getattr(each, kind) for each in environments}) == len(made)
    assert len({each.name("x") for each in environments}) == len(made)


def test_refuses_names_that_are_too_long_for_a_bucket() -> None:
    assert len(named(environment="e" * 24).bucket("landing")) == 63

    with pytest.raises(ValueError, match=r"64 characters, .* 63 at most; shorten prefix or env"):
        named(environment="e" * 25)


@pytest.mark.parametrize(
    "fields",
    [{"storage": {"database": "default"}}, {"prefix": "global", "environment": "temp"}],
)
def test_refuses_a_database_that_is_there_already(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="is taken by AWS or Spark"):
        named(**fields)


def test_says_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidEnvironmentError, match=r"base\.yaml: no such file"):
        load_environment("dev", folder=tmp_path)
