"""Who may read data and who hears of it: Lake Formation, audit, tools of analysts."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from lakekit.models import Fault, Model, Name

PrincipalArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:(role|user)/[A-Za-z0-9+=,.@_/-]+$")
]
KeyArn = Annotated[
    str,
    StringConstraints(
        pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/([0-9a-f-]{36}|mrk-[0-9a-f]{32})$"
    ),
]
DatasetId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,255}$")]
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
