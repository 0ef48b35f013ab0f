"""Asynchronous exports: created once, followed until they are ready, read file by file."""

import json
from datetime import timedelta
from typing import Any

import pytest

from lakekit.contract.contract import load_contract
from lakekit.contract.endpoint import Endpoint, endpoint_faults
from lakekit.errors import InvalidContractError, SourceRejectedError, SourceShapeError
from lakekit.extract import Page, SourceClient, SourceRequest, extract_export
from tests.unit.extract.chain import Chain, reply
from tests.unit.extract.conftest import NOON, SECRET, VALUES, Api, contract_of
from tests.unit.extract.scripted import SOURCE

BY_ID = {
    "id_path": "$.id", "status_path": "/exports/{export.id}", "state_path": "$.state",
    "done": ["ready"], "failed": ["failed"], "files_path": "$.files[*].url",
}  # fmt: skip
CREATED, WAITING = {"id": 7}, {"state": "running"}
FILES = {"state": "ready", "files": [{"url": "/f/1?sig=a"}, {"url": "/f/2?sig=a"}]}
READY_AGAIN = {"state": "ready", "files": [{"url": "/f/1?sig=b"}, {"url": "/f/2?sig=b"}]}
ONE, TWO = [{"id": 1}], [{"id": 2}, {"id": 3}]


class Export(Chain):
    """An export at a clock that goes on as long as its pages say."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers)
        self.now = NOON
        self.resume: Any = None

    def step(self, calls: int = 99, **export: Any) -> list[Page]:
        """Take pages, each as JSON keeps it, up to the first pause."""
        endpoint = {"path": "/exports", "method": "POST", **export.pop("endpoint", {})}
        given = {name: each for name, each in (BY_ID | export).items() if each is not None}
        contract = contract_of(endpoint | {"export": given}, {"id": "int"})
        found: list[Page] = []
        pages = extract_export(
            SOURCE, contract, self, VALUES, resume=self.resume, now=lambda: self.now  # type: ignore[arg-type]
        )  # fmt: skip
        for page in pages:
            self.resume = json.loads(json.dumps(page.resume))
            found.append(Page([*page.records], page.number, page.resume, page.wait_seconds))
            self.now += timedelta(seconds=page.wait_seconds)
            if page.wait_seconds or len(found) >= calls:
                break
        return found

    def to_end(self, **export: Any) -> list[Any]:
        records = []
        while True:
            pages = self.step(**export)
            records += [json.loads(each) for page in pages for each in page.records]
            if not pages or pages[-1].last:
                return records


def test_creates_polls_and_downloads_each_file() -> None:
    export = Export(CREATED, WAITING, FILES, ONE, TWO)

    first, second, third = export.step(), export.step(), export.step()

    assert [page.wait_seconds for page in (*first, *second)] == [30, 30]
    assert [(page.number, page.last) for page in third] == [(1, False), (2, True)]
    assert [f"{each.method} {each.url.removeprefix(SOURCE.base_url)}" for each in export.asked] == [
        "POST /exports", "GET /exports/7", "GET /exports/7", "GET /f/1?sig=a", "GET /f/2?sig=a",
    ]  # fmt: skip


def test_goes_on_behind_a_file_with_new_addresses_and_keeps_none() -> None:
    export = Export(CREATED, FILES, ONE, READY_AGAIN, TWO)
    export.step()
    export.step(calls=1)

    assert "sig" not in json.dumps(export.resume)
    assert export.to_end() == TWO
    assert export.asked[-1].url.endswith("/f/2?sig=b")


def test_refuses_other_files_than_before() -> None:
    export = Export(CREATED, FILES, ONE, {"state": "ready", "files": [{"url": "/f/9"}]})
    export.step()
    export.step(calls=1)

    with pytest.raises(SourceShapeError, match="other files than when the first one was read"):
        export.step()


def test_may_be_followed_at_an_address_and_have_one_file() -> None:
    by_address = {"id_path": None, "status_path": None, "status_url_path": "$.href",
                  "files_path": None, "download_path": "/latest"}  # fmt: skip
    export = Export({"href": "/jobs/1?x=1"}, reply(status=202), FILES, ONE)

    assert export.to_end(**by_address) == ONE
    assert [each.url.removeprefix(SOURCE.base_url) for each in export.asked[1:]] == [
        "/jobs/1?x=1", "/jobs/1?x=1", "/latest",
    ]  # fmt: skip


def test_may_be_followed_at_an_address_in_a_header_until_its_status_is_not_202() -> None:
    by_header = {"id_path": None, "status_path": None, "status_url_header": "Content-Location",
                 "state_path": None, "done": None, "failed": None}  # fmt: skip
    begun = reply(status=202, content_location="/jobs/1")
    export = Export(begun, reply(status=202), FILES, ONE, TWO)

    assert export.to_end(**by_header) == [*ONE, *TWO]
    assert [each.url.removeprefix(SOURCE.base_url) for each in export.asked[1:3]] == ["/jobs/1"] * 2


def test_an_answer_without_the_header_creates_nothing_that_can_be_followed() -> None:
    by_header = {"id_path": None, "status_path": None, "status_url_header": "Location"}

    with pytest.raises(SourceShapeError, match="creates the export has no header Location"):
        Export(reply(status=202)).to_end(**by_header)


def test_a_file_may_be_at_the_declared_origin_behind_a_redirect() -> None:
    one_file = {"files_path": None, "download_path": "/exports/{export.id}/file",
                "files_origin": "https://files.example"}  # fmt: skip
    export = Export(CREATED, {"state": "ready"}, ONE)

    assert export.to_end(**one_file) == ONE
    assert export.asked[-1].other_origin == "https://files.example"


def test_an_id_leads_to_no_other_path() -> None:
    export = Export({"id": "../a/b?"}, FILES, ONE, TWO)

    export.to_end()

    assert export.asked[1].url == f"{SOURCE.base_url}/exports/..%2Fa%2Fb%3F"


def test_files_are_read_in_the_format_of_the_contract() -> None:
    one = {"state": "ready", "files": [{"url": "/f/1"}]}
    export = Export(CREATED, one, reply(b"id;x\n1;a\n"))
    csv = {"response": {"format": "csv", "delimiter": ";"}}

    assert export.to_end(endpoint=csv) == [{"id": 1, "x": "a"}]
    assert export.asked[0].headers["Accept"] == "application/json"


def test_polls_rarer_with_time_and_fails_at_the_deadline() -> None:
    export = Export(CREATED, *[WAITING] * 200)
    waits = [page.wait_seconds for page in export.step(deadline_minutes=1440)]

    with pytest.raises(SourceRejectedError, match="not ready after 1440 minutes"):
        while True:
            waits += [page.wait_seconds for page in export.step(deadline_minutes=1440)]

    assert (waits[0], max(waits)) == (30, 600)
    assert len(waits) < 180
    assert export.now - NOON > timedelta(days=1)


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ([{"no": 7}], "creates the export has no $.id"),
        ([{"id": None}], "creates the export has no $.id"),
        ([{"id": {"a": 1}}], "creates the export has no $.id"),
        ([reply(b"<html>")], "creates the export: the answer is not JSON"),
        ([reply(status=204)], "creates the export has status 204"),
        ([CREATED, {"state": None}], "$.state should be the state of the export, and is None"),
        ([CREATED, {"no": 1}], "$.state should be the state of the export"),
        ([CREATED, {"state": "failed"}], "the export ended as 'failed'"),
        ([CREATED, {"state": "ready"}], "absent_records: empty takes it for no records"),
        ([CREATED, {"state": "ready", "files": []}], "no files under $.files[*].url"),
        ([CREATED, {"state": "ready", "files": [{"url": None}]}], "not lead to addresses alone"),
        ([CREATED, {"state": "ready", "files": [{"url": "/a"}] * 2}], "has an address twice"),
        ([CREATED, FILES, reply(b"[{")], "not JSON"),
        ([CREATED, FILES, {"error": "x"}], "$ is an object, not a list"),
    ],
)
def test_names_what_is_wrong_with_an_export(answers: list[Any], fault: str) -> None:
    export = Export(*answers, reply(b"[{"))

    with pytest.raises((SourceShapeError, SourceRejectedError)) as failed:
        export.to_end()

    assert fault in str(failed.value)


def test_no_files_are_no_records_where_that_is_declared() -> None:
    export = Export(CREATED, {"state": "ready", "files": []})

    assert export.to_end(endpoint={"absent_records": "empty"}) == []


def test_a_declared_origin_is_asked_without_signing_in_and_no_other_is(api: Api) -> None:
    home = api.server.url_for("").replace("localhost", "127.0.0.1")
    source = api.source(auth={"type": "bearer", "secret": "s"}, base_url=home)
    foreign = api.server.url_for("/items").replace("127.0.0.1", "localhost")
    api.serve(lambda _: [])
    client = SourceClient(source, lambda _: SECRET, sleep=api.naps.append)

    with pytest.raises(SourceRejectedError, match="not at the origin"):
        client.send(SourceRequest(foreign))
    with pytest.raises(SourceRejectedError, match="not at the origin"):
        client.send(SourceRequest(foreign, other_origin="https://files.example"))
    client.send(SourceRequest(foreign, other_origin=foreign.removesuffix("/items")))
    client.send(SourceRequest(f"{source.base_url}/items", other_origin="https://files.example"))
    client.close()

    assert [SECRET in each.headers.get("Authorization", "") for each in api.requests] == [
        False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"id_path": None}, "give one of id_path, with status_path, status_url_path and"),
        ({"status_url_path": "$.href"}, "give one of id_path, with status_path"),
        ({"status_url_header": "Location"}, "give one of id_path, with status_path"),
        ({"state_path": None}, "done and failed are states; say with state_path where they are"),
        ({"status_path": None}, "id_path and status_path go together"),
        ({"files_path": None}, "give either files_path or download_path"),
        ({"status_path": "/exports"}, "must have {export.id}"),
        ({"failed": ["ready"]}, "ready is among done as well"),
        ({"done": []}, "name the states in which the files are there"),
        ({"files_origin": "https://files.example/path"}, "must be scheme and host alone"),
        ({"files_origin": "http://files.example"}, "must use https"),
        ({"deadline_minutes": 0}, "deadline_minutes"),
    ],
)
def test_refuses_what_does_not_go_together(changes: dict[str, Any], fault: str) -> None:
    export = {name: each for name, each in (BY_ID | changes).items() if each is not None}

    with pytest.raises(ValueError, match="export") as refused:
        Endpoint.model_validate({"path": "/exports", "export": export})

    assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("endpoint", "fault"),
    [
        ({"path": "/{export.id}"}, "may be in export.status_path and export.download_path"),
        ({"paginator": {"type": "offset", "limit": 1}}, "have no pages"),
        ({"parent": {"values": [{"id": 1}]}, "path": "/{parent.id}"}, "not for each parent"),
    ],
)
def test_an_export_has_neither_pages_nor_parents(endpoint: dict[str, Any], fault: str) -> None:
    found = [each.message for each in endpoint_faults({"path": "/e", "export": BY_ID} | endpoint)]

    assert [each for each in found if fault in each]


def test_an_id_needs_an_export() -> None:
    with pytest.raises(InvalidContractError, match=r"\{export.id\} may be in"):
        load_contract(
            "contract: a\nsource: s\nendpoint: {path: '/{export.id}'}\n"
            "schema: [{name: id, type: int}]\nhistory: {keys: [id]}\n"
        )
