"""The table of documents: filters, orders, columns also of the input, pages, exports; for a run and an index."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import roughly
from roughly.index import Index
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from service.in_process import PATIENT, client_of
from service.page_elements import only_ours

Row = dict[str, Any]
WORDS = "one two three four five six seven eight nine ten eleven twelve"


def rows() -> list[Row]:
    made = []
    for n in range(130):
        text = " ".join(f"w{n}x{k}" for k in range(30 + n % 5))
        about = {"title": f"Text {n:03}", "date": f"20{10 + n % 10}-03-0{1 + n % 9}", "source": f"site {n % 3}"}
        made.append(
            {"id": f"d{n:03}", "text": text, **about, "url": f"http://a.example/{n}", "lang": f"l{n % 4}", "stars": n}
        )
        if n % 3 == 0:
            made.append({"id": f"d{n:03} copy", "text": text + " more", **about, "lang": None, "stars": 0.5})
    return [*made, {"id": "=cmd()", "text": WORDS, "title": 'a "quoted", one', "lang": "<b>x</b>", "stars": True}]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Path]]:
    folder = tmp_path_factory.mktemp("table")
    given = folder / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    roughly.dedupe(given, output=folder / "out", threshold=0.6)
    with (
        Index.import_run(folder / "out", folder / "a.db") as index,
        client_of(create_app(ServedData(run=folder / "out", index=index), PATIENT)) as client,
    ):
        yield client, folder / "out"


@pytest.fixture
def client(served: tuple[httpx.Client, Path]) -> httpx.Client:
    return served[0]


def twin(client: httpx.Client, query: str = "") -> Row:
    answer = client.get(f"/documents.json{query}")
    assert answer.status_code == 200, answer.text
    page = client.get(f"/documents{query}")
    text = only_ours(page.text, query).text
    for row in answer.json()["documents"]:
        assert row["doc_id"] in text
    return answer.json()


def test_every_document_is_met_once_in_any_order(client: httpx.Client) -> None:
    for sort in ("", "resemblance", "-words", "date", "-id", "source"):
        first = twin(client, f"?sort={sort}")
        met = [
            row["doc_id"]
            for page in range(1, first["pages"] + 1)
            for row in client.get(f"/documents.json?sort={sort}&page={page}").json()["documents"]
        ]
        assert sorted(met) == sorted(row["id"] for row in rows()) and first["total"] == len(rows()), sort
    assert met != sorted(met)
    falling = [row["doc_id"] for row in client.get("/documents.json?sort=-id").json()["documents"]]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize(
    ("query", "keeps"),
    [
        ("kept=no", lambda row: row["id"].endswith("copy") is False and False),
        ("source=site+1", lambda row: row.get("source") == "site 1"),
        ("q=text+00", lambda row: row["title"].startswith("Text 00")),
        ("since=2012&until=2013-12", lambda row: row.get("date", "")[:4] in ("2012", "2013")),
        ("since=2012-03-03&until=2012-03", lambda row: "2012-03-03" <= row.get("date", "") <= "2012-03-31"),
        ("most=12", lambda row: len(row["text"].split()) <= 12),
    ],
)
def test_filters(client: httpx.Client, query: str, keeps: Any) -> None:
    told = twin(client, f"?{query}")
    if query == "kept=no":
        assert told["total"] == 44 and not any(row["kept"] for row in told["documents"])
        return
    wanted = {row["id"] for row in rows() if keeps(row)}
    assert told["total"] == len(wanted) and {row["doc_id"] for row in told["documents"]} <= wanted


def test_scores_are_of_removed_documents(client: httpx.Client) -> None:
    told = client.get("/documents.json?low=0.9&high=1&sort=-resemblance").json()
    assert 0 < told["total"] <= 44
    scores = [row["resemblance"] for row in told["documents"]]
    assert scores == sorted(scores, reverse=True) and min(scores) >= 0.9


def test_columns_of_the_input(client: httpx.Client) -> None:
    told = twin(client, "?c=title&c=input.lang&c=input.stars&sort=-id")
    assert told["columns"] == ["doc_id", "title", "input.lang", "input.stars"]
    given = {row["id"]: row for row in rows()}
    for row in told["documents"]:
        own = given[row["doc_id"]]
        assert row["input.lang"] == own["lang"], row
        if isinstance(own["stars"], int) and not isinstance(own["stars"], bool):
            assert row["input.stars"] == str(own["stars"])
    assert "<b>x</b>" not in client.get("/documents?c=input.lang&q=cmd").text


def test_the_view_is_exported(client: httpx.Client) -> None:
    query = "?source=site+1&sort=-words&c=doc_id&c=title&c=tokens&c=input.lang"
    lines = client.get(f"/documents.jsonl{query}")
    assert lines.headers["content-disposition"] == 'attachment; filename="documents.jsonl"'
    found = [json.loads(line) for line in lines.text.splitlines()]
    told = client.get(f"/documents.json{query}").json()
    assert len(found) == told["total"] and found[: len(told["documents"])] == told["documents"]
    table = list(csv.DictReader(io.StringIO(client.get(f"/documents.csv{query}").text)))
    assert [row["doc_id"] for row in table] == [row["doc_id"] for row in found]
    whole = list(csv.DictReader(io.StringIO(client.get("/documents.csv").text)))
    assert len(whole) == len(rows()) and 'a "quoted", one' in {row["title"] for row in whole}


def test_an_index_has_a_table_too(client: httpx.Client) -> None:
    told = twin(client, "?in=index")
    assert told["total"] == len(rows()) and told["more"]
    assert [row["doc_id"] for row in client.get("/documents.json?in=index&sort=id").json()["documents"]] == sorted(
        row["id"] for row in rows()
    )[:50]
    some = twin(client, "?in=index&source=site+2&since=2015")
    assert some["total"] is None and some["documents"]
    assert all(row["source"] == "site 2" and row["date"] >= "2015" for row in some["documents"])
    lines = client.get("/documents.jsonl?in=index&c=doc_id").text.splitlines()
    assert len(lines) == len(rows())


@pytest.mark.parametrize(
    "query",
    ["sort=best", "kept=maybe", "low=2", "low=x", "since=yesterday", "until=2020-13", "c=nothing", "c=input.nothing",
     "page=0", "in=index&kept=no", "in=index&sort=words", "least=-1", *["&".join(f"c=input.{n}" for n in "abcdefg")]],
)  # fmt: skip
def test_what_makes_no_table_is_refused_in_words(client: httpx.Client, query: str) -> None:
    answer = client.get(f"/documents.json?{query}")
    assert answer.status_code == 422 and len(answer.json()["error"]) > 10, answer.text


def test_charts_and_tables_lead_to_documents(client: httpx.Client) -> None:
    links = only_ours(client.get("/").text, "/").addresses
    for name in ("low=", "kind=", "source=", "since=", "kept=no", "/clusters?least="):
        beginning = name if name.startswith("/") else f"/documents?{name}"
        found = [one for one in links if one.startswith(beginning)]
        assert found, beginning
        assert client.get(found[0]).status_code == 200


def test_every_page_says_what_it_is_about(client: httpx.Client) -> None:
    for path in ("/", "/clusters", "/documents", "/documents/d000", "/threshold", "/judge", "/decisions", "/nowhere"):
        page = client.get(path).text
        text = only_ours(page, path).text
        assert "Run out" in " ".join(text.split()) and "documents.jsonl" in text, path
        assert "minhash, resemblance ≥ 0.6" in text, path
    for path in ("/?in=index", "/search", "/ask", "/copies"):
        text = " ".join(only_ours(client.get(path).text, path).text.split())
        assert "Index a.db stores text minhash, resemblance ≥ 0.6 20" in text, path
