"""How long data of an environment stays, how cheaply, and how much of it one query may read."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lakekit.config.infrastructure.replication import Replication
from lakekit.models import Model, Name

Days = Annotated[int, Field(ge=1, le=3653)]
# S3 moves nothing to Infrequent Access before 30 days, and charges for 30 days of it.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html
LEAST_DAYS = 30


class Storage(Model):
    """Buckets and the catalog's database.

    raw_infrequent_days, raw_archive_days, raw_days: ages at which landings move to Infrequent
    Access, to Glacier Instant Retrieval, and expire. lake_tiering: S3 moves data files of tables
    to cheaper tiers while nobody reads them. replication: where copies are made. request_metrics:
    requests of landings and tables are counted by the minute.
    """

    database: Name | None = None
    raw_infrequent_days: Annotated[int, Field(ge=LEAST_DAYS, le=3653)] | None = None
    raw_archive_days: Annotated[int, Field(ge=1, le=3653)] | None = None
    raw_days: Days | None = None
    lake_tiering: bool = False
    noncurrent_days: Days = 30
    replication: Replication | None = None
    request_metrics: bool = False
    removal: Literal["retain", "destroy"] = "retain"

    @model_validator(mode="after")
    def _ages_follow(self) -> Self:
        infrequent, archive, end = self.raw_infrequent_days, self.raw_archive_days, self.raw_days
        if infrequent and archive and archive < infrequent + LEAST_DAYS:
            raise ValueError(
                f"raw_archive_days is {archive}, and raw_infrequent_days {infrequent}; a landing "
                f"stays in Infrequent Access for {LEAST_DAYS} days at least"
            )
        for name, days in (("raw_infrequent_days", infrequent), ("raw_archive_days", archive)):
            if days and end and end <= days:
                raise ValueError(
                    f"{name} is {days}, and landings expire after {end} (raw_days); set {name} to "
                    "null, or raw_days higher"
                )
        return self


class Queries(Model):
    """Queries of people in Athena; one that reads more than the limit is cancelled.

    views: whether each table has the view `{table}_current`, of what is valid now.
    """

    scan_limit_gb: Annotated[int, Field(ge=1, le=100_000)] = 100
    views: bool = False
