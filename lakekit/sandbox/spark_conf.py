"""The Spark settings of a job: those it is deployed with, and what this machine needs."""

from lakekit.sandbox.settings import LOOPBACK, Settings
from lakekit.spark_conf import CATALOG as LAKE
from lakekit.spark_conf import LIGHT_JAVA

CATALOG = f"spark.sql.catalog.{LAKE}"
S3A = "spark.hadoop.fs.s3a"


def deployed(conf: str) -> dict[str, str]:
    """Return the settings in the value of a job's `--conf` argument.

    Example:
        >>> deployed("a=1 --conf b=x=y")
        {'a': '1', 'b': 'x=y'}
    """
    pairs = (pair.strip().partition("=") for pair in conf.split("--conf") if pair.strip())
    return {key: value for key, _, value in pairs}


def local(settings: Settings, class_path: str) -> dict[str, str]:
    """Return what Glue supplies by itself, or what must point to the sandbox."""
    # The first compiler alone: a job of seconds ends before the second one pays (measured: half).
    java = f"-Duser.timezone=UTC{LIGHT_JAVA}"
    return {
        "spark.master": "local[2]",
        "spark.app.name": "lakekit-sandbox",
        "spark.driver.memory": "3g",
        "spark.driver.extraClassPath": class_path,
        "spark.driver.extraJavaOptions": f"{java} -Daws.region={settings.region}",
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "4",
        f"{CATALOG}.s3.endpoint": settings.endpoint,
        f"{CATALOG}.s3.path-style-access": "true",
        # A worker stays, and each run has a role of its own: the keys are properties of Java.
        f"{CATALOG}.client.credentials-provider": (
            "software.amazon.awssdk.auth.credentials.SystemPropertyCredentialsProvider"
        ),
        f"{CATALOG}.glue.endpoint": settings.endpoint,
        f"{CATALOG}.client.region": settings.region,
        "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        f"{S3A}.endpoint": settings.endpoint,
        f"{S3A}.endpoint.region": settings.region,
        f"{S3A}.path.style.access": "true",
        f"{S3A}.connection.ssl.enabled": "false",
        f"{S3A}.aws.credentials.provider": "com.amazonaws.auth.SystemPropertiesCredentialsProvider",
    }
