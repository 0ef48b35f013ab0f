"""Where the next runs of incremental tables begin, and how a person changes it."""

from collections.abc import Iterable

from pydantic import AwareDatetime

from lakekit.contract.contract import Contract
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.landing.watermark import Watermark, read_watermark
from lakekit.models import Model
from lakekit.ports import ObjectStore


class TableWatermark(Model):
    """The watermark of one table.

    by, type: what the contract says. value: where the next run begins, before looking back.
    is_stored: false as long as no landing is complete: then the value is the contract's start.
    reached_by: the landing that reached it. set_by: the person who set it instead. stored_as: what
    was measured, if the contract says something else by now; the next run fails then.
    """

    source: str
    table: str
    by: str
    type: str
    value: str
    is_stored: bool
    changed_at: AwareDatetime | None = None
    reached_by: str | None = None
    set_by: str | None = None
    stored_as: str | None = None


def contract_named(contracts: Iterable[Contract], name: str) -> Contract:
    """Return the contract of SOURCE.TABLE.

    Raises:
        InvalidStepInputError: The name has another form.
        UnknownSourceError: There is no such contract.
    """
    source, point, table = name.partition(".")
    if not (source and point and table):
        raise InvalidStepInputError(f"{name}: write SOURCE.TABLE, such as shop_api.orders")
    for each in contracts:
        if (each.source, each.contract) == (source, table):
            return each
    raise UnknownSourceError(f"{name}: the project's folder has no such contract")


def table_watermarks(store: ObjectStore, contracts: Iterable[Contract]) -> list[TableWatermark]:
    """Return the watermarks of the tables that are incremental."""
    return [
        watermark_of(each, read_watermark(store, each.source, each.contract))
        for each in contracts
        if each.endpoint.incremental
    ]


def watermark_of(contract: Contract, stored: Watermark | None) -> TableWatermark:
    """Return what is known of the watermark of an incremental table."""
    incremental = contract.endpoint.incremental
    assert incremental  # noqa: S101
    found = TableWatermark(
        source=contract.source, table=contract.contract, by=incremental.by,
        type=incremental.type, value=incremental.begin, is_stored=False,
    )  # fmt: skip
    if stored is None:
        return found
    other = None if stored.is_of(incremental) else f"{stored.type} of {stored.by}"
    return found.model_copy(
        update={
            "value": stored.value, "is_stored": True, "changed_at": stored.changed_at,
            "reached_by": stored.manifest, "set_by": stored.set_by, "stored_as": other,
        }
    )  # fmt: skip
