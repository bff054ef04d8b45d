"""The pages about an index, over HTTP: ask, search, lost, copies, changes, and their twins."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from roughly.index import Index
from roughly.index.sweeps.sweep import SweepWriter
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.settings import Settings
from service.hostile_documents import hostile_rows
from service.in_process import PATIENT, client_of
from service.page_elements import only_ours

NEWS = (
    "The council of the harbour town decided on Monday night to build a second bridge over the river, after a debate "
    "of six hours in which the mayor spoke of growth and the fishermen of their nets and of the noise. "
)
MORE = "The bridge will cost forty million and open in five years, if the weather and the money hold out. "
OTHER = (
    "In the north the harvest of apples was the largest in a decade, and the growers, who had feared the frost of the "
    "spring, spoke of a wonder; prices fell at once, as prices do, and the cider makers were content. "
)


def index_with(where: Path, **more: Any) -> Index:
    index = Index.create(where, Settings(threshold=0.7, measure=more.pop("measure", "resemblance")), **more)
    index.add(
        [
            {"doc_id": "first/a?b", "text": NEWS + MORE, "title": "A bridge", "date": "2024-01-02", "source": "Herald"},
            {"doc_id": "second", "text": NEWS + MORE + "Reporting by our staff.", "title": "The bridge",
             "date": "2024-01-05", "url": "http://news.example/b"},
            {"doc_id": "longer", "text": OTHER + NEWS + MORE + OTHER + "And so on it went.", "title": "Week"},
            {"doc_id": "apples", "text": OTHER, "title": "Apples"},
            *({**row, "doc_id": row["id"]} for row in hostile_rows()[:-1]),
        ]
    )  # fmt: skip
    return index


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    where = tmp_path_factory.mktemp("stored") / "news.db"
    with index_with(where, search=True, measure="containment") as index:
        for date, words in (("2024-01-01", NEWS + MORE), ("2024-02-01", NEWS + MORE + "Updated.")):
            sweeping = SweepWriter(index, date)
            path = "old" if date < "2024-02" else "new"
            sweeping.add(
                [{"url": f"http://site.example/{path}", "text": words}, {"url": "http://site.example/", "text": OTHER}]
            )
            sweeping.finish()
        with client_of(create_app(ServedData(index=index), PATIENT)) as client:
            yield client


def csrf(client: httpx.Client) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get("/ask").text)
    assert found
    return html.unescape(found[1])


def test_search_groups_duplicates_under_the_one_shown(client: httpx.Client) -> None:
    told = client.get("/search.json", params={"q": "bridge mayor"}).json()
    groups = [[g["shown"]["doc_id"], *(d["doc_id"] for d in g["duplicates"])] for g in told["groups"]]
    listed = sorted(doc_id for group in groups for doc_id in group)
    assert told["total"] == len(listed) == 5  # three documents and two pages of sweeps: nothing is discarded
    assert len(groups) < 5 and max(map(len, groups)) >= 3
    page = client.get("/search", params={"q": "bridge mayor"})
    assert page.status_code == 200 and "<mark>bridge</mark>" in page.text
    newest = client.get("/search.json", params={"q": "bridge mayor", "show": "newest"}).json()
    dates = [[g["shown"]["date"], [d["date"] for d in g["duplicates"]]] for g in newest["groups"]]
    single = client.get("/search.json", params={"q": "bridge mayor", "group": "off"}).json()
    assert sorted(g["shown"]["doc_id"] for g in single["groups"]) == listed
    assert all(not g["duplicates"] for g in single["groups"]) and dates


def test_search_says_what_it_cannot_do(client: httpx.Client, tmp_path: Path) -> None:
    assert "No document has all of these words" in client.get("/search?q=zebra").text
    assert "no word in that" in client.get("/search", params={"q": "…"}).text
    for odd in ('"', "a AND (", "\0", "*", "' OR 1=1 --", "😀", "x" * 1990):
        for path in ("/search", "/search.json"):
            assert client.get(path, params={"q": odd}).status_code == 200
    assert client.get("/search?q=a&show=best").status_code == 422
    assert client.get("/search?q=a&page=0").status_code == 422
    with index_with(tmp_path / "plain.db") as index, client_of(create_app(ServedData(index=index), PATIENT)) as other:
        assert "roughly index search-index" in html.unescape(other.get("/search?q=a").text)


def test_htmx_gets_the_part(client: httpx.Client) -> None:
    part = client.get("/search?q=bridge", headers={"HX-Request": "true"}).text
    assert "<html" not in part and "results" in part
    assert "<html" in client.get("/search?q=bridge", headers={"HX-Request": "true", "HX-Boosted": "true"}).text


def test_ask_about_a_text(client: httpx.Client) -> None:
    before = client.get("/api/stats").json()
    told = client.get("/ask.json", params={"text": NEWS + MORE}).json()
    assert {"first/a?b", "second", "longer"} <= {one["doc_id"] for one in told["found"]}
    whole = next(one for one in told["found"] if one["doc_id"] == "longer")
    assert whole["containment"] > 0.9 and whole["passages"]
    page = client.get("/ask", params={"text": NEWS}).text
    assert "<mark>" in page
    field = {"csrf": csrf(client)}
    short = client.post("/ask", data={"text": NEWS, **field}, follow_redirects=False)
    assert short.status_code == 303 and short.headers["location"].startswith("/ask?text=")
    long = client.post("/ask", data={"text": (NEWS + MORE) + OTHER * 10, **field}, follow_redirects=False)
    assert long.status_code == 200 and "longer" in long.text
    assert client.get("/api/stats").json() == before


def test_ask_about_a_stored_document(client: httpx.Client) -> None:
    told = client.get("/ask.json", params={"id": "first/a?b"}).json()
    assert told["asked"]["doc_id"] == "first/a?b"
    assert "first/a?b" not in {one["doc_id"] for one in told["found"]} >= {"second"}
    assert client.get("/ask.json", params={"id": "http://news.example/b"}).json()["asked"]["doc_id"] == "second"
    missing = client.get("/ask", params={"id": "nobody"})
    assert missing.status_code == 404 and "check the spelling" in missing.text


@pytest.mark.parametrize(
    ("name", "body", "found"),
    [
        ("a.txt", NEWS + MORE, "second"),
        ("A.HTML", f"<html><body><p>{NEWS}{MORE}</p><script>window.pwned=1</script></body></html>", "second"),
        ("two.jsonl", f'{{"id": "x", "text": "{NEWS}{MORE}"}}\n{{"id": "y", "text": "{OTHER}"}}\n', "Apples"),
        ("../../etc/x.md", NEWS + MORE, "second"),
    ],
)
def test_ask_about_a_file(client: httpx.Client, name: str, body: str, found: str) -> None:
    sent = client.post("/ask", files={"file": (name, io.BytesIO(body.encode()))}, data={"csrf": csrf(client)})
    assert sent.status_code == 200 and found in sent.text


def test_files_that_are_not_read(client: httpx.Client) -> None:
    field = {"csrf": csrf(client)}
    for name, body in (("x.gz", b"\x1f\x8b"), ("x.parquet", b"PAR1"), ("x.jsonl", b"{not json"), ("x", b"text")):
        sent = client.post("/ask", files={"file": (name, io.BytesIO(body))}, data=field)
        assert sent.status_code == 422, name
    assert client.post("/ask", data={"text": NEWS}).status_code == 403  # without the field


def test_lost_copies_and_changes(client: httpx.Client) -> None:
    lost = client.get("/lost.json", params={"url": "http://site.example/old"}).json()["lost"]
    assert lost["found"][0]["url"] == "http://site.example/new"
    assert "now there" in client.get("/lost", params={"url": "http://site.example/old"}).text
    assert "It is not lost" in client.get("/lost", params={"url": "http://site.example/"}).text
    assert client.get("/lost", params={"url": "http://nowhere.example/"}).status_code == 404
    copies = client.get("/copies.json", params={"id": "first/a?b"}).json()["copies"]
    assert {one["doc_id"]: one["kind"] for one in copies["found"]}["longer"] == "whole"
    assert client.get("/copies", params={"id": "nobody"}).status_code == 404
    assert client.get("/copies", params={"id": "a", "minimum": "many"}).status_code == 422
    told = client.get("/changes.json").json()["changes"]
    assert told["intervals"][0]["moved_within"] == 1
    page = client.get("/changes").text
    assert "<svg" in page and "<style" not in page and " style=" not in page


def test_without_sweeps_and_without_an_index(tmp_path: Path) -> None:
    with index_with(tmp_path / "plain.db") as index, client_of(create_app(ServedData(index=index), PATIENT)) as other:
        for path in ("/lost?url=x", "/changes"):
            assert "roughly index sweep" in other.get(path).text
        assert 'href="/lost"' not in other.get("/ask").text
    with client_of(create_app(ServedData(run=tmp_path), PATIENT)) as other:
        for path in ("/search?q=a", "/ask", "/lost", "/copies", "/changes"):
            assert other.get(path).status_code == 404


@pytest.mark.slow
def test_hostile_documents_stay_text(client: httpx.Client) -> None:
    """No markup of a document is in any page: every element is one of ours, with attributes of ours."""
    asked = ["/search?q=hostile", "/search?q=hostile&group=off&page=1", "/ask?text=" + "hostile+document+" * 5]
    for row in hostile_rows()[:-1]:
        asked.append(str(client.build_request("GET", "/ask", params={"id": row["id"]}).url))
        asked.append(str(client.build_request("GET", "/copies", params={"id": row["id"]}).url))
        asked.append(str(client.build_request("GET", "/search", params={"q": row["title"][:500]}).url))
    for url in asked:
        page = client.get(url)
        assert page.status_code in (200, 404), url
        body = page.text
        only_ours(body, url)
        told = re.sub(r'value="[^"]*"|<textarea.*?</textarea>', "", body, flags=re.S)  # a field holds what was typed
        assert "\x07" not in told and "\u202e" not in told, url
