"""Sample rows of a preview, for people and for programs."""

import json
from datetime import datetime

import pytest

from lakekit.cli.output import render_samples, to_json

FIRST, LAST = datetime.min, datetime.max
SEEN = {"at": FIRST, "by": {"x": LAST}}


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ({"key": {"born": FIRST}, "at": LAST}, ["born=0001-01-01T00:00:00", LAST.isoformat()]),
        ({"changes": {"born": {"old": None, "new": FIRST}}}, ["born: null → 0001-01-01T00:00:00"]),
        ({"changes": {"born": {"new": FIRST}}}, ["born=0001-01-01T00:00:00"]),
        (
            {"changes": {"seen": {"old": {"by": {}}, "new": SEEN}}},
            ['seen: {"by": {}} → {"at": "0001-01-01T00:00:00", "by": {"x": "9999-12-31T23:59:59.'],
        ),
        (
            {"row": {"born": FIRST, "seen": SEEN, "tags": {"old": 1, "new": 2}}},
            [
                'born=0001-01-01T00:00:00, seen={"at": "0001-01-01T00:00:00",',
                '{"old": 1, "new": 2}',
            ],
        ),
    ],
)
def test_sample_rows_are_tables_of_their_values(row, cells):
    text = render_samples({"opened": [row]})

    assert all(cell in text for cell in cells)


def test_times_at_every_depth_are_iso_texts():
    parsed = json.loads(to_json({"changes": {"seen": {"new": SEEN}}}))

    assert parsed["changes"]["seen"]["new"] == {
        "at": "0001-01-01T00:00:00", "by": {"x": "9999-12-31T23:59:59.999999"},
    }  # fmt: skip
