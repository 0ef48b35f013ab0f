"""The base of every model, and the loader of YAML files: strict, and with all errors at once."""

import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple, Self

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from lakekit.errors import InvalidContractError, TerminalError

MAX_FILE_BYTES = 1_000_000


def _is_name(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", text):
        raise ValueError("must be at most 63 lower-case letters, digits and _, a letter first")
    return text


def _is_column_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,127}", text):
        raise ValueError(
            "the name of a column must be at most 128 letters (a to z), digits and _, no digit "
            "first; name the field of a record that is called otherwise with from"
        )
    return text


Name = Annotated[str, AfterValidator(_is_name)]
ColumnName = Annotated[str, AfterValidator(_is_column_name)]
Path = tuple[str | int, ...]
BETWEEN_FIELDS = "between_fields"


class Fault(NamedTuple):
    """What is wrong at one place of a file."""

    path: Path
    message: str

    def __str__(self) -> str:
        return f"{'.'.join(str(part) for part in self.path) or '(file)'}: {self.message}"


class Model(BaseModel):
    """A frozen value; an unknown field is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True
    )


class FileModel(Model):
    """A model that is written by a person, in YAML."""

    @classmethod
    def from_yaml(cls, text: str, *, name: str, is_file: bool = False) -> Self:
        """Parse one file.

        Args:
            text: The file's content.
            name: How messages call the file.
            is_file: Whether it is one by that name, so that line and column of a fault help.

        Raises:
            InvalidContractError: With one line per fault: where it is and what to do.
        """
        document = parse_yaml(text, name=name)
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            faults = cls._all_faults(document, error)
            lines = (
                f"{located(name, text, fault.path) if is_file else name}: {fault}"
                for fault in faults
            )
            raise InvalidContractError("\n".join(lines)) from None

    @classmethod
    def faults_between(
        cls, document: Mapping[str, Any], broken: Collection[Path]
    ) -> Iterator[Fault]:
        """Yield what does not fit together in a file, whichever single fields are wrong.

        Args:
            document: The file.
            broken: Where a value did not parse.
        """
        yield from ()

    @classmethod
    def _all_faults(cls, document: dict[str, Any], error: ValidationError) -> list[Fault]:
        """Return each fault once, in the order of the file."""
        single: list[Fault] = []
        between: list[Fault] = []
        for each in _errors(error):
            faults = between if each["type"] == BETWEEN_FIELDS else single
            faults.append(Fault(_path_in(document, each), _message(each, cls, document)))
        # Validators of a whole model run only where each field is right; these always.
        found = list(cls.faults_between(document, [fault.path for fault in single]))
        once = dict.fromkeys(single + (found or between))
        return sorted(once, key=lambda fault: _position(document, fault.path))


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
            if isinstance(key_node, yaml.ScalarNode) and not isinstance(key, str):
                raise yaml.MarkedYAMLError(
                    problem=f"YAML reads the name {key_node.value} as {_as_read(key)}; "
                    f'write "{key_node.value}"',
                    problem_mark=key_node.start_mark,
                )
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


def place_of(text: str, path: Path) -> tuple[int, int, int]:
    r"""Return line and column of what a path leads to in YAML, and how many parts of it are there.

    Example:
        >>> place_of("a: 1\nb:\n  - {c: 2}\n", ("b", 0, "c"))
        (3, 6, 3)
        >>> place_of("a: {b: 1}\n", ("a", "absent"))
        (1, 1, 1)
    """
    node: Any = yaml.compose(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader)
    mark, depth = node.start_mark, 0
    for part in path:
        found = _below(node, part)
        if found is None:
            break
        mark, node = found
        depth += 1
    return mark.line + 1, mark.column + 1, depth


def _below(node: yaml.Node, part: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    """Return where a part of a node begins, with its key, and its value."""
    if isinstance(node, yaml.MappingNode):
        return next(((k.start_mark, v) for k, v in node.value if k.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark, node.value[part]
    return None


def located(name: str, text: str, path: Path) -> str:
    r"""Return a file's name with the line and column of a path in it, as editors read them.

    Example:
        >>> located("a.yaml", "a: 1\nb: 2\n", ("b",))
        'a.yaml:2:1'
    """
    line, column, _ = place_of(text, path)
    return f"{name}:{line}:{column}"


def describe_faults(
    error: ValidationError,
    model: type[BaseModel],
    name: str | Callable[[Path], str],
    document: Any = None,
) -> str:
    """Return one line per fault: its path, what is wrong, what to do.

    Args:
        error: What Pydantic found.
        model: The model of the document.
        name: How messages call it, or what a path in it leads to.
        document: What was validated, if it was read from YAML.
    """
    faults = [
        Fault(_without_key_mark(fault["loc"]), _message(fault, model, document))
        for fault in _errors(error)
    ]
    return "\n".join(
        f"{name if isinstance(name, str) else name(fault.path)}: {fault}" for fault in faults
    )


def _without_key_mark(location: Path) -> Path:
    """Return where a wrong name of a mapping is: Pydantic puts `[key]` behind it."""
    return tuple(part for part in location if part != "[key]")


def child(node: Any, part: str | int) -> Any:
    """Return what a mapping or list holds under one part of a path; None if nothing."""
    return node[part] if _holds(node, part) else None


def _holds(node: Any, part: str | int) -> bool:
    if isinstance(node, list):
        return isinstance(part, int) and part < len(node)
    return isinstance(node, dict) and part in node


def _errors(error: ValidationError) -> list[ErrorDetails]:
    """Return Pydantic's errors, but not that a list is short because its items are wrong."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    above = {fault["loc"][:end] for fault in found for end in range(len(fault["loc"]))}
    return [each for each in found if each["type"] != "too_short" or each["loc"] not in above]


def _message(fault: ErrorDetails, model: type[BaseModel], document: Any) -> str:
    if fault["type"] == "extra_forbidden":
        place: Any = document
        for part in _path_in(document, fault)[:-1]:
            place = child(place, part)
        return f"unknown field{_suggestion(model, fault['loc'], place or ())}"
    if fault["type"] == "string_type" and document is not None:
        value = document
        for part in _path_in(document, fault):
            value = child(value, part)
        return _no_text(value)
    return fault["msg"].removeprefix("Value error, ")


def _no_text(value: Any) -> str:
    """Return what is wrong with a value of YAML that should be a text, and what to do."""
    if isinstance(value, list | dict):
        return f"must be text, not a {'list' if isinstance(value, list) else 'mapping'}"
    if value is None:
        return "must be text, and is empty or null; write a text, in quotes if it is the word null"
    return f"must be text, but YAML reads it as {_as_read(value)}; put it in quotes"


def _as_read(value: Any) -> str:
    """Return a value as a person writes it who means it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _path_in(document: Any, fault: ErrorDetails) -> Path:
    """Return where a fault is in the file: without the tags that Pydantic gives to unions."""
    node, path = document, Path()
    is_absent = fault["type"] in ("missing", "invalid_key")
    for at, part in enumerate(fault["loc"], start=1):
        if _holds(node, part) or (is_absent and isinstance(node, dict) and at == len(fault["loc"])):
            path = (*path, part)
            node = child(node, part)
    return path


def _position(document: Any, path: Path) -> list[int]:
    """Return a key that sorts paths as they stand in the file; what is absent comes last."""
    node = document
    position: list[int] = []
    for part in path:
        if not _holds(node, part):
            return [*position, sys.maxsize]
        position.append(list(node).index(part) if isinstance(node, dict) else int(part))
        node = node[part]
    return position


def _suggestion(
    model: type[BaseModel], location: tuple[int | str, ...], given: Collection[str]
) -> str:
    """Return a hint at the field that was probably meant.

    It is one of its own model: one that is spelt like it, or the only one that is missing.
    """
    name = str(location[-1])
    own: dict[str, FieldInfo] = {}
    for each in _models_at(model, location[:-1]):
        own |= _named_fields(each)
    close = get_close_matches(name, sorted(own), n=1, cutoff=0.7)
    missing = [field for field, about in own.items() if about.is_required() and field not in given]
    if close or len(missing) == 1:
        return f"; did you mean '{(close or missing)[0]}'?"
    known = {each for below in _models_below(model, set()) for each in _named_fields(below)}
    return "; it has no meaning here" if name in known else "; remove it"


def _named_fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _models_at(model: type[BaseModel], location: tuple[int | str, ...]) -> list[type[BaseModel]]:
    """Return the models that a place may have: of a union, the one that its tag names."""
    found = [model]
    for part in location:
        below = [
            each
            for known in found
            for name, field in _named_fields(known).items()
            if name == part
            for each in _direct_models(field.annotation)
        ]
        tagged = [each for each in found if _tag_of(each) == part]
        found = below or tagged or found
    return found


def _direct_models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    parts = getattr(annotation, "__args__", ())
    return [each for part in parts for each in _direct_models(part)]


def _tag_of(model: type[BaseModel]) -> str | None:
    """Return the value of `type` or `format` by which a union knows a model."""
    for name in ("type", "format"):
        tags = getattr(getattr(model.model_fields.get(name), "annotation", None), "__args__", ())
        if tags:
            return str(tags[0])
    return None


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
