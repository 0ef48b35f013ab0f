from pathlib import Path

import pytest

from lakekit.config.environment import load_environment
from lakekit.errors import InvalidEnvironmentError

ROOT = Path(__file__).parents[3]
BASE = "region: eu-west-1\nstorage: {database: lake}\njobs: {workers: 2, timeout_minutes: 30}\n"


def write(folder: Path, dev: str) -> Path:
    (folder / "base.yaml").write_text(BASE)
    (folder / "dev.yaml").write_text(dev)
    return folder


@pytest.mark.parametrize("name", ["dev", "staging", "prod"])
def test_loads_the_environments_of_the_repository(name: str) -> None:
    environment = load_environment(name, folder=ROOT / "config/environments")
    assert environment.environment == name


def test_overlays_a_nested_field_and_keeps_its_neighbours(tmp_path: Path) -> None:
    folder = write(tmp_path, 'account: "123456789012"\njobs: {workers: 4}\n')
    jobs = load_environment("dev", folder=folder).jobs
    assert (jobs.workers, jobs.timeout_minutes) == (4, 30)


def test_reports_all_faults_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path, "account: nine\njobs: {wokers: 4}\nregion: Europe\n")
    with pytest.raises(InvalidEnvironmentError) as caught:
        load_environment("dev", folder=folder)
    message = str(caught.value)
    assert len(message.splitlines()) == 3
    assert "jobs.wokers: unknown field; did you mean 'workers'?" in message


def test_says_that_an_account_is_text(tmp_path: Path) -> None:
    folder = write(tmp_path, "account: 123456789012\n")
    with pytest.raises(InvalidEnvironmentError, match=r"account: must be text.* put it in quotes"):
        load_environment("dev", folder=folder)


def test_refuses_a_file_that_names_another_environment(tmp_path: Path) -> None:
    folder = write(tmp_path, 'environment: prod\naccount: "123456789012"\n')
    with pytest.raises(InvalidEnvironmentError, match="must be the file's name"):
        load_environment("dev", folder=folder)


def test_says_which_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidEnvironmentError, match=r"base\.yaml: no such file"):
        load_environment("dev", folder=tmp_path)
