"""A contract whose condition a parser of SQL has read, for those who check what a person wrote.

Functions and jobs load a `Contract`: they have no such parser, and take it as checked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Self

from pydantic import model_validator

from lakekit.contract.checks import NamedType, refuse
from lakekit.contract.contract import Contract, named_types
from lakekit.contract.document_checks import sound_parts
from lakekit.models import Fault, Path, child


class CheckedContract(Contract):
    """The promise about one table, with a condition that is one."""

    @model_validator(mode="after")
    def _condition_holds(self) -> Self:
        refuse(_condition_faults(self.history.apply_as_deletes, named_types(self.columns)))
        return self

    @classmethod
    def faults_between(
        cls, document: Mapping[str, Any], broken: Collection[Path]
    ) -> Iterator[Fault]:
        """Yield what does not fit together in a contract; see `FileModel`."""
        yield from super().faults_between(document, broken)
        sound, columns = sound_parts(document, broken)
        yield from _condition_faults(child(sound.get("history"), "apply_as_deletes"), columns)


def _condition_faults(condition: object, columns: Sequence[NamedType]) -> Iterator[Fault]:
    # A column whose name did not parse may be the one that is meant.
    if not isinstance(condition, str) or any(column.name is None for column in columns):
        return
    from lakekit.contract.predicates import predicate_faults  # noqa: PLC0415  for conditions alone

    for message in predicate_faults(condition, columns):
        yield Fault(("history", "apply_as_deletes"), message)
