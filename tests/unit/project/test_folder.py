from pathlib import Path

import pytest

from lakekit.errors import InvalidEnvironmentError, InvalidStepInputError
from lakekit.project.folder import MARK, SECRETS, find_project, open_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / MARK).parent.mkdir(parents=True)
    (tmp_path / MARK).touch()
    return tmp_path


def test_the_nearest_folder_upwards_is_the_project(project: Path) -> None:
    inside = project / "config/contracts"
    inside.mkdir()

    found = find_project(inside)

    assert found is not None
    assert found.folder == project
    assert found.config == project / "config"


def test_without_a_project_it_says_how_to_make_one(tmp_path: Path) -> None:
    assert find_project(tmp_path) is None
    with pytest.raises(
        InvalidStepInputError, match=r"config/environments/base\.yaml.*lakekit init"
    ):
        open_project(tmp_path)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("# none yet\n", {}),
        ('---\n# a\nlakekit/dev/shop: "it is 1"\n', {"lakekit/dev/shop": "it is 1"}),
    ],
)
def test_secrets_are_texts_by_their_names(project: Path, text: str, values: object) -> None:
    (project / SECRETS).write_text(text)

    assert open_project(project).secrets() == values


def test_a_project_needs_no_file_of_secrets(project: Path) -> None:
    assert open_project(project).secrets() == {}


@pytest.mark.parametrize("text", ["a: 12\n", "a: {b: c}\n", "a:\n", "- a\n", "a: [\n"])
def test_what_is_no_text_is_refused_without_showing_it(project: Path, text: str) -> None:
    (project / SECRETS).write_text(text)

    with pytest.raises(InvalidEnvironmentError, match=r"secrets\.yaml") as failed:
        open_project(project).secrets()
    assert "12" not in str(failed.value).rpartition("secrets.yaml")[2]
