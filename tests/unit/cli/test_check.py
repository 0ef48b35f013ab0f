"""`lakekit check`, in this process."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lakekit.cli.main import app

CONTRACT = Path("tests/project/config/contracts/customers.yaml")
SOURCE = Path("tests/project/config/sources/shop_api.yaml")


def check(*files: Path) -> Result:
    return CliRunner().invoke(app, ["check", *map(str, files)])


def faults(result: Result) -> str:
    """Return the faults without their lines and columns, which have a test of their own."""
    return re.sub(r"(\.ya?ml):\d+:\d+", r"\1", result.stderr)


def test_says_ok_of_the_contracts_and_sources_of_this_repository() -> None:
    files = [*SOURCE.parent.glob("*.yaml"), *CONTRACT.parent.glob("*.yaml")]

    assert check(*files).stdout.splitlines() == [f"{file}: ok" for file in files]


@pytest.mark.parametrize(
    ("original", "old", "new", "fault"),
    [
        (SOURCE, "http://127.0.0.1:8080", "http://example.org", "base_url: must use https"),
        (SOURCE, "base_url:", "base_ur:", "did you mean 'base_url'"),
        (CONTRACT, "contract: customers", "contrac: airports", "did you mean 'contract'"),
        (CONTRACT, "keys: [id]", "keys: [nope]", "'nope' is not a column"),
        (CONTRACT, "keys: [id]", "keys: [id]\n  apply_as_deletes: name", "name is string, not"),
    ],
)
def test_reports_a_fault_in_the_words_of_the_files_kind(
    tmp_path: Path, original: Path, old: str, new: str, fault: str
) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(original.read_text().replace(old, new))

    result = check(SOURCE, bad)

    assert (result.exit_code, result.stdout) == (1, f"{SOURCE}: ok\n")
    assert fault in result.stderr


def test_a_fault_has_the_line_and_column_of_its_field(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("source: shop\nbase_url: https://a.org\nauth:\n  type: bearer\n  token: x\n")

    assert check(bad).stderr.splitlines() == [
        f"{bad}:5:3: auth.token: unknown field; did you mean 'secret'?",
        f"{bad}:3:1: auth.secret: Field required",
    ]


def test_prints_a_line_for_each_fault_of_a_contract(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    text = CONTRACT.read_text().replace("keys: [id]", "keys: [nope, lat]\n  sequence_by: nope2")
    bad.write_text(text.replace("{name: iata, type: string", "{name: iata, type: strng"))

    assert faults(check(bad)).splitlines() == [
        f"{bad}: schema.3.type: 'strng' is not a Spark SQL type: 'strng' is unknown",
        f"{bad}: history.keys: 'nope' is not a column of the schema",
        f"{bad}: history.keys: 'lat' is double, which cannot be a key",
        f"{bad}: history.sequence_by: 'nope2' is not a column of the schema",
    ]


def test_names_line_and_column_of_each_fault(tmp_path: Path) -> None:
    text = CONTRACT.read_text().replace("keys: [id]", "keys: [id, nope]\n  modus: scd2")
    bad = tmp_path / "bad.yaml"
    bad.write_text(text.replace("iata, type: string", "iata, type: strng"))
    lines = bad.read_text().splitlines()

    named = [line.removeprefix(f"{bad}:").split(": ")[:2] for line in faulty(check(bad))]

    for place, path in named:
        row, column = map(int, place.split(":"))
        last = path.split(".")[-1]
        assert lines[row - 1][column - 1 :].startswith("nope" if last.isdigit() else last), path
    assert len(named) == 3


def faulty(result: Result) -> list[str]:
    return result.stderr.splitlines()


@pytest.mark.parametrize(
    ("original", "kind", "name"),
    [(CONTRACT, "contract", "customers"), (SOURCE, "source", "shop_api")],
)
def test_reports_a_name_by_which_no_run_finds_the_file(
    tmp_path: Path, original: Path, kind: str, name: str
) -> None:
    other = tmp_path / f"{kind}s" / f"{name}.yml"
    other.parent.mkdir()
    other.write_text(original.read_text())
    (tmp_path / "sources").mkdir(exist_ok=True)
    (tmp_path / "sources/shop_api.yaml").touch()

    result = check(other)

    assert result.exit_code == 1
    assert faults(result) == (
        f"{other}: {kind}: is '{name}'; name the file {name}.yaml or change it\n"
    )


@pytest.mark.parametrize(
    ("base_url", "path", "fault"),
    [
        (
            "",
            "path: /orders",
            "the source shop has no base_url, so files alone; leave out the path",
        ),
        ("base_url: https://shop.example", "extract: full", "is missing: the source shop has a"),
        ("", "extract: full", ""),
    ],
)
def test_a_contract_has_a_path_if_its_source_has_an_address(
    tmp_path: Path, base_url: str, path: str, fault: str
) -> None:
    for name in ("contracts", "sources"):
        (tmp_path / name).mkdir()
    (tmp_path / "sources/shop.yaml").write_text(f"source: shop\n{base_url}\n")
    contract = tmp_path / "contracts/orders.yaml"
    contract.write_text(
        f"contract: orders\nsource: shop\nendpoint: {{{path}}}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )

    result = check(contract)

    assert result.exit_code == bool(fault)
    assert f"endpoint.path: {fault}" in result.stderr if fault else not result.stderr


@pytest.mark.parametrize(
    ("sources", "hint"),
    [
        (["shop_ap", "other"], "did you mean 'shop_ap'?"),
        (["other"], "there are other"),
        ([], "there are none"),
    ],
)
def test_reports_a_contract_whose_source_has_no_file(
    tmp_path: Path, sources: list[str], hint: str
) -> None:
    contract = tmp_path / "contracts/customers.yaml"
    for each in [contract, *(tmp_path / f"sources/{name}.yaml" for name in sources)]:
        each.parent.mkdir(exist_ok=True)
        each.write_text(CONTRACT.read_text())

    assert f"source: there is no sources/shop_api.yaml; {hint}" in check(contract).stderr


def test_a_file_outside_the_configuration_may_have_any_name(tmp_path: Path) -> None:
    other = tmp_path / "draft.yaml"
    other.write_text(CONTRACT.read_text())

    assert check(other).stdout == f"{other}: ok\n"


@pytest.mark.parametrize(
    ("history", "name", "clashes"),
    [
        ("keys: [id]", "orders_quarantine", True),
        ("keys: [id], sequence_by: at", "orders_journal", True),
        ("keys: [id]", "orders__rebuild", True),
        ("keys: [id]", "orders__rebuild_quarantine", True),
        ("keys: [id]", "other__rebuild", False),
        ("keys: [id]", "orders_journal", False),
        ("keys: [id], sequence_by: at", "other_journal", False),
    ],
)
def test_reports_a_contract_that_is_named_as_a_journal_or_quarantine_of_another_one(
    tmp_path: Path, history: str, name: str, clashes: bool
) -> None:
    text = (
        "contract: orders\nsource: shop\nendpoint: {path: /p}\n"
        "schema: [{name: id, type: int}, {name: at, type: timestamp}]\n"
    )
    one, other = tmp_path / "orders.yaml", tmp_path / "other.yaml"
    one.write_text(f"{text}history: {{{history}}}\n")
    other.write_text(one.read_text().replace("contract: orders", f"contract: {name}"))

    result = check(one, other)

    why = f"'{name}' is the name of a table that Lakekit derives from 'orders'; choose another name"
    assert faults(result) == (f"{other}: contract: {why}\n" if clashes else "")
    assert f"{one}: ok" in result.stdout


BASE = 'account: "111111111111"\nregion: eu-west-1\n'


def configuration(folder: Path, **files: str) -> dict[str, Path]:
    """Write `base` and other environments, and the source `shop`, where a run finds them."""
    paths = {}
    for name, text in files.items():
        kind = "sources" if name == "shop" else "environments"
        paths[name] = folder / kind / f"{name}.yaml"
        paths[name].parent.mkdir(exist_ok=True)
        paths[name].write_text(text)
    return paths


def test_says_ok_of_the_environments_of_this_repository() -> None:
    files = list(Path("tests/project/config/environments").glob("*.yaml"))

    assert check(*files).stdout.splitlines() == [f"{file}: ok" for file in files]


@pytest.mark.parametrize(
    ("own", "fault"),
    [
        ("prefix: aws", "prefix: 'aws' is reserved by AWS"),
        ("prefix: a-b", "prefix: must be lower-case letters and digits"),
        (f"prefix: {'p' * 30}", "has 65 characters, and the name of a bucket has 63 at most"),
        ("storage: {database: default}", "'default' is taken by AWS or Spark"),
        ("jobs: {timeout_minutes: 0}", "jobs.timeout_minutes: Input should be greater"),
    ],
)
def test_reports_what_is_wrong_with_an_environment(tmp_path: Path, own: str, fault: str) -> None:
    files = configuration(tmp_path, base=BASE, dev=own)

    result = check(*files.values())

    assert (result.exit_code, result.stdout) == (1, f"{files['base']}: ok\n")
    assert fault in result.stderr


VPC = """network:
  vpc_id: vpc-0123456789abcdef0
  subnets: {eu-west-1a: subnet-0123456789abcdef0, us-east-1b: subnet-0123456789abcdef1}
"""


@pytest.mark.parametrize(
    ("own", "place", "fault"),
    [
        ("account: '1234'", "2:1", "account: must be the 12 digits of an account of AWS"),
        ("account: 111111111111", "2:1", "account: must be text, but YAML reads it as 1111"),
        ("region: us-gov-west-1", "2:1", "region: 'us-gov-west-1' is not a region that is known"),
        (VPC, "4:51", "network.subnets.us-east-1b: is not a zone of eu-west-1; the VPC of"),
        ("network: vpc", "2:1", "network.cidr: 10.0.0.0/16 overlaps 10.0.0.0/18 of dev; give"),
        ("tags: {owner: me}", "2:8", "tags.owner: unknown field"),
        ("tags:\n  free: {'aws:x': a}", "3:10", "tags.free.aws:x: what begins with aws: is a tag"),
        ("budget: {monthly_usd: 5}", "2:1", "budget: nobody would hear of it; name an address"),
        ("production: true", "base.yaml", "notify: qa is production, and nobody would hear of"),
    ],
)
def test_what_no_account_would_accept_is_a_fault_with_its_place(
    tmp_path: Path, own: str, place: str, fault: str
) -> None:
    files = configuration(
        tmp_path, base=BASE, dev="network: {cidr: 10.0.0.0/18}", qa=f"# qa\n{own}\n"
    )

    found = check(*files.values()).stderr

    where = f"{files['base'].with_name(place)}" if "yaml" in place else f"{files['qa']}:{place}"
    assert f"{where}: {fault}" in found
    assert len(found.splitlines()) == 1


def test_reports_what_is_wrong_with_what_all_environments_share(tmp_path: Path) -> None:
    files = configuration(tmp_path, base="regio: eu-west-1\n")

    assert faults(check(files["base"])) == (
        f"{files['base']}: regio: unknown field; did you mean 'region'?\n"
    )


def test_reports_environments_that_share_a_database(tmp_path: Path) -> None:
    shared = "storage: {database: lake}"
    files = configuration(tmp_path, base=BASE, dev=shared, qa=shared)

    result = check(*files.values())

    assert result.stdout == f"{files['base']}: ok\n{files['dev']}: ok\n"
    assert faults(result).startswith(f"{files['qa']}: storage.database: 'lake' is the database of")


@pytest.mark.parametrize(
    ("rest", "fault"),
    [
        ("environments: [prd]", "environments: there is no prd; there are dev"),
        (
            "auth: {type: bearer, secret: other/key}",
            "auth.secret: must begin with lakekit/dev/ to be read in dev",
        ),
        (
            "schedule: {expression: rate(1 day), time_zone: Europe/Londn}",
            "schedule.time_zone: 'Europe/Londn' is not a time zone of the IANA database",
        ),
        ("schedule: cron(60 6 * * ? *)", "schedule: cron: '60' cannot be the minutes: 0 to 59"),
    ],
)
def test_reports_a_source_that_its_environments_cannot_have(
    tmp_path: Path, rest: str, fault: str
) -> None:
    text = f"source: shop\nbase_url: https://a.org\n{rest}\n"
    files = configuration(tmp_path, base=BASE, dev="", shop=text)
    files["dev"].write_text("schedules: true\n")

    assert faults(check(files["shop"])) == f"{files['shop']}: {fault}\n"


def test_reports_a_name_that_is_longer_than_anything_that_is_named_by_it(tmp_path: Path) -> None:
    """EventBridge Scheduler takes 64 characters."""
    file = tmp_path / "draft.yaml"
    file.write_text(f"source: {'s' * 63}\nbase_url: https://a.org\n")
    assert check(file).exit_code == 0

    file.write_text(file.read_text().replace("source: ", "source: s"))
    assert faults(check(file)) == (
        f"{file}: source: must be at most 63 lower-case letters, digits and _, a letter first\n"
    )


def test_reports_a_file_that_is_not_there() -> None:
    assert "No such file" in check(Path("nowhere.yaml")).stderr


CHILD = """
contract: {name}
source: shop
endpoint: {{path: "/orders/{{parent.id}}/items", parent: {{table: {table}, fields: {{id: $.id}}}}}}
schema: [{{name: id, type: bigint, from: $.parent.id}}]
history: {{keys: [id]}}
"""


def test_reports_parents_that_there_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "contracts"
    folder.mkdir()
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources/shop.yaml").write_text("source: shop\nbase_url: https://shop.example\n")
    orders, items, taxes = (folder / f"{name}.yaml" for name in ("orders", "items", "taxes"))
    items.write_text(CHILD.format(name="items", table="orders"))
    taxes.write_text(CHILD.format(name="taxes", table="taxes"))

    assert "there is no contract 'orders'" in check(items).stderr
    assert "'taxes' is among its own parents" in check(taxes).stderr

    orders.write_text("contract: orders\nsource: shop\n")  # has faults of its own
    assert check(items).stdout == f"{items}: ok\n"


def test_environments_are_checked_among_each_other_and_against_the_sources(tmp_path: Path) -> None:
    def write(path: str, text: str) -> Path:
        file = tmp_path / "config" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    write("environments/base.yaml", "region: eu-west-1\nnetwork: vpc\n")
    write("sources/shop.yaml", "source: shop\nbase_url: https://a.org\n")
    dev = write("environments/dev.yaml", "account: '111111111111'\nsmoke: shop\n")
    qa = write(
        "environments/qa.yaml", "account: '222222222222'\nsmoke: sop\nregion: us-gov-east-1\n"
    )
    both = write("environments/test.yaml", "account: '222222222222'\nsmoke: sop\n")

    lines = check(dev, qa, both).stderr.splitlines()

    assert lines == [
        f"{qa}:3:1: region: 'us-gov-east-1' is not a region that is known to have "
        "Glue 5.1; did you mean 'us-east-1'?",
        f"{both}:2:1: smoke: test has no source 'sop'; there are shop",
        f"{both}:1:1: network.cidr: 10.0.0.0/16 overlaps 10.0.0.0/16 of dev; give each network of "
        "a project a range of its own, so that they can be connected",
    ]
