"""What an account says of who reads data, and who has read it."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from lakekit.aws.doctor.check import Account, Answer, Check
from lakekit.aws.errors import code_of

EVERYBODY = "IAM_ALLOWED_PRINCIPALS"
# Of the synthesizer that `make synth` uses.
DEPLOYER = "cdk-hnb659fds-cfn-exec-role-{account}-{region}"
OWN_KEY = "alias/aws/glue"


def lake_formation(of: Account) -> Iterator[Answer]:
    """Who decides about new databases and tables, and whether that fits the environment."""
    settings = of.client("lakeformation").get_data_lake_settings()["DataLakeSettings"]
    governed = of.environment.lake_formation is not None
    if governed:
        yield _deployer(of, settings)
    for what in ("Database", "Table"):
        found = settings.get(f"Create{what}DefaultPermissions", [])
        is_open = EVERYBODY in [each["Principal"]["DataLakePrincipalIdentifier"] for each in found]
        subject = f"new {what.lower()}s"
        if is_open and governed and what == "Database":
            yield Answer("warning", subject, f"IAM decides too: revoke what {EVERYBODY} gets")
        elif is_open or governed:
            yield Answer("ok", subject, "IAM decides" if is_open else "Lake Formation decides")
        else:
            text = (
                "Lake Formation decides, and the jobs' roles have no grants: set lake_formation, "
                "which gives them what they need"
            )
            yield Answer("warning", subject, text)


def _deployer(of: Account, settings: Any) -> Answer:
    """Say whether what deploys may make grants: an administrator of the lake may."""
    account, region = of.environment.account, of.environment.region
    name = DEPLOYER.format(account=account, region=region)
    admins = [each["DataLakePrincipalIdentifier"] for each in settings.get("DataLakeAdmins", [])]
    if any(each.endswith(f":role/{name}") for each in admins):
        return Answer("ok", name, "administers the lake")
    return Answer(
        "failed",
        name,
        "must be an administrator of Lake Formation to make grants; add it to those that there are",
    )


def everybody(of: Account) -> Iterator[Answer]:
    """Whether a database or table is open to whoever IAM lets call Glue."""
    if of.environment.lake_formation is None:
        return
    database = of.environment.database
    everyone = {"DataLakePrincipalIdentifier": EVERYBODY}
    for subject, resource in (
        (f"database {database}", {"Database": {"Name": database}}),
        (f"tables of {database}", {"Table": {"DatabaseName": database, "TableWildcard": {}}}),
    ):
        try:
            found = of.client("lakeformation").list_permissions(
                Principal=everyone, Resource=resource
            )["PrincipalResourcePermissions"]
        except ClientError as error:
            if code_of(error) != "EntityNotFoundException":
                raise
            yield Answer("unknown", subject, "not deployed")
            continue
        if found:
            text = f"IAM decides too: revoke what {EVERYBODY} has, or tags hide nothing"
            yield Answer("failed", subject, text)
        else:
            yield Answer("ok", subject, "Lake Formation decides alone")


def catalog_key(of: Account) -> Iterator[Answer]:
    """Whether `catalog_key` is the key with which the account encrypts the catalog."""
    settings = of.client("glue").get_data_catalog_encryption_settings()
    rest = settings["DataCatalogEncryptionSettings"].get("EncryptionAtRest", {})
    mode, used = rest.get("CatalogEncryptionMode", "DISABLED"), rest.get("SseAwsKmsKeyId", "")
    wanted = of.environment.catalog_key
    if mode == "SSE-KMS-WITH-SERVICE-ROLE":
        yield Answer("ok", "catalog", f"encrypted with {used}, which Glue uses with its own role")
    elif mode == "DISABLED" or used.endswith(OWN_KEY):
        if wanted:
            text = (
                "the account does not encrypt the catalog with it; set it in Glue, or leave it out"
            )
            yield Answer("failed", wanted, text)
        else:
            yield Answer("ok", "catalog", "no key of its own")
    elif used == wanted:
        yield Answer("ok", "catalog", f"encrypted with {used}")
    else:
        text = f"encrypted with {used}: name it as catalog_key, or jobs and functions read nothing"
        yield Answer("failed", "catalog", text)


def recorder(of: Account) -> Iterator[Answer]:
    """Whether AWS Config records already, of which an account and region can have one."""
    wanted = of.environment.audit.config if of.environment.audit else None
    if wanted is None:
        return
    client = of.client("config")
    there = [each["name"] for each in client.describe_configuration_recorders()
             ["ConfigurationRecorders"]]  # fmt: skip
    buckets = [each["s3BucketName"] for each in client.describe_delivery_channels()
               ["DeliveryChannels"]]  # fmt: skip
    is_ours = of.environment.bucket("trail") in buckets
    if wanted == "rules" and not there:
        yield Answer("failed", "recorder", "there is none: set audit.config to recorder")
    elif wanted == "recorder" and there and not is_ours:
        text = f"the account has {there[0]} already, and can have one: set audit.config to rules"
        yield Answer("failed", "recorder", text)
    else:
        yield Answer("ok", "recorder", "records" if there else "none yet")


def datasets(of: Account) -> Iterator[Answer]:
    """Whether QuickSight has the datasets that are to be read again."""
    client = of.client("quicksight") if of.environment.refreshes else None
    for dataset in dict.fromkeys(each.dataset for each in of.environment.refreshes):
        assert client  # noqa: S101
        try:
            found = client.describe_data_set(
                AwsAccountId=of.environment.account, DataSetId=dataset
            )["DataSet"]
        except ClientError as error:
            if code_of(error) != "ResourceNotFoundException":
                raise
            yield Answer("failed", dataset, "QuickSight has no such dataset in this region")
            continue
        if found.get("ImportMode") == "SPICE":
            yield Answer("ok", dataset, found.get("Name", ""))
        else:
            text = "is no dataset of SPICE: it reads the table itself, and needs no refresh"
            yield Answer("failed", dataset, text)


CHECKS = (
    Check("lake formation", "who decides about new databases and tables, and who may make grants",
          lake_formation),
    Check("everybody", "whether the database is open to whoever IAM lets call Glue", everybody,
          "Lake Formation"),
    Check("catalog key", "with which key the account encrypts the catalog", catalog_key,
          "The catalog's key"),
    Check("recorder", "whether AWS Config records already", recorder),
    Check("datasets", "whether QuickSight has the datasets that are read again", datasets,
          "Refreshes of QuickSight"),
)  # fmt: skip
