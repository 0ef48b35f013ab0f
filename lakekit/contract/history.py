"""The history section of a contract: how versions of a key are kept, and what follows from it."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from lakekit.contract.checks import FILE_POSITION, option_faults, refuse
from lakekit.models import ColumnName, Model

Ratio = Annotated[float, Field(ge=0, le=1)]


class History(Model):
    """How versions of a key are kept. The words are those of Spark's Auto CDC where it has them."""

    mode: Literal["scd2", "scd1", "append"] = "scd2"
    keys: tuple[ColumnName, ...] = ()
    sequence_by: ColumnName | None = None
    track_history_columns: tuple[ColumnName, ...] | None = None
    track_history_except: tuple[ColumnName, ...] = ()
    untracked: Literal["overwrite", "ignore"] = "overwrite"
    apply_as_deletes: str | None = None
    ignore_null_updates: bool = False
    except_columns: tuple[ColumnName, ...] = ()
    deletes: Literal["close", "ignore", "mark"] = "close"
    delete_scope: tuple[ColumnName, ...] = ()
    max_deleted_ratio: Ratio = 0.2
    tie_break: tuple[ColumnName, ...] = (FILE_POSITION,)
    late_changes: Literal["exact", "quarantine", "ignore"] = "exact"
    null_keys: Literal["quarantine", "fail"] = "quarantine"
    new_column: Literal["keep", "reversion"] = "keep"

    @field_validator("tie_break", mode="before")
    @classmethod
    def _is_a_list(cls, value: object) -> object:
        if isinstance(value, str):
            raise ValueError(
                "must be a list of columns, the deciding one first: [n, file_position]"
            )
        return value

    @model_validator(mode="after")
    def _options_agree(self) -> Self:
        refuse(option_faults(vars(self)))
        return self

    @property
    def exact(self) -> bool:
        """Whether versions depend on the set of records only, however late some of them come."""
        ordered = self.sequence_by is not None
        return ordered and self.mode == "scd2" and self.late_changes == "exact"

    @property
    def rejects_late(self) -> bool:
        """Whether late records are kept out, though they may say what no other record does."""
        return self.sequence_by is not None and self.late_changes != "exact"

    @property
    def keeps_journal(self) -> bool:
        """Whether there are change events to keep that no version shows."""
        return self.sequence_by is not None and self.mode != "append"

    @property
    def ordered_by_extraction(self) -> bool:
        """Whether a record is as old as its extract."""
        return self.sequence_by is None and self.mode != "append"
