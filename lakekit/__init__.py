"""Lakekit: REST sources and files into Apache Iceberg tables with exact SCD2 history."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakekit.warehouse.warehouse import Warehouse

__version__ = "0.1.0"
__all__ = ["Warehouse", "__version__"]


def __getattr__(name: str) -> Any:
    """Import `Warehouse` when it is asked for: whoever imports a module of ours does not pay."""
    if name == "Warehouse":
        from importlib import import_module  # noqa: PLC0415

        return import_module("lakekit.warehouse.warehouse").Warehouse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
