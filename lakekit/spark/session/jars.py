"""The jars of a local Spark, through Spark's own package resolver and its cache."""

import ssl
import subprocess
import sys
import warnings
from pathlib import Path

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
    """Return the jars as a class path, after resolving what is absent.

    The resolver runs in a process of its own: it prints to standard output, which is ours.
    """
    jars = cached_jars(packages)
    if not all(jar.is_file() for jar in jars):
        command = [sys.executable, "-m", "lakekit.spark.session.jars"]
        subprocess.run(command, check=True, stdout=sys.stderr)  # noqa: S603  our own module
    return ":".join(str(jar) for jar in jars)


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


def main() -> int:
    """Resolve every jar once, so that later sessions start offline."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  heavy: only when called

    packages = PACKAGES + S3_PACKAGES
    if all(jar.is_file() for jar in cached_jars(packages)):
        return 0
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.jars.ivy", str(cache()))
    builder = builder.config("spark.driver.extraJavaOptions", trust_options(cache()))
    builder = builder.config("spark.jars.excludes", ",".join(_EXCLUDES))
    spark = builder.config("spark.jars.packages", ",".join(packages)).getOrCreate()
    spark.stop()
    missing = [jar.name for jar in cached_jars(packages) if not jar.is_file()]
    if missing:
        sys.stderr.write(f"could not resolve {', '.join(missing)}\n")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
