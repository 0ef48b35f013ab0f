"""Asynchronous exports: created by one request, ready later, downloaded as files."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from lakekit.contract.endpoint.paginators import HeaderName
from lakekit.contract.endpoint.paths import RecordsPath, ValuePath
from lakekit.contract.endpoint.placeholders import placeholders_in
from lakekit.contract.endpoint.request import UrlPath
from lakekit.models import Fault, Model

EXPORT_ID = "export.id"
_TEMPLATES = ("status_path", "download_path")
_STATUSES = ("id_path", "status_url_path", "status_url_header")
_State = str | bool | int


def _is_origin(url: str) -> str:
    scheme, _, host = url.partition("://")
    if scheme not in ("http", "https") or not host or set(host) & set("/?#@\\ "):
        raise ValueError("must be scheme and host alone, as https://files.example")
    if scheme == "http" and host.partition(":")[0] not in ("localhost", "127.0.0.1"):
        raise ValueError("must use https; http is only for this machine")
    return url


class Export(Model):
    """How an export is followed until its files are there; the endpoint's request creates it.

    id_path: of the export's id, in the answer that creates it. status_path: what is asked until it
    is ready. status_url_path, status_url_header: of the address of its status instead, in that
    answer. state_path: of its state; without it status 202 is waited for. done, failed: states that
    end it; all others are waited for. files_path: of the addresses of the files, in the answer that
    says that it is done. download_path: of the one file instead. files_origin: where files may be
    in addition; it is asked without signing in.
    """

    id_path: ValuePath | None = None
    status_path: UrlPath | None = None
    status_url_path: ValuePath | None = None
    status_url_header: HeaderName | None = None
    state_path: ValuePath | None = None
    done: tuple[_State, ...] = ()
    failed: tuple[_State, ...] = ()
    files_path: RecordsPath | None = None
    download_path: UrlPath | None = None
    files_origin: Annotated[str, AfterValidator(_is_origin)] | None = None
    poll_seconds: Annotated[int, Field(ge=1, le=3600)] = 30
    deadline_minutes: Annotated[int, Field(ge=1, le=7 * 24 * 60)] = 360


def export_faults(endpoint: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what of an endpoint does not go together with its export."""
    elsewhere = {name: each for name, each in endpoint.items() if name != "export"}
    if EXPORT_ID in _used(elsewhere):
        yield Fault(("path",), "{export.id} may be in export.status_path and export.download_path")
    export = endpoint.get("export")
    if not isinstance(export, Mapping):
        return
    paginator = endpoint.get("paginator")
    if isinstance(paginator, Mapping) and paginator.get("type") not in ("single_page", None):
        yield Fault(("paginator",), "the files of an export have no pages; leave it out")
    if endpoint.get("parent"):
        yield Fault(("parent",), "an export is created once, not for each parent")
    yield from _place_faults(export)
    yield from _template_faults(export)
    done, failed = export.get("done") or (), export.get("failed") or ()
    if both := [state for state in done if state in failed]:
        yield Fault(("export", "failed"), f"{both[0]} is among done as well")


def _place_faults(export: Mapping[str, Any]) -> Iterator[Fault]:
    if sum(name in export for name in _STATUSES) != 1:
        must = "give one of id_path, with status_path, status_url_path and status_url_header"
        yield Fault(("export",), must)
    elif ("id_path" in export) != ("status_path" in export):
        yield Fault(("export",), "id_path and status_path go together")
    if ("files_path" in export) == ("download_path" in export):
        yield Fault(("export",), "give either files_path or download_path")
    if "state_path" in export and export.get("done", ()) in ((), []):
        yield Fault(("export", "done"), "name the states in which the files are there")
    elif "state_path" not in export and (export.get("done") or export.get("failed")):
        yield Fault(("export",), "done and failed are states; say with state_path where they are")


def _template_faults(export: Mapping[str, Any]) -> Iterator[Fault]:
    for name in _TEMPLATES:
        uses = EXPORT_ID in _used(export.get(name))
        if export.get(name) and uses != ("id_path" in export):
            must = "{export.id} needs id_path" if uses else "must have {export.id}"
            yield Fault(("export", name), must)


def _used(value: Any) -> set[str]:
    return {name for name, _ in placeholders_in(value)}
