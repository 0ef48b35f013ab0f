"""The folder of a team's project, found from the folder in which a command is called.

config/sources/*.yaml  config/contracts/*.yaml  config/environments/*.yaml
secrets.yaml    values of secrets for this machine alone; git ignores it
warehouse/      tables of local runs
build/          logs and state of the sandbox
"""

from dataclasses import dataclass
from pathlib import Path

from lakekit.errors import InvalidEnvironmentError, InvalidStepInputError

MARK = Path("config/environments/base.yaml")
SECRETS = "secrets.yaml"
_HINT = "`lakekit init` makes one"


@dataclass(frozen=True)
class Project:
    """One project, by its folder."""

    folder: Path

    @property
    def config(self) -> Path:
        """Sources, contracts and environments."""
        return self.folder / "config"

    @property
    def environments(self) -> Path:
        """A file for each environment, and `base.yaml`."""
        return self.config / "environments"

    @property
    def warehouse(self) -> Path:
        """The tables of local runs."""
        return self.folder / "warehouse"

    def secrets(self) -> dict[str, str]:
        """Return the values of secrets on this machine, by their names.

        Raises:
            InvalidEnvironmentError: The file holds something else than texts by names.
        """
        file = self.folder / SECRETS
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidEnvironmentError(f"{file}: cannot be read: {error}") from None
        if not any(_content(line) for line in text.splitlines()):
            return {}
        from lakekit.models import parse_yaml  # noqa: PLC0415  takes its time

        found = parse_yaml(text, name=str(file), error=InvalidEnvironmentError)
        for name, value in found.items():
            if not isinstance(value, str) or not value:
                raise InvalidEnvironmentError(
                    f"{file}: {name}: must be text; put the value in quotes"
                )
        return dict(found)


def find_project(start: Path) -> Project | None:
    """Return the project of a folder: that of the nearest one upwards that has `MARK`."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / MARK).is_file():
            return Project(folder)
    return None


def open_project(start: Path) -> Project:
    """Return the project of a folder.

    Raises:
        InvalidStepInputError: There is none, from there upwards.
    """
    found = find_project(start)
    if found is None:
        raise InvalidStepInputError(
            f"{start.resolve()}: no project here or in a folder above (a project has {MARK}); "
            f"{_HINT}, or give --project FOLDER"
        )
    return found


def _content(line: str) -> str:
    return line.partition("#")[0].strip().strip("-")
