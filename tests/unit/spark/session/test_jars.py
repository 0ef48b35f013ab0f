from pathlib import Path

from lakekit.spark.session.jars import cached_jars, trust_options


def test_the_jars_are_cached_below_the_home_of_the_shell(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert all(jar.is_relative_to(tmp_path) for jar in cached_jars())


def test_java_gets_a_trust_store_made_of_the_authorities_that_python_trusts(tmp_path):
    options = trust_options(tmp_path).split()

    store = Path(options[0].partition("=")[2])
    assert store.read_bytes()[:1] == b"\x30"
    assert options[2].endswith("Type=PKCS12")
