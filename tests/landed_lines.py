"""Lines that break a contract, and the reasons; for Spark and for Python."""

from tests.spark.support.people import people

UNREADABLE = "does not parse as the contract's schema"
OF_PATHS = people(
    base={},
    columns={
        "id": {"type": "int", "from": "$.data.id"},
        "name": {"type": "string", "from": "first name"},
        "city": {"type": "string", "from": "$.data['home.town']['`city`']"},
        "said": {"type": "string", "from": "$['it\\'s \"ö\" $']"},
        "seen": {"type": "timestamp", "from": "$.data.seen"},
        "price": {"type": "decimal(4,2)", "from": "$.data.Price"},
        "data": "struct<id: int, tags: array<string>>",
        "id_text": {"type": "string", "from": "$.data.id"},
        "lower": {"type": "int", "from": "$.data.price"},
        "deleted": {"type": "string", "from": "__deleted"},
    },
    quality={"max_rejected_ratio": 1},
)  # fmt: skip
WHOLE = {
    "first name": "Ann", 'it\'s "ö" $': "hi", "__deleted": "no", "name": "not this one",
    "data": {
        "id": 1, "home.town": {"`city`": "Oslo"}, "seen": 1767225600, "Price": 1.25, "price": 7,
        "tags": ["a"],
    },
}  # fmt: skip
OF_PATHS_FAULTS = {
    '{"data":"x"}': "data: does not fit struct<id:int,tags:array<string>>; $.data: is no object",
    '{"data":{"id":2,"home.town":[1]}}': "$.data['home.town']: is no object",
    '{"data":{"id":3,"home.town":"{}"}}': "$.data['home.town']: is no object",
    '{"data":{"id":"x"}}': "id: does not fit int; data.id: does not fit int",
    '{"data":{"id":5,"Price":1.234}}': "price: does not fit decimal(4,2)",
    '{"data":{"id":6,"seen":"1767225600"}}': "seen: does not fit timestamp",
    '{"data":{"id":7,"price":"x"}}': "lower: does not fit int",
    '{"id":8}': "id: required, but null",
    '{"data":null}': "id: required, but null",
    '{"data":{"id":10}} {}': UNREADABLE,
}
KINDS = {
    "n": "int", "at": "timestamp", "born": "date", "price": "decimal(4,2)", "small": "tinyint",
    "tags": "array<int>", "by": "map<string,int>", "a.b": None,
    "home": "struct<street: string, no: int, `x.y`: struct<lat: double>>",
}  # fmt: skip
OF_TYPES = people(
    columns={name: kind for name, kind in KINDS.items() if kind}, quality={"max_rejected_ratio": 1}
)
HOME = "struct<street:string,no:int,`x.y`:struct<lat:double>>"
OF_TYPES_FAULTS = {
    '{"id":1,"n":"x"}': "n: does not fit int",
    '{"id":2,"n":1.5,"born":"soon"}': "n: does not fit int; born: does not fit date",
    '{"id":"x"}': "id: does not fit int",
    '{"id":4,"n":[1]}': "n: does not fit int",
    '{"id":5,"n":99999999999}': "n: does not fit int",
    '{"id":6,"n":true,"small":200}': "n: does not fit int; small: does not fit tinyint",
    '{"id":7,"tags":["x"]}': "tags: does not fit array<int>",
    '{"id":8,"by":{"k":"x"}}': "by: does not fit map<string,int>",
    '{"id":9,"home":7}': f"home: does not fit {HOME}",
    '{"id":10,"home":{"no":"x"}}': "home.no: does not fit int",
    '{"id":11,"home":{"no":1,"x.y":{"lat":"far"}}}': "home.x.y.lat: does not fit double",
    '{"id":12,"price":"1.234"}': "price: does not fit decimal(4,2)",
    '\ufeff{"id":13,"n":"x"}': "n: does not fit int",
    '{"name":"no key"}': "id: required, but null",
    '{"id":15}{"n":"x"}': UNREADABLE,
    '[{"id":16,"n":"x"}]': UNREADABLE,
    "not json": UNREADABLE,
}  # fmt: skip
