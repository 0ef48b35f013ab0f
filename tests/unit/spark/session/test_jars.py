import sys
from pathlib import Path

import pytest

from lakekit.errors import StorageUnavailableError
from lakekit.spark.session.jars import cached_jars, class_path, fetch_jars, trust_options


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_jars_are_cached_below_the_home_of_the_shell(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert all(jar.is_relative_to(tmp_path) for jar in cached_jars())


def test_java_gets_a_trust_store_made_of_the_authorities_that_python_trusts(tmp_path):
    options = trust_options(tmp_path).split()

    store = Path(options[0].partition("=")[2])
    assert store.read_bytes()[:1] == b"\x30"
    assert options[2].endswith("Type=PKCS12")


MAKE = """
import sys
from pathlib import Path
from lakekit.spark.session.jars import cache, cached_jars, PACKAGES, S3_PACKAGES
print("the resolver speaks")
for jar in cached_jars(PACKAGES + S3_PACKAGES)[:int(sys.argv[1])]:
    for place in (cache() / "cache" / jar.name, jar):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"")
"""


def test_what_the_resolver_prints_goes_to_a_file(home, capfd):
    fetch_jars((sys.executable, "-c", MAKE, "99"))

    assert capfd.readouterr() == ("", "")
    assert (home / ".cache/lakekit/ivy/resolve.log").read_text() == "the resolver speaks\n"
    assert class_path().endswith(cached_jars()[-1].name)


def test_a_jar_that_cannot_be_fetched_is_named_with_the_log(home):
    with pytest.raises(
        StorageUnavailableError, match=r"ion-java-1\.0\.2\.jar.*; see .*resolve.log"
    ):
        fetch_jars((sys.executable, "-c", MAKE, "3"))
