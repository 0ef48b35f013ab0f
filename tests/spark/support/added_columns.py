"""Contracts to which columns are added."""

from tests.spark.support.late import cdc

ZIP = {"columns": {"zip": "string"}, "track_history_columns": ["name", "zip"]}


def with_zip(**changes):
    """The contract with one more tracked column."""
    return cdc(**{**ZIP, **changes})


WITH_ZIP = with_zip()


def contracts(**options):
    """The contract with some options: without the column, and with it."""
    return cdc(**options), with_zip(**options)
