"""The data contract of one table: what a person writes, validated once, then trusted."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from lakekit.contract.checks import (
    NamedType,
    column_faults,
    extract_faults,
    fit_faults,
    refuse,
    table_faults,
)
from lakekit.contract.document_checks import document_faults
from lakekit.contract.endpoint import Endpoint
from lakekit.contract.endpoint.parent import RECORD
from lakekit.contract.endpoint.paths import path_of
from lakekit.contract.fields import (
    FieldPath,
    Steps,
    child_field_faults,
    field_steps,
    types_by_field,
)
from lakekit.contract.files import Files, file_faults, header_faults
from lakekit.contract.history import History, Ratio
from lakekit.contract.partitions import PartitionField, PartitionText, parse_partition_field
from lakekit.contract.sqltypes import SqlType, parse_type
from lakekit.models import ColumnName, Fault, FileModel, Model, Name, Path

CONTROL_COLUMNS = (
    "_ingested_at", "_source_file", "_is_current", "_valid_from", "_valid_to", "_row_hash",
)  # fmt: skip
RESERVED = {
    *CONTROL_COLUMNS, "_line_hash", "_line_check", "_is_deleted", "_raw", "_raw_bytes", "_fault",
    "_position", "_corrupt_record", "_sequence", "_op", "_scopes", "_run_id", "_arrival",
}  # fmt: skip


class Column(Model):
    """One column; `type` is any Spark SQL DDL type.

    from_: the field of a record that it is read from, if that has another name. sensitive: whether
    it is hidden from analysts.
    """

    name: ColumnName
    type: str
    required: bool = False
    sensitive: bool = False
    description: str = ""
    renamed_from: ColumnName | None = None
    from_: FieldPath | None = Field(default=None, alias="from")

    @field_validator("type")
    @classmethod
    def _is_a_type(cls, text: str) -> str:
        return str(parse_type(text))

    @field_validator("name")
    @classmethod
    def _is_not_reserved(cls, name: str) -> str:
        if name.lower() in RESERVED or name.startswith("__"):
            raise ValueError(f"'{name}' is a control column of Lakekit; choose another name")
        return name

    @property
    def sql_type(self) -> SqlType:
        """The parsed type."""
        return parse_type(self.type)

    @property
    def steps(self) -> Steps:
        """The names that lead from a record to its field."""
        return field_steps(self.from_) if self.from_ else (self.name,)


class Quality(Model):
    """What share of a run's records may be rejected before the run fails."""

    max_rejected_ratio: Ratio = 0.01


class Table(Model):
    """Extra partition fields and Iceberg properties."""

    partition_by: tuple[PartitionText, ...] = ()
    properties: dict[str, str] = Field(default_factory=dict)

    @property
    def partition_fields(self) -> tuple[PartitionField, ...]:
        """The parsed partition fields."""
        return tuple(map(parse_partition_field, self.partition_by))


class Snapshots(Model):
    """How long snapshots are kept."""

    max_age_days: Annotated[int, Field(ge=1)] = 7
    min_to_keep: Annotated[int, Field(ge=1)] = 5


class Maintenance(Model):
    """When a table asks for compaction and expiry."""

    target_file_size_mb: Annotated[int, Field(ge=1, le=2048)] = 128
    small_files_threshold: Annotated[int, Field(ge=2)] = 12
    snapshots: Snapshots = Snapshots()


def history_faults(history: History, columns: Sequence[Column]) -> Iterator[Fault]:
    """Yield what of a history section does not fit the schema."""
    return fit_faults(vars(history), named_types(columns))


def named_types(columns: Sequence[Column]) -> list[NamedType]:
    """Return what is checked of columns."""
    return [NamedType(column.name, column.sql_type) for column in columns]


class Contract(FileModel):
    """The promise about one table."""

    contract: Name
    version: Annotated[int, Field(ge=1)] = 1
    description: str = ""
    source: Name
    endpoint: Endpoint
    columns: Annotated[tuple[Column, ...], Field(alias="schema", min_length=1)]
    history: History
    quality: Quality = Quality()
    table: Table = Table()
    maintenance: Maintenance = Maintenance()
    files: Files = Files()

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        types, history = named_types(self.columns), self.history
        split = table_faults(self.table.partition_by, types, history.except_columns)
        extract = extract_faults(self.endpoint.extract, vars(history))
        faults = [*column_faults(types), *history_faults(history, self.columns), *extract]
        given = self.files.model_dump(exclude_unset=True, exclude_none=True)
        fields = [column.steps for column in self.columns]
        files = file_faults(given, self.endpoint.extract, vars(history), fields)
        keys = [column.steps[0] for column in self.columns if column.name in history.keys]
        parent = self.endpoint.parent
        faults += child_field_faults(fields, parent.names) if parent else ()
        refuse([*faults, *split, *files, *header_faults(self.files.columns, keys)])
        return self

    @classmethod
    def faults_between(
        cls, document: Mapping[str, Any], broken: Collection[Path]
    ) -> Iterator[Fault]:
        """Yield what does not fit together in a contract; see `FileModel`."""
        return document_faults(document, broken, vars(History.model_construct()))

    @property
    def keys(self) -> tuple[str, ...]:
        """The natural key."""
        return self.history.keys

    @property
    def key_steps(self) -> tuple[Steps, ...]:
        """Where a record has its natural key."""
        return tuple(self.column(name).steps for name in self.keys)

    @property
    def field_types(self) -> dict[str, SqlType]:
        """The type of each field of a record that a column is read from; see `types_by_field`."""
        return types_by_field([(column.steps, column.sql_type) for column in self.columns])

    @property
    def of_answers(self) -> Self:
        """This contract for records as a source sends them: those of a child without its parent."""
        if self.endpoint.parent is None:
            return self
        columns = tuple(
            column.model_copy(update={"from_": path_of(column.steps[1:])})
            for column in self.columns
            if column.steps[0] == RECORD and len(column.steps) > 1
        )
        there = {column.name for column in columns}
        keys = tuple(name for name in self.keys if name in there)
        history = self.history.model_copy(update={"keys": keys})
        return self.model_copy(update={"columns": columns, "history": history})

    @property
    def stored(self) -> tuple[Column, ...]:
        """The columns that the table has."""
        return tuple(c for c in self.columns if c.name not in self.history.except_columns)

    @property
    def content(self) -> tuple[str, ...]:
        """The names of the stored columns that are not keys."""
        return tuple(c.name for c in self.stored if c.name not in self.keys)

    @property
    def tracked(self) -> tuple[Column, ...]:
        """The columns whose change opens a new version."""
        history = self.history
        if history.track_history_columns is not None:
            return tuple(c for c in self.stored if c.name in history.track_history_columns)
        hidden = {*history.keys, history.sequence_by, *history.track_history_except}
        return tuple(c for c in self.stored if c.name not in hidden)

    @property
    def untracked(self) -> tuple[Column, ...]:
        """The stored columns that are neither key nor tracked."""
        return tuple(c for c in self.stored if c not in self.tracked and c.name not in self.keys)

    @property
    def overwrites(self) -> bool:
        """Whether untracked columns are renewed in place."""
        return self.history.untracked == "overwrite" and bool(self.untracked)

    @property
    def compares_untracked(self) -> bool:
        """Whether untracked columns distinguish records.

        Where they are ignored, only of two at one event time.
        """
        return self.overwrites or (self.history.exact and bool(self.untracked))

    def renames(self, known: Collection[str]) -> dict[str, str]:
        """Return which columns of a table get a new name: the old ones as they are, and the new.

        In an order in which each new name is free: a column may take the name that another leaves.
        """
        have = {name.lower(): name for name in known}
        renamed = {(c.renamed_from or "").lower(): c.name for c in self.stored}
        waiting = {old: new for old, new in renamed.items() if old in have}
        found: dict[str, str] = {}
        taken = {*have}
        while free := {old: new for old, new in waiting.items() if new.lower() not in taken}:
            found |= {have[old]: new for old, new in free.items()}
            taken = (taken | {new.lower() for new in free.values()}) - {*free}
            waiting = {old: new for old, new in waiting.items() if old not in free}
        return found

    def column(self, name: str) -> Column:
        """Return one column of the schema."""
        return next(c for c in self.columns if c.name == name)


def load_contract(text: str, *, name: str = "contract") -> Contract:
    """Parse one contract; see `FileModel.from_yaml` for errors."""
    return Contract.from_yaml(text, name=name)
