"""How a table fares by its metadata, and what maintenance did to it."""

from lakekit.models import Model

# Share of the target size below which a data file is small.
SMALL = 0.75


class Health(Model):
    """What the metadata tables say, without reading data.

    small_files: data files below three quarters of the target size, in the partition that has
    most of them. delete_files, manifests: of the current snapshot. expirable: snapshots beyond
    both limits of the contract.
    """

    data_files: int
    small_files: int
    delete_files: int
    manifests: int
    snapshots: int
    expirable: int


class Maintained(Model):
    """What maintenance did to one Iceberg table, and its health before and after."""

    table: str
    actions: tuple[str, ...]
    before: Health
    after: Health
