"""Who may read data and who hears of it: Lake Formation, audit, tools of analysts."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from lakekit.models import Fault, Model, Name

_PRINCIPAL = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[A-Za-z0-9+=,.@_/-]+")
_KEY = re.compile(
    r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32})"
)
_DATASET = re.compile(r"[A-Za-z0-9_-]{1,255}")
A_ROLE = "arn:aws:iam::111111111111:role/analyst"
A_KEY = "arn:aws:kms:eu-west-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef"


def _check_principal(arn: str) -> str:
    if not _PRINCIPAL.fullmatch(arn):
        raise ValueError(f"'{arn}' is not the ARN of a role or user, such as {A_ROLE}")
    return arn


def _check_key(arn: str) -> str:
    if not _KEY.fullmatch(arn):
        raise ValueError(f"'{arn}' is not the ARN of a key of KMS, such as {A_KEY}")
    return arn


def _check_dataset(text: str) -> str:
    if not _DATASET.fullmatch(text):
        raise ValueError(
            f"'{text}' is not the id of a dataset of QuickSight: letters, digits, _ and -"
        )
    return text


PrincipalArn = Annotated[str, AfterValidator(_check_principal), Field(examples=[A_ROLE])]
KeyArn = Annotated[str, AfterValidator(_check_key), Field(examples=[A_KEY])]
DatasetId = Annotated[str, AfterValidator(_check_dataset)]
Principals = Annotated[tuple[PrincipalArn, ...], Field(max_length=50)]


class LakeFormation(Model):
    """Readers of the lake, whom Lake Formation knows by their ARNs.

    analysts: see what no contract calls sensitive. auditors: see everything.
    """

    analysts: Principals = ()
    auditors: Principals = ()

    @field_validator("analysts", "auditors")
    @classmethod
    def _come_once(cls, arns: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(arns)) < len(arns):
            raise ValueError("a principal is named twice")
        return arns


class Audit(Model):
    """CloudTrail's record of each read and write of an object, and AWS Config.

    days: how long the record is kept. config: `rules` for the buckets, in an account that records
    already; `recorder` for these and what records, which an account and region can have but once.
    """

    days: Annotated[int, Field(ge=1, le=3653)] = 365
    config: Literal["rules", "recorder"] | None = None


class Refresh(Model):
    """A dataset of QuickSight that is read again after each load of a table."""

    table: Name
    dataset: DatasetId


class Preparation(Model):
    """A project of DataBrew on the records of one contract, as they were landed."""

    source: Name
    contract: Name


def reader_faults(
    readers: LakeFormation | None, catalog_key: str | None, account: str, region: str
) -> Iterator[Fault]:
    """Yield the principals and the key that are of another account or region."""
    given = {"analysts": readers.analysts, "auditors": readers.auditors} if readers else {}
    for group, arns in given.items():
        for number, arn in enumerate(arns):
            place = ("lake_formation", group, number)
            if arn.split(":")[4] != account:
                yield Fault(
                    place,
                    f"is of account {arn.split(':')[4]}, and the environment of {account}; share "
                    "the database with the other account in Lake Formation instead",
                )
            if group == "auditors" and arn in given["analysts"]:
                yield Fault(place, "is an analyst too; an auditor sees all that analysts see")
    if catalog_key and catalog_key.split(":")[3] != region:
        yield Fault(
            ("catalog_key",),
            f"is a key of {catalog_key.split(':')[3]}; the catalog of {region} has one of {region}",
        )


def tool_faults(
    refreshes: tuple[Refresh, ...], preparations: tuple[Preparation, ...]
) -> Iterator[Fault]:
    """Yield what is named twice."""
    for field, given in (("refreshes", refreshes), ("preparations", preparations)):
        for number, each in enumerate(given):
            if each in given[:number]:
                yield Fault((field, number), "is named twice")
