"""The endpoint of a contract: where the records of one table come from."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from lakekit.contract.checks import refuse
from lakekit.contract.endpoint.answer import JsonAnswers, Response
from lakekit.contract.endpoint.export import Export
from lakekit.contract.endpoint.faults import endpoint_faults
from lakekit.contract.endpoint.incremental import Incremental
from lakekit.contract.endpoint.paginators import Paginator, SinglePage
from lakekit.contract.endpoint.parent import ABSENT_STATUSES, Parents, asked_fields
from lakekit.contract.endpoint.paths import RecordsPath, ValuePath, path_steps
from lakekit.contract.endpoint.request import Body, Headers, Params, UrlPath
from lakekit.models import Model


def _is_sign(sign: str) -> str:
    if sign.startswith("$"):
        path_steps(sign)
    return sign


SignName = Annotated[
    str, StringConstraints(pattern=r"^(\$.*|[A-Za-z0-9-]{1,128})$"), AfterValidator(_is_sign)
]


class Endpoint(Model):
    """Where the records of one table come from; without `path`, from dropped files alone.

    records: path of the records in an answer. shape: what it leads to: a list, one object, or a map
    whose values are the records. map_key: the field that gets the name of each value of a map; the
    record is under `value` then. absent_records: what it means that `records` is null or absent.
    errors: paths that are absent or empty in an answer without errors. may_ignore: signs of a next
    page that the source gives wrongly: paths, or names of headers. incremental: where each run
    begins, so that it asks only for what is new. parent: whose children it gives; it is asked once
    for each parent. export: how what it creates is followed and downloaded.
    """

    path: UrlPath | None = None
    method: Literal["GET", "POST"] | None = None
    params: Params = Field(default_factory=dict)
    headers: Headers = Field(default_factory=dict)
    body: Body | None = None
    records: RecordsPath = "$"
    shape: Literal["list", "map", "object"] = "list"
    map_key: Annotated[str, Field(min_length=1)] | None = None
    absent_records: Literal["fail", "empty"] = "fail"
    errors: tuple[ValuePath, ...] = ()
    response: Response = JsonAnswers(format="json")
    paginator: Paginator = SinglePage(type="single_page")
    may_ignore: tuple[SignName, ...] = ()
    extract: Literal["full", "incremental", "changes"] = "full"
    incremental: Incremental | None = None
    parent: Parents | None = None
    export: Export | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        given = self.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
        refuse(endpoint_faults(given))
        return self

    @property
    def sends(self) -> Literal["GET", "POST"]:
        """The method of its requests: POST if they have a body."""
        return self.method or ("POST" if self.body else "GET")

    @property
    def parent_fields(self) -> tuple[str, ...]:
        """The fields of a parent that are in its requests."""
        return asked_fields(self.model_dump(by_alias=True))

    @property
    def absent_statuses(self) -> tuple[int, ...]:
        """The statuses of a first request that mean that there is no such parent, if it may be."""
        may_be = self.parent and self.parent.absent_parents == "skip"
        return ABSENT_STATUSES if may_be else ()

    @property
    def asked(self) -> dict[str, str]:
        """Its parameters as one text each, placeholders as they are written."""
        return {
            name: value if isinstance(value, str) else ",".join(value)
            for name, value in self.params.items()
        }
