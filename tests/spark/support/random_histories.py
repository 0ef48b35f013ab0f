"""Random histories of many keys at once: each run carries a piece of every key's history."""

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from tests.model.terms import BAD, Record, Run, canon
from tests.spark.support.combinations import Combination

TICK = timedelta(microseconds=1)
NAMES = [None, "", "a", "A", "\u00e4", "a\u0308", "null", "a|b", "\u0000", "\U0001f701", " a", "a "]
PRICES = [None, Decimal(0), Decimal("1.1"), Decimal("-7.125"), Decimal("123456789.001")]
SCORES = [None, 0.0, -0.0, 1.5, -1e-300, 1.7976931348623157e308]
PLACES = [
    None,
    {"x": None, "note": None},
    {"x": -0.0, "note": ""},
    {"x": 1.5, "note": "null"},
]
TAGS = [None, [], [None], ["a", "b"], ["b", "a"], ["a,b"], [""]]
PROPS = [None, {}, {"a": None}, {"a": 1}, {"a": 1, "b": 2}, {"a,b": 1}]
TWINS: dict[Any, Any] = {
    canon(Decimal("1.1")): Decimal("1.100"),
    canon(PLACES[2]): {"x": 0.0, "note": ""},
    canon(PROPS[4]): {"b": 2, "a": 1},
    canon(0.0): -0.0,
}


def extraction_time(number: int) -> datetime:
    """Return the extraction time of a run, counted from 0."""
    return datetime(2026, 1, 2) + timedelta(days=number, microseconds=number)


def random_runs(combination: Combination, seed: int, *, keys: int, runs: int = 4) -> list[Run]:
    """Return the runs of one table, in the order in which they arrive."""
    chance = random.Random(f"{combination.name}-{seed}")
    palettes = [[_content(chance) for _ in range(3)] for _ in range(keys)]
    kinds: list[Any] = [*combination.kinds, *chance.choices(combination.kinds, k=runs)][:runs]
    chance.shuffle(kinds)
    made = []
    for number, kind in enumerate(kinds):
        counts = [0, 1, 1, 1, 2, 3] if kind == "full" else [0, 0, 0, 1, 1, 2, 3]
        records = []
        for key, palette in enumerate(palettes):
            records += [
                _record(chance, combination, number, (key, palette))
                for _ in range(chance.choice(counts))
            ]
            if records and chance.random() < 0.1:
                records.append(dict(chance.choice(records[-3:])))
        if kind == "full" and combination.options.delete_scope:
            held = chance.sample([*"xyz", None], chance.choice([2, 3, 4]))
            records = [record for record in records if record["region"] in held]
        chance.shuffle(records)
        made.append(Run(kind, extraction_time(number), records))
    if not combination.ties:
        made = _untied(made, combination)
    if combination.late:
        chance.shuffle(made)
    return made


def recut(runs: list[Run], seed: int) -> list[Run]:
    """Return the same records of the same kinds in another order, cut into two to four runs."""
    chance = random.Random(seed)
    made: list[Run] = []
    for kind in sorted({run.kind for run in runs}):
        records = [record for run in runs if run.kind == kind for record in run.records]
        chance.shuffle(records)
        cuts = chance.sample(range(len(records)), chance.choice([1, 2, 3]))
        edges = [0, *sorted(cuts), len(records)]
        made += [
            Run(kind, extraction_time(10 + len(made) + number), records[start:end])
            for number, (start, end) in enumerate(pairwise(edges))
        ]
    chance.shuffle(made)
    return made


def _content(chance: random.Random) -> Record:
    pools = {"name": NAMES, "price": PRICES, "score": SCORES, "place": PLACES}
    pools |= {"tags": TAGS, "props": PROPS}
    return {name: chance.choice(pool) for name, pool in pools.items()}


def _record(
    chance: random.Random,
    combination: Combination,
    number: int,
    of: tuple[int, list[Record]],
) -> Record:
    """Return one record of a key: an earlier one, or nearly so."""
    key, palette = of
    values = dict(chance.choice(palette))
    if chance.random() < 0.3:
        one = chance.choice(list(values))
        values[one] = None if chance.random() < 0.5 else _content(chance)[one]
    if chance.random() < 0.3:
        values = {name: TWINS.get(canon(value), value) for name, value in values.items()}
    nowhere = [] if "region" in combination.options.keys else [None]
    record = {
        "region": chance.choice([*"xyz"[: 1 + key % 3], *nowhere]),
        "id": key,
        "at": _event_time(chance, combination, number),
        "op": chance.choice(["D", "U", "U", None]),
        "n": chance.choice([None, 1, 2]),
        **values,
        "seen": chance.choice([None, 1, 2]),
    }
    if combination.faults and chance.random() < 0.1:
        fault = chance.choice(["id", "at", "n"])
        record[fault] = BAD if fault == "n" else None
    return record


def _event_time(chance: random.Random, combination: Combination, number: int) -> datetime | date:
    time = extraction_time(number)
    if combination.late:
        other = extraction_time(chance.randrange(4))
        pool = [
            datetime(1, 1, 1),
            datetime(1, 1, 1) + TICK,
            datetime(1969, 12, 31, 23, 59, 59, 999999),
            *(other - timedelta(hours=12), other - TICK, other, other + TICK),
            datetime(9999, 12, 31, 23, 59, 59, 999999),
        ]
    else:
        pool = [time - timedelta(hours=6), time - TICK, time - 2 * TICK, time]
    event_time = chance.choice(pool)
    return event_time.date() if combination.columns["at"] == "date" else event_time


def _untied(runs: list[Run], combination: Combination) -> list[Run]:
    """Give all records of one key and event time one content."""
    names = combination.options.keys
    order = (combination.options.sequence_by,) if combination.options.sequence_by else ()
    first: dict[Any, Record] = {}

    def first_said(run: Run, record: Record) -> Record:
        place = tuple(canon(record[name]) for name in (*names, *order))
        return first.setdefault(place if order else (run.time, place), record)

    return [Run(run.kind, run.time, [first_said(run, r) for r in run.records]) for run in runs]


def untied(runs: list[Run], combination: Combination) -> list[Run]:
    """Give all records of one key and event time one content, so that no order matters."""
    return _untied(runs, combination)
