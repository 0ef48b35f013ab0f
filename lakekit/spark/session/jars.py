"""The jars of a local Spark, through Spark's own package resolver and its cache."""

import ssl
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from lakekit.errors import StorageUnavailableError
from lakekit.spark.session.java import provide_java

PACKAGES = (
    "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.0",
    "org.xerial:sqlite-jdbc:3.50.3.0",
    "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0",
)
_SDK = "1.12.262"
# Tables through Iceberg's own S3 client; raw `s3://` objects through S3A, as on Glue. S3A's 280 MB
# bundle of the whole SDK is left out for the five parts that it uses.
S3_PACKAGES = (
    "org.apache.iceberg:iceberg-aws-bundle:1.10.0",
    "org.apache.hadoop:hadoop-aws:3.3.4",
    *(f"com.amazonaws:aws-java-sdk-{part}:{_SDK}" for part in ("core", "s3", "sts", "dynamodb")),
    f"com.amazonaws:aws-java-sdk-kms:{_SDK}",
    f"com.amazonaws:jmespath-java:{_SDK}",
    "com.fasterxml.jackson.dataformat:jackson-dataformat-cbor:2.15.2",
    "software.amazon.ion:ion-java:1.0.2",
    "org.wildfly.openssl:wildfly-openssl:1.0.7.Final",
)
# What Spark has itself, often newer.
_EXCLUDES = (
    "com.amazonaws:aws-java-sdk-bundle",
    *(f"com.fasterxml.jackson.core:jackson-{part}" for part in ("annotations", "core", "databind")),
    "commons-codec:commons-codec",
    "commons-logging:commons-logging",
    "joda-time:joda-time",
    "org.apache.httpcomponents:httpclient",
    "org.apache.httpcomponents:httpcore",
)
_RESOLVE = (sys.executable, "-c", "from lakekit.spark.session.jars import resolve; resolve()")
_POLL_SECONDS = 0.2


def cache() -> Path:
    """Return the resolver's folder; Java would look for a home in the password file, not $HOME."""
    return Path.home() / ".cache" / "lakekit" / "ivy"


def cached_jars(packages: tuple[str, ...] = PACKAGES) -> list[Path]:
    """Return where the resolver keeps the jars, present or not.

    Example:
        >>> cached_jars()[1].name
        'org.xerial_sqlite-jdbc-3.50.3.0.jar'
    """
    folder = cache() / "jars"
    return [
        folder / f"{package.replace(':', '_', 1).replace(':', '-')}.jar" for package in packages
    ]


def class_path(packages: tuple[str, ...] = PACKAGES) -> str:
    """Return the jars as a class path, after fetching what is absent.

    Raises:
        StorageUnavailableError: A jar cannot be fetched.
    """
    jars = cached_jars(packages)
    if not all(jar.is_file() for jar in jars):
        fetch_jars()
    return ":".join(str(jar) for jar in jars)


def fetch_jars(command: Sequence[str] = _RESOLVE) -> None:
    """Fetch all jars, and show how far it is; what the resolver prints goes to a file.

    The resolver runs in a process of its own, since it prints to the output that it was given.

    Raises:
        StorageUnavailableError: A jar cannot be fetched.
    """
    provide_java()
    jars, log = cached_jars(PACKAGES + S3_PACKAGES), cache() / "resolve.log"
    cache().mkdir(parents=True, exist_ok=True)
    before = len(_fetched())
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output) as resolver,  # noqa: S603
    ):
        while resolver.poll() is None:
            _show_progress(len(_fetched()) - before, len(jars))
            time.sleep(_POLL_SECONDS)
    missing = [jar.name for jar in jars if not jar.is_file()]
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if resolver.returncode or missing:
        raise StorageUnavailableError(f"cannot fetch {', '.join(missing)}; see {log}")


def _fetched() -> list[Path]:
    """Return the jars that the resolver has fetched so far, before it puts them into one folder."""
    return list((cache() / "cache").rglob("*.jar"))


def _show_progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        bar = ("#" * (20 * min(done, of) // of)).ljust(20, ".")
        sys.stderr.write(f"\r[{bar}] {min(done, of)} of {of} jars for Spark")
        sys.stderr.flush()


def trust_options(folder: Path) -> str:
    """Return the JVM options that let Java trust what Python trusts.

    A Java from a package index knows public authorities only, not those of a company's proxy.
    """
    # Glue has none of it, and needs none.
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
        BestAvailableEncryption,
    )
    from cryptography.hazmat.primitives.serialization.pkcs12 import (  # noqa: PLC0415
        PKCS12Certificate,
        serialize_java_truststore,
    )
    from cryptography.utils import CryptographyDeprecationWarning  # noqa: PLC0415
    from cryptography.x509 import load_der_x509_certificate  # noqa: PLC0415

    authorities = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not authorities:
        return ""
    with warnings.catch_warnings():
        # An authority with an odd serial number is for its owner to mend, not for this reader.
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        certificates = [
            PKCS12Certificate(load_der_x509_certificate(each), str(number).encode())
            for number, each in enumerate(authorities)
        ]
    password = "changeit"  # noqa: S105  public certificates; Java wants a password all the same
    lock = BestAvailableEncryption(password.encode())
    store = folder / "trust.p12"
    folder.mkdir(parents=True, exist_ok=True)
    store.write_bytes(serialize_java_truststore(certificates, lock))
    prefix = "-Djavax.net.ssl.trustStore"
    return f"{prefix}={store} {prefix}Password={password} {prefix}Type=PKCS12"


def resolve() -> None:
    """Let Spark resolve every jar once, so that later sessions start offline."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  heavy: only when called

    packages = PACKAGES + S3_PACKAGES
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars.ivy", str(cache()))
    builder = builder.config("spark.driver.extraJavaOptions", trust_options(cache()))
    builder = builder.config("spark.jars.excludes", ",".join(_EXCLUDES))
    spark = builder.config("spark.jars.packages", ",".join(packages)).getOrCreate()
    spark.stop()


def main() -> int:
    """Fetch the jars that are absent; 1 if one cannot be fetched."""
    try:
        class_path(PACKAGES + S3_PACKAGES)
    except StorageUnavailableError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
