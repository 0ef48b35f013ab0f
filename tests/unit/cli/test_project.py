"""`lakekit init`, `check`, `schema`, `synth` and `--project`, in this process."""

import json
import subprocess
from pathlib import Path
from threading import Event

import pytest
from typer.testing import CliRunner, Result

from lakekit import layout
from lakekit.cli.arguments import project_first
from lakekit.cli.main import app
from lakekit.cli.project import run as run_command
from lakekit.errors import InvalidStepInputError, UnknownSourceError
from lakekit.landing.writer import Progress
from lakekit.local.run.place import LocalPlace
from tests.unit.cli.apis import Reply, serving
from tests.unit.runs.kit import begun

SOURCE = "source: shop\nbase_url: https://a.org\n"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, project_first(arguments))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert call("init", "shop").exit_code == 0
    return tmp_path / "shop"


def test_init_names_each_file_and_a_second_one_writes_nothing(shop: Path) -> None:
    again = call("init", "shop")

    assert again.exit_code == 0
    assert "kept   shop/config/environments/base.yaml" in again.stdout.splitlines()
    assert "wrote" not in again.stdout
    assert "nothing was written" in again.stderr


def test_a_project_inside_a_project_is_refused(shop: Path) -> None:
    failed = call("init", str(shop / "config/sub"))

    assert isinstance(failed.exception, InvalidStepInputError)
    assert "inside the project" in str(failed.exception)


def test_check_finds_the_files_from_a_folder_below(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "config/sources/shop.yaml").write_text(SOURCE)
    monkeypatch.chdir(shop / "config/sources")

    assert call("check").stdout.count(": ok\n") == 4


@pytest.mark.parametrize("words", [["--project", "shop", "check"], ["check", "--project=shop"]])
def test_another_project_is_named_at_any_place(shop: Path, words: list[str]) -> None:
    assert call(*words).stdout.count(": ok\n") == 3


def test_outside_of_a_project_it_says_what_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    for words in (["check"], ["run", "shop"], ["synth"], ["schema"]):
        failed = call(*words).exception
        assert isinstance(failed, InvalidStepInputError), words
        assert "`lakekit init` makes one" in str(failed)


def test_schema_writes_or_prints(shop: Path) -> None:
    file = shop / "config/schemas/source.json"
    file.unlink()

    assert call("schema", "--project", "shop").exit_code == 0
    assert json.loads(file.read_text()) == json.loads(call("schema", "source").stdout)


@pytest.mark.parametrize("command", ["run", "try"])
def test_an_unknown_source_names_those_that_there_are(shop: Path, command: str) -> None:
    (shop / "config/sources/shop.yaml").write_text(SOURCE)

    failed = call(command, "shpo", "--project", "shop").exception

    assert isinstance(failed, UnknownSourceError)
    assert str(failed).endswith("has no shpo.yaml; there are shop")


@pytest.mark.parametrize("command", ["run", "try"])
def test_a_source_of_files_alone_is_refused_with_what_takes_them(shop: Path, command: str) -> None:
    (shop / "config/sources/drops.yaml").write_text("source: drops\n")
    contract = shop / "config/contracts/lines.yaml"
    contract.write_text(
        "contract: lines\nsource: drops\nendpoint: {extract: full}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )

    failed = call(command, "drops", "--project", "shop").exception

    assert isinstance(failed, InvalidStepInputError)
    assert str(failed).endswith(
        f"lakekit merge --contract {contract} --warehouse {shop}/warehouse --input FILE --at TIME"
    )


def test_a_load_says_meanwhile_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_command, "LOOK_SECONDS", 0.001)
    looks, seen = iter([["10 pages"], ["10 pages"], ["10 pages", "merging"]]), Event()

    def progress() -> list[str]:
        found = next(looks, None)
        if found is None:
            seen.set()
        return found or []

    with run_command._saying(progress):
        assert seen.wait(10)

    assert capsys.readouterr().err == "10 pages\nmerging\n"


def test_how_far_a_load_is_comes_from_its_documents(tmp_path: Path) -> None:
    place = LocalPlace(tmp_path)
    begun(place.store)  # type: ignore[arg-type]
    place.runs.current = "r"
    place.store.put(
        layout.progress_key("raw/shop/orders/20260101_120000/", "r"),
        Progress(run_id="r", parts=(), pages=4, resume={}).to_json(),
    )

    assert run_command._progress(place) == ["extracting orders: 4 pages, 0 rows"]
    place.store.put(layout.run_key("x"), b"broken")
    place.runs.current = "x"
    assert run_command._progress(place) == ()


def test_a_run_whose_landing_waits_says_how_to_see_it(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    # Other tests of this process look at what is logged.
    monkeypatch.setattr(run_command, "_log_into", lambda _: None)
    (shop / "config/contracts/lines.yaml").write_text(
        "contract: lines\nsource: shop\nendpoint: {path: /lines, records: $.rows}\n"
        "schema: [{name: id, type: bigint}]\nhistory: {keys: [id]}\n"
    )
    with serving(lambda _: Reply({"rows": [["a"], ["b"]]})) as (base, _):
        (shop / "config/sources/shop.yaml").write_text(f"source: shop\nbase_url: {base}\n")
        failed = call("run", "shop")
    listed = call("landings", "--blocked")

    assert failed.exit_code == 1
    assert failed.stderr.splitlines()[-1] == (
        "a landing waits for you, and later runs leave it out: lakekit landings --blocked"
    )
    assert "blocked  lines " in listed.stdout


def test_synth_removes_nothing_that_it_has_not_made(shop: Path) -> None:
    (shop / "notes").mkdir()
    (shop / "notes/a.txt").touch()

    failed = call("synth", "--project", "shop", "--out", "shop/notes").exception

    assert isinstance(failed, InvalidStepInputError)
    assert "is no output of CDK" in str(failed)
    assert (shop / "notes/a.txt").exists()


def test_synth_without_its_packages_says_which(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakekit.project.product.find_spec", lambda _: None)

    failed = call("synth", "--project", "shop").exception

    assert isinstance(failed, InvalidStepInputError)
    assert "pip install 'lakekit[cdk]'" in str(failed)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands of processes, none of which is started."""
    found: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        found.append(command)
        return subprocess.CompletedProcess(command, 0, stderr="")

    monkeypatch.setattr("lakekit.cli.project.commands.subprocess.run", run)
    return found


def test_synth_makes_the_pipeline_and_says_how_it_is_deployed(
    shop: Path, called: list[list[str]]
) -> None:
    shown = call("synth", "--project", "shop", "--pipeline").stdout

    [command] = called
    assert "--pipeline" in command
    assert shown.rstrip().endswith("shop/cdk.out pipeline")


def test_synth_for_the_cdk_cli_writes_where_that_was_called(
    shop: Path, monkeypatch: pytest.MonkeyPatch, called: list[list[str]]
) -> None:
    monkeypatch.setenv("CDK_OUTDIR", "cdk.out")

    assert call("synth", "--project", "shop").stdout == ""
    [command] = called
    assert command[-2:] == ["--out", str(shop.absolute().parent / "cdk.out")]
