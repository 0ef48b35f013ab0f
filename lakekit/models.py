"""The base of every model, and the loader of YAML files: strict, and with all errors at once."""

from collections.abc import Hashable
from difflib import get_close_matches
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from lakekit.errors import InvalidContractError, TerminalError

MAX_FILE_BYTES = 1_000_000

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]


class Model(BaseModel):
    """A frozen value; an unknown field is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True
    )


class FileModel(Model):
    """A model that is written by a person, in YAML."""

    @classmethod
    def from_yaml(cls, text: str, *, name: str) -> Self:
        """Parse one file.

        Args:
            text: The file's content.
            name: How messages call the file.

        Raises:
            InvalidContractError: With one line per fault: where it is and what to do.
        """
        try:
            return cls.model_validate(parse_yaml(text, name=name))
        except ValidationError as error:
            raise InvalidContractError(describe_faults(error, cls, name)) from None


class _StrictLoader(yaml.SafeLoader):
    """Safe loader that refuses duplicate keys and aliases."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key '{key}' stands twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def parse_yaml(text: str, *, name: str, error: type[TerminalError] = InvalidContractError) -> Any:
    """Return the document of one YAML file; no duplicate keys, aliases or tags."""
    if len(text.encode()) > MAX_FILE_BYTES:
        raise error(f"{name}: larger than {MAX_FILE_BYTES:,} bytes")
    try:
        # A SafeLoader subclass: no tag can make an object.
        document = yaml.load(text.removeprefix("\ufeff"), Loader=_StrictLoader)  # noqa: S506
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise error(f"{where}: {fault.problem}") from None
    except (yaml.YAMLError, RecursionError) as fault:
        raise error(f"{name}: not YAML: {fault}") from None
    if not isinstance(document, dict):
        raise error(f"{name}: must be a mapping of fields, got {type(document).__name__}")
    return document


def describe_faults(error: ValidationError, model: type[BaseModel], name: str) -> str:
    """Return one line per fault of a file: its path, what is wrong, what to do."""
    lines = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        path = ".".join(str(part) for part in fault["loc"]) or "(file)"
        message = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            message = f"unknown field{_suggestion(model, fault['loc'])}"
        lines.append(f"{name}: {path}: {message}")
    return "\n".join(lines)


def _suggestion(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """Return a hint at the field that was probably meant, searching all models below this one."""
    known = {name for each in _models_below(model, set()) for name in _field_names(each)}
    close = get_close_matches(str(location[-1]), sorted(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else "; remove it"


def _field_names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_below(annotation: Any, seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation in seen:
            return seen
        seen.add(annotation)
        for field in annotation.model_fields.values():
            _models_below(field.annotation, seen)
    for part in getattr(annotation, "__args__", ()):
        _models_below(part, seen)
    return seen
