"""A record that is not JSON goes through extraction and validation to the quarantine, alone."""

from lakekit.extract.content.json_paths import JsonText
from lakekit.json_text.lines import read_fields
from lakekit.landing.writer import one_line
from tests.spark.support.people import people

CONTRACT = people(columns={"id": "int", "x": "double"}, quality={"max_rejected_ratio": 1})
NONE = (
    r'{"id":1,"v":"\ud83d"}', '{"id":2,"v":NaN}', '{"id":3,"x":-Infinity}', '{"id":4,"v":01}',
    "{'id':5}", '{"id":6,}', '{"id":7,"v":undefined}', '{"id":8,"v":"a\tb"}', '{"id":9,"v":.5}',
    '{"id":10,"v":"a\r\nb"}', f'{{"id":11,"v":{"[" * 600}{"]" * 600}}}', "12", '["id"]', "NaN",
)  # fmt: skip
FAR = '{"id":20,"x":1e400}'
RECORDS = ('{"id":21,"v":1e400}', r'{"id":22,"v":"\ud83d\ude00"}', '{"id":23,\n"x":0.5}')


def test_one_rule_decides_in_extraction_validation_and_merge(load, spark, table):
    body = f'{{"items": [{", ".join([*NONE, FAR, *RECORDS])}]}}'

    cut = JsonText(body.encode()).items(("items",))
    lines = [one_line(each).decode() for each in cut]
    done = load(1, *lines, contract=CONTRACT)

    assert [each.decode() for each in cut] == [*NONE, FAR, *RECORDS]
    assert [read_fields(line.encode()) is None for line in lines] == [True] * len(NONE) + [
        False
    ] * 4
    found = dict(map(tuple, spark.sql(f"SELECT _raw, _fault FROM {table}_quarantine").collect()))
    unreadable = "does not parse as the contract's schema"
    assert found == dict.fromkeys(lines[: len(NONE)], unreadable) | {FAR: "x: does not fit double"}
    assert (done.opened, done.quarantined) == (3, len(NONE) + 1)
