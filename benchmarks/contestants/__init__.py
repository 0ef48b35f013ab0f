"""The contestants, by name, each with the environment that it runs in."""

from dataclasses import dataclass
from importlib import import_module

from benchmarks.contestants.base import Contestant, Place

__all__ = ["CONTESTANTS", "CORE", "Contestant", "Entry", "Place", "open_contestant"]


@dataclass(frozen=True)
class Entry:
    """Where a contestant's class is, and what it needs or can.

    Attributes:
        where: Its module and class.
        peer: Whether it needs the peers' virtual environment.
        delta: Whether it needs Delta's jars.
        apart: Whether it is another kind of engine.
        sequence: Whether it takes the time of a change from the record.
    """

    where: str
    peer: bool = False
    delta: bool = False
    apart: bool = False
    sequence: bool = False


CONTESTANTS = {
    "lakekit": Entry("lakekit:Lakekit", sequence=True),
    "article_cow": Entry("article:ArticleCow"),
    "article_mor": Entry("article:ArticleMor"),
    "floor": Entry("floor:Floor", sequence=True),
    "dbt": Entry("dbt:Dbt", peer=True),
    "dbt_mor": Entry("dbt:DbtMor", peer=True),
    "sqlmesh": Entry("sqlmesh:Sqlmesh", peer=True),
    "mack": Entry("mack:Mack", peer=True, delta=True),
    "dlt_duckdb": Entry("dlt_duckdb:DltDuckdb", peer=True, apart=True),
}
CORE = ("lakekit", "article_mor", "floor")


def open_contestant(name: str, place: Place) -> Contestant:
    """Make one contestant; its module is imported only here."""
    module, kind = CONTESTANTS[name].where.split(":")
    found: Contestant = getattr(import_module(f"benchmarks.contestants.{module}"), kind)(place)
    return found
