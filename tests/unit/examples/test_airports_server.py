"""The example API, with a socket only where the socket is tested."""

import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from examples.airports.server import API_KEY, RELEASES, AirportsServer, page_body, records


def page(server: AirportsServer, number: int, key: str | None = API_KEY) -> tuple[int, dict]:  # type: ignore[type-arg]
    status, _, body = server.get(f"/airports?page={number}", key)
    return int(status), json.loads(body)


@pytest.fixture
def server() -> AirportsServer:
    server = AirportsServer(RELEASES[0])
    server._http.server_close()
    return server


def test_pages_hold_every_record_of_the_release_once_as_the_file_has_it() -> None:
    bodies = [page_body("20250909", number) for number in range(1, 30)]

    assert [json.loads(body)["page"] for body in bodies] == list(range(1, 30))
    assert {(json.loads(b)["pages"], json.loads(b)["total"]) for b in bodies} == {(29, 28_270)}
    items = b", ".join(body[body.index(b"[") + 1 : -2] for body in bodies)
    assert items == b", ".join(records("20250909"))


def test_a_page_behind_the_last_is_empty() -> None:
    assert json.loads(page_body("20250909", 30))["items"] == []


@pytest.mark.parametrize("key", [None, "", "wrong", "schl\u00fcssel"])
def test_refuses_whoever_does_not_have_the_key(server: AirportsServer, key: str | None) -> None:
    assert page(server, 1, key)[0] == 401


def test_throttles_once_in_each_load(server: AirportsServer) -> None:
    def load() -> list[int]:
        return [page(server, number)[0] for number in (1, 2, 2, 3)]

    assert load() == load() == [200, 429, 200, 200]
    assert server.get("/airports?page=1", API_KEY)[0] == 200
    assert server.get("/airports?page=2", API_KEY)[1] == {"Retry-After": "1"}


def test_serves_another_release_from_the_time_it_is_chosen(server: AirportsServer) -> None:
    totals = []
    for release in RELEASES:
        assert server.put("/release", release.encode())[0] == 200
        totals.append(page(server, 1)[1]["total"])

    assert totals == [28_226, 28_270, 28_298]
    assert server.put("/release", b"20990101")[0] == 400
    assert server.release == RELEASES[-1]


def test_can_be_cut_off_in_the_middle_of_a_load(server: AirportsServer) -> None:
    server.outage_from = 3

    assert [page(server, number)[0] for number in (1, 2, 2, 3, 4)] == [200, 429, 200, 503, 503]


@pytest.mark.parametrize("target", ["/airports?page=0", "/airports?page=x", "/airports?page=-1"])
def test_refuses_what_is_no_page(server: AirportsServer, target: str) -> None:
    assert server.get(target, API_KEY)[0] == 400


def test_answers_over_a_socket() -> None:
    with AirportsServer("20240806") as server:
        connection = HTTPConnection(urlsplit(server.address).netloc)
        connection.request("GET", "/airports?page=29", headers={"X-Api-Key": API_KEY})
        response = connection.getresponse()
        items = json.loads(response.read())["items"]
        connection.close()

    assert (response.status, len(items), items[-1]["icao"]) == (200, 226, "_YEH")
