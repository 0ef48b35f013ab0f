from pathlib import Path

import pytest

from lakekit.config.deployment import environment_faults, load_deployment, source_faults
from lakekit.config.environment import Environment
from lakekit.config.source import Source, load_source
from lakekit.errors import InvalidContractError, InvalidEnvironmentError

ROOT = Path(__file__).parents[3]
SECRET = "auth: {type: bearer, secret: 'lakekit/{environment}/shop'}\n"  # noqa: S105


def source(rest: str = "") -> Source:
    return load_source(f"source: shop\nbase_url: https://a.org\n{rest}")


def environment(name: str, **fields: object) -> Environment:
    given = {"environment": name, "account": "1" * 12, "region": "eu-west-1", **fields}
    return Environment.model_validate(given)


def faults(rest: str, *environments: Environment) -> list[str]:
    return list(map(str, source_faults(source(rest), {e.environment: e for e in environments})))


def test_the_sources_and_environments_of_a_project_fit_together() -> None:
    environments, sources = load_deployment(ROOT / "tests/project/config")

    assert list(environments) == ["dev", "prod", "staging"]
    assert [each.source for each in sources] == ["shop_api"]


def test_a_source_may_be_of_some_environments_alone() -> None:
    assert source().is_deployed_to("prod")
    assert source("environments: [dev]").is_deployed_to("dev")
    assert not source("environments: [dev]").is_deployed_to("prod")


def test_a_source_names_environments_that_exist() -> None:
    known = environment("dev"), environment("prod")

    assert faults("environments: [dev]", *known) == []
    assert faults("environments: [dev, prd]", *known) == [
        "environments: there is no prd; there are dev, prod"
    ]


@pytest.mark.parametrize("zone", ["Europe/Londn", "MEZ", "posixrules", "europe/london"])
def test_a_time_zone_is_one_of_the_iana_database(zone: str) -> None:
    schedule = f"schedule: {{expression: rate(1 day), time_zone: {zone}}}"

    assert faults(schedule) == [
        f"schedule.time_zone: '{zone}' is not a time zone of the IANA database"
    ]
    assert faults(schedule.replace(zone, "America/Argentina/Buenos_Aires")) == []


def test_a_secret_can_be_read_in_each_environment_that_has_the_source() -> None:
    known = environment("dev"), environment("prod", prefix="acme")

    assert faults(SECRET, *known) == ["auth.secret: must begin with acme/prod/ to be read in prod"]
    assert faults(f"{SECRET}environments: [dev]", *known) == []
    assert faults(SECRET.replace("lakekit/{environment}", "acme/prod"), *known) == [
        "auth.secret: must begin with lakekit/dev/ to be read in dev"
    ]


def test_two_environments_of_one_account_and_region_have_two_databases() -> None:
    def named(name: str, **fields: object) -> Environment:
        return environment(name, storage={"database": "lake"}, **fields)

    [fault] = environment_faults([named("dev"), named("qa")])

    assert (fault[0], str(fault[1])) == (
        "qa",
        "storage.database: 'lake' is the database of dev too, in the same account and region",
    )
    assert environment_faults([named("dev"), named("qa", region="eu-west-2")]) == []
    assert environment_faults([environment("dev"), environment("qa")]) == []


def write(folder: Path, **files: str) -> Path:
    for kind in ("environments", "sources"):
        (folder / kind).mkdir()
    for name, text in files.items():
        kind = "sources" if text.startswith("source:") else "environments"
        (folder / kind / f"{name}.yaml").write_text(text)
    return folder


BASE = 'account: "111111111111"\nregion: eu-west-1\n'
SHOP = f"source: shop\nbase_url: https://a.org\n{SECRET}"


def test_what_check_refuses_cannot_be_synthesised(tmp_path: Path) -> None:
    config = write(tmp_path, base=BASE, dev="prefix: acme", shop=SHOP)

    with pytest.raises(InvalidContractError, match=r"shop\.yaml: auth\.secret: must begin with"):
        load_deployment(config)


def test_environments_are_reported_all_at_once(tmp_path: Path) -> None:
    config = write(tmp_path, base=BASE, dev="prefix: aws", qa="jobs: {min_workers: 1}", shop=SHOP)

    with pytest.raises(InvalidEnvironmentError, match=r"(?s)dev\.yaml.*prefix.*qa\.yaml.*workers"):
        load_deployment(config)


def test_environments_that_share_a_database_cannot_be_synthesised(tmp_path: Path) -> None:
    shared = "storage: {database: lake}"
    config = write(tmp_path, base=BASE, dev=shared, qa=shared)

    with pytest.raises(InvalidEnvironmentError, match="database of dev too"):
        load_deployment(config)
