"""The data contract of one table: what a person writes, validated once, then trusted."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from lakekit.endpoints import Endpoint
from lakekit.models import FileModel, Model, Name
from lakekit.sqltypes import SqlType, parse_type

CONTROL_COLUMNS = (
    "_ingested_at", "_source_file", "_is_current", "_valid_from", "_valid_to", "_row_hash",
)  # fmt: skip
RESERVED = {*CONTROL_COLUMNS, "_is_deleted", "_raw", "_fault", "_position", "_corrupt_record"}
ColumnName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
Ratio = Annotated[float, Field(ge=0, le=1)]


class Column(Model):
    """One column; `type` is any Spark SQL DDL type."""

    name: ColumnName
    type: str
    required: bool = False
    description: str = ""

    @field_validator("type")
    @classmethod
    def _is_a_type(cls, text: str) -> str:
        return str(parse_type(text))

    @field_validator("name")
    @classmethod
    def _is_not_reserved(cls, name: str) -> str:
        if name.lower() in RESERVED:
            raise ValueError(f"'{name}' is a control column of Lakekit; choose another name")
        return name

    @property
    def sql_type(self) -> SqlType:
        """The parsed type."""
        return parse_type(self.type)


class History(Model):
    """How versions of a key are kept."""

    mode: Literal["scd2"] = "scd2"
    keys: Annotated[tuple[ColumnName, ...], Field(min_length=1)]
    deletes: Literal["close", "ignore"] = "close"
    max_deleted_ratio: Ratio = 0.2


class Quality(Model):
    """What share of a run's records may be rejected before the run fails."""

    max_rejected_ratio: Ratio = 0.01


class Table(Model):
    """Extra partition transforms and Iceberg properties."""

    partition_by: tuple[str, ...] = ()
    properties: dict[str, str] = Field(default_factory=dict)


class Snapshots(Model):
    """How long snapshots are kept."""

    max_age_days: Annotated[int, Field(ge=1)] = 7
    min_to_keep: Annotated[int, Field(ge=1)] = 5


class Maintenance(Model):
    """When a table asks for compaction and expiry."""

    target_file_size_mb: Annotated[int, Field(ge=1, le=2048)] = 128
    small_files_threshold: Annotated[int, Field(ge=2)] = 12
    snapshots: Snapshots = Snapshots()


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

    @model_validator(mode="after")
    def _columns_agree(self) -> Self:
        names = [column.name.lower() for column in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"schema: {', '.join(twice)} stands twice (case does not count)")
        known = {column.name: column for column in self.columns}
        for key in self.history.keys:
            if key not in known:
                raise ValueError(f"history.keys: '{key}' is not a column of the schema")
            if known[key].sql_type.name in ("array", "map", "struct", "double", "float", "binary"):
                raise ValueError(
                    f"history.keys: '{key}' is {known[key].type}, which cannot be a key"
                )
        if len(set(self.history.keys)) < len(self.history.keys):
            raise ValueError("history.keys: a column stands twice")
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """The natural key."""
        return self.history.keys

    @property
    def tracked(self) -> tuple[str, ...]:
        """The columns whose change opens a new version."""
        return tuple(c.name for c in self.columns if c.name not in self.history.keys)


def load_contract(text: str, *, name: str = "contract") -> Contract:
    """Parse one contract; see `FileModel.from_yaml` for errors."""
    return Contract.from_yaml(text, name=name)
