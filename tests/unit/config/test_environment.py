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


@pytest.mark.parametrize(
    ("name", "said", "production"),
    [("prod", None, True), ("production", None, True), ("prod-eu", None, True),
     ("product", None, False), ("pre-prod", None, False), ("live", True, True),
     ("prod", False, False)],
)  # fmt: skip
def test_production_is_what_is_called_so_or_says_so(
    name: str, said: bool | None, production: bool
) -> None:
    assert named(environment=name, production=said).is_production is production


def refused(tmp_path: Path, own: str, name: str = "dev") -> list[str]:
    """Return the faults of an environment's own file."""
    (tmp_path / "base.yaml").write_text('account: "123456789012"\n' + BASE)
    (tmp_path / f"{name}.yaml").write_text(own)
    with pytest.raises(InvalidEnvironmentError) as caught:
        load_environment(name, folder=tmp_path)
    return [line.partition(": ")[2] for line in str(caught.value).splitlines()]


PAUSE = "pause: {begins: 'cron(0 20 ? * MON-FRI *)', ends: 'cron(0 6 ? * MON-FRI *)'%s}\n"


@pytest.mark.parametrize(
    ("name", "own", "fault"),
    [
        (
            "prod",
            "schedules: true",
            "notify: prod is production, and nobody would hear of a failure",
        ),
        ("live", "production: true", "notify: live is production"),
        ("dev", "budget: {monthly_usd: 10}", "budget: nobody would hear of it"),
        ("prod", f"notify: [a@b.org]\n{PAUSE % ''}", "pause: prod is production, which is never"),
        ("dev", f"schedules: false\n{PAUSE % ''}", "pause: schedules is false"),
        ("dev", PAUSE % ", time_zone: Europe/Berln", "pause.time_zone: 'Europe/Berln' is not"),
        (
            "dev",
            "pause: {begins: rate(1 day), ends: 'cron(0 6 * * ? *)'}",
            "pause.begins: must be a",
        ),
        (
            "dev",
            "pause: {begins: 'cron(0 6 * * ? *)', ends: 'cron(0 6 * * ? *)'}",
            "pause: begins and",
        ),
        ("dev", "tags: {taem: data}", "tags.taem: unknown field; did you mean 'team'?"),
        ("dev", "tags: {cost-center: a}", "tags.cost-center: unknown field; remove it"),
        ("dev", "tags: {free: {Team: a}}", "tags.free.Team: 'Team' is a tag of Lakekit"),
        ("dev", "tags: {free: {'aws:x': a}}", "tags.free.aws:x: what begins with aws: is"),
        ("dev", "tags: {free: {a: 'b;c'}}", "tags.free.a: String should match"),
        ("dev", "functions: {memory_mb: {plan_table: 512}}", "functions.memory_mb.plan_table: Inp"),
        ("dev", "functions: {memory_mb: {sweep: 64}}", "functions.memory_mb.sweep: Input should"),
        ("dev", "log_days: 10", "log_days: Input should be 1, 3, 5, 7"),
        ("dev", "queries: {scan_limit_gb: 0}", "queries.scan_limit_gb: Input should be greater"),
        ("dev", "permissions_boundary: 'arn:aws:iam::1:policy/x'", "permissions_boundary: String"),
        ("dev", "budget: {monthly_usd: 0}\nnotify: [a@b.org]", "budget.monthly_usd: Input should"),
    ],
)
def test_what_does_not_fit_together_is_a_fault_with_its_place(
    tmp_path: Path, name: str, own: str, fault: str
) -> None:
    [found] = refused(tmp_path, own, name)

    assert found.startswith(fault)
    assert "[key]" not in found


@pytest.mark.parametrize(
    ("ages", "fault"),
    [
        ("raw_infrequent_days: 29", "greater than or equal to 30"),
        ("raw_infrequent_days: 30, raw_archive_days: 59", "stays in Infrequent Access for 30 days"),
        ("raw_infrequent_days: 30, raw_days: 30", "landings expire after 30"),
        ("raw_archive_days: 90, raw_days: 60", "set raw_archive_days to null, or raw_days higher"),
    ],
)
def test_refuses_ages_of_landings_that_s3_would_refuse_or_never_reach(
    tmp_path: Path, ages: str, fault: str
) -> None:
    assert any(fault in line for line in refused(tmp_path, f"storage: {{{ages}}}"))


def test_takes_ages_of_landings_in_their_order() -> None:
    named(storage={"raw_infrequent_days": 30, "raw_archive_days": 60, "raw_days": 61})
    named(storage={"raw_archive_days": 1, "raw_days": 2})


def test_tags_of_lakekit_stay_what_they_are() -> None:
    tags = {"project": "shop", "team": "data", "free": {"cost-center": "4711"}}

    assert named(tags=tags).all_tags == {
        "cost-center": "4711", "environment": "dev", "project": "shop", "team": "data"
    }  # fmt: skip
    assert named().all_tags == {"environment": "dev", "project": "lakekit"}
