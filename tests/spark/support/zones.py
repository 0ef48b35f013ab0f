"""The zones of Python's process and of Spark's session, moved for one test."""

import time

import pytest


@pytest.fixture
def zoned(spark, monkeypatch):
    """Move the process and the session to zones of their own."""

    def move(process, session):
        monkeypatch.setenv("TZ", process)
        time.tzset()
        spark.conf.set("spark.sql.session.timeZone", session)

    yield move
    monkeypatch.undo()
    time.tzset()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
