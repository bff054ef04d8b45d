"""The pages about a run of `passages`, over HTTP: the list, a passage with its places, a document with its spans."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pyarrow.parquet as pq
import pytest

import roughly
from roughly.errors import InputError, SettingsError
from roughly.report.visible import reveal
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from service.hostile_documents import hostile_rows
from service.in_process import PATIENT, client_of
from service.page_elements import only_ours

FOOTER = " ".join(f"clause{number} of the footer" for number in range(30))
LONG = " ".join(f"word{number}" for number in range(4_000))


def rows() -> list[dict[str, Any]]:
    """Pages with a footer, a document of several windows of text, and documents that mean harm."""
    pages = [{"id": f"page/{number}.json", "text": f"Page {number} tells this. {FOOTER}."} for number in range(60)]
    odd = [{"id": "first", "text": f"{LONG} {FOOTER.upper()}"}, {"id": "été ?&=#", "text": f"ß𝔘 naïve — {FOOTER}"}]
    hostile = [{"id": row["id"], "text": row["text"]} for row in hostile_rows() if len(row["text"]) < 10_000]
    return odd[:1] + pages + odd[1:] + hostile


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("passages")
    source = folder / "pages.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    roughly.passages(source, output=folder / "out", least=20)
    return folder / "out"


@pytest.fixture(scope="module")
def client(run: Path) -> Iterator[httpx.Client]:
    with client_of(create_app(ServedData.open([run]), PATIENT)) as client:
        yield client


def json_of(client: httpx.Client, url: str, **query: Any) -> Any:
    answer = client.get(url, params=query)
    assert answer.status_code == 200, answer.text[:500]
    return answer.json()


def test_the_list_is_that_of_the_run(client: httpx.Client, run: Path) -> None:
    home = client.get("/")
    assert home.status_code == 303 and home.headers["location"] == "/passages"
    found = json_of(client, "/passages.json")
    best = found["passages"][0]
    assert [best[name] for name in ("number", "places", "documents", "doc_id")] == [1, 62, 62, "first"]
    page = only_ours(client.get("/passages").text, "/passages")
    assert "CLAUSE0 OF THE FOOTER" in page.text and "/passages/1" in page.addresses
    assert "Clusters" not in page.text  # no run of dedupe is served
    assert "script-src" in client.get("/passages").headers["Content-Security-Policy"]


def test_a_passage_has_all_its_places(client: httpx.Client) -> None:
    found = json_of(client, "/passages/1.json")
    assert found["kept_id"] == "first" and found["all_copies"] == 61
    names = [row["doc_id"] for number in (1, 2) for row in json_of(client, "/passages/1.json", page=number)["copies"]]
    assert names == [row["id"] for row in rows()[1:62]]
    page = only_ours(client.get("/passages/1").text, "/passages/1")
    assert "/passages/document?id=page%2F0.json" in page.addresses
    assert client.get("/passages/9999").status_code == 404


def test_every_document_shows_its_spans_and_where_else_they_stand(client: httpx.Client, run: Path) -> None:
    spans = pq.read_table(run / "spans.parquet").to_pylist()
    for row in rows()[8:9] + rows()[61::3]:
        found = json_of(client, "/passages/document.json", id=row["id"])
        own = [span for span in spans if span["doc_id"] == row["id"]]
        assert own and found["text"] == row["text"]
        assert [span["start"] for span in found["spans"]] == [span["start"] for span in own]
        answer = client.get("/passages/document", params={"id": row["id"]})
        addresses = only_ours(answer.text, row["id"]).addresses
        marked = re.findall(r"<(?:mark|del)>(.*?)</(?:mark|del)>", answer.text, re.DOTALL)[2:]  # two in the legend
        assert list(map(html.unescape, marked)) == [
            reveal(row["text"][span["char_start"] : span["char_end"]]) for span in own
        ]
        assert all(urlencode({"id": span["witness_id"]}) in str(addresses) for span in own if not span["kept"])


def test_a_long_document_is_shown_in_windows(client: httpx.Client) -> None:
    found = json_of(client, "/passages/document.json", id="first")
    assert found["spans"] == [] and found["all_spans"] == 0 and found["length"] > 20_000
    link = re.search(r'href="(/passages/document\?id=first&amp;start=\d+)"', client.get("/passages/1").text)
    assert link is not None
    page = client.get(html.unescape(link[1]))
    assert "<mark>CLAUSE0" in page.text and "page%2F0.json" in page.text


def test_what_is_not_there(client: httpx.Client, run: Path, tmp_path: Path) -> None:
    missing = client.get("/passages/document", params={"id": "<b>nothing</b>"})
    assert missing.status_code == 404 and "&lt;b&gt;nothing" in missing.text
    assert client.get("/passages?page=99").status_code == 422
    assert "no run or index is served" in client.get("/clusters.json").text
    with pytest.raises(SettingsError, match="two runs were given"):
        ServedData.open([run, run])
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(InputError, match=r"run\.json cannot be read"):
        ServedData.open([tmp_path])


def test_an_input_that_changed_or_is_gone(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(row | {"text": "short"}) + "\n" for row in rows()), encoding="utf-8")
    for given, why in ((other, "has changed"), (tmp_path / "none.jsonl", "cannot be found")):
        with client_of(create_app(ServedData.open([run], inputs=[given]), PATIENT)) as client:
            found = json_of(client, "/passages/document.json", id="page/7.json")
            assert found["text"] is None and why in found["text_missing"] and found["spans"]
            assert "The text cannot be shown" in client.get("/passages/document?id=page/7.json").text


def test_a_test_set_beside_an_input_with_the_same_ids(tmp_path: Path) -> None:
    for name, texts in {
        "train": ["Nothing of it.", f"A page before. {FOOTER}. And after."],
        "test": [f"Asked: {FOOTER}?", f"Nobody has seen this one. {LONG[:300]}"],
    }.items():
        records = (json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(texts))
        (tmp_path / f"{name}.jsonl").write_text("".join(records))
    train, test, out = (tmp_path / name for name in ("train.jsonl", "test.jsonl", "out"))
    roughly.passages(train, against=test, output=out, least=20)
    with client_of(create_app(ServedData.open([out]), PATIENT)) as client:
        page = only_ours(client.get("/passages").text, "/passages")
        assert "1 of 2 test items" in page.text and "/passages/items" in page.addresses
        items = json_of(client, "/passages/items.json")["items"]
        assert [(row["test_id"], row["seen_tokens"] > 0) for row in items] == [("0", True), ("1", False)]
        page = only_ours(client.get("/passages/items").text, "/passages/items")
        assert "/passages/document?id=0&test=1" in page.addresses
        item = json_of(client, "/passages/document.json", id="0", test=1)
        assert item["text"].startswith("Asked:") and [copy["doc_id"] for copy in item["spans"][0]["copies"]] == ["1"]
        document = json_of(client, "/passages/document.json", id="1")
        assert document["text"].startswith("A page before") and document["spans"][0]["witness_id"] == "0"
        page = only_ours(client.get("/passages/document?id=1").text, "a document")
        assert any("id=0&test=1" in address for address in page.addresses)
        assert client.get("/passages/document?id=0").status_code == 404, "the input's document 0 repeats nothing"
        passage = only_ours(client.get("/passages/1").text, "/passages/1")
        assert "In the test set" in passage.text and any("id=0&test=1" in address for address in passage.addresses)
    for inputs, is_shown in (([train, test], True), ([train], False)):
        with client_of(create_app(ServedData.open([out], inputs=inputs), PATIENT)) as client:
            item = json_of(client, "/passages/document.json", id="0", test=1)
            assert is_shown == (item["text"] is not None) and (is_shown or "--input" in item["text_missing"])


def test_items_of_a_run_without_a_test_set(client: httpx.Client) -> None:
    assert "without --against" in client.get("/passages/items").text
