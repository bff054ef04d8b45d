"""Hostile documents through every endpoint: none is lost, none breaks anything; schemathesis over the description."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import hypothesis
import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving_process import Service, serving

import roughly
from roughly import Index
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig

Row = dict[str, Any]
HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)>",
    "template": "{{ 7*7 }} {% raw %} ${jndi:x} %s %n {0}",
    "sql": "'); DROP TABLE documents; --",
    "controls": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "nul": "before\0after",
    "bidi": "abc\u202etxt.exe\u2066\u2067\u2068\u2069\u200e\u200f",
    "unseen": "\u200b\u2060\ufeff\U000e0041\ufff9",
    "lines": "a\r\nb\rc\u2028d\u2029e\x85f\x0bg",
    "accents": "e" + "\u0301" * 5_000,
    "emoji": "👩‍👩‍👧‍👦" * 500,
    "nonchar": "\ufffe\uffff\U0010ffff",
    "empty": "",
    "blank": " \n\t " * 1000,
    "json": '{"doc_id": "x", "text": "y"}\n{"doc_id": "z"}',
    "long word": "x" * 300_000,
    "one line": "word " * 2_000_000,
}


def refused_plainly(response: httpx.Response) -> None:
    assert response.status_code in (400, 404, 409, 413, 422), response.text[:300]
    assert response.json()["error"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_comes_back_as_it_was(service: Service, name: str) -> None:
    """In every field of a document, through every endpoint that takes one."""
    text = HOSTILE[name]
    short = text[:2_000]
    document = {
        "doc_id": f"hostile {name}", "text": text, "title": short, "url": short, "source": short, "date": short,
    }  # fmt: skip
    with service.http() as http:
        added = http.post("/api/documents", json=document)
        assert added.status_code == 200, added.text[:300]
        line = http.post(
            "/api/documents/batch", content=orjson.dumps(document), headers={"content-type": "application/x-ndjson"}
        )
        assert json.loads(line.text)["status"] == "unchanged"
        stored = http.get("/api/documents", params={"id": document["doc_id"], "text": True}).json()["documents"][0]
        assert stored["text"] == text
        assert stored["entry"]["title"] == short.replace("\0", "\ufffd")
        checked = http.post("/api/check", json={**document, "limit": 100})
        assert checked.status_code == 200
        compared = http.post("/api/compare", json={"left": {"text": short}, "right": {"text": short}, "diff": True})
        assert compared.status_code == 200 and compared.json()["resemblance"] == 1.0
        grouped = http.post("/api/group", json={"results": [{"text": short, "title": short}, {"text": short}]})
        assert grouped.status_code == 200 and grouped.json()["results"] == 2
        for path, query in (
            ("/api/documents", {"url": short}),
            ("/api/copies", {"id": short}),
            ("/api/lost", {"url": short}),
        ):
            got = http.get(path, params=query)
            if got.status_code != 200:
                refused_plainly(got)
        gone = http.delete("/api/documents", params={"id": document["doc_id"]})
        assert gone.json() == {"ids": [document["doc_id"]]}


@pytest.mark.parametrize("name", [name for name in HOSTILE if len(HOSTILE[name]) < 10_000])
def test_a_hostile_id_is_kept_or_refused(service: Service, name: str) -> None:
    doc_id = HOSTILE[name]
    with service.http() as http:
        added = http.post("/api/documents", json={"doc_id": doc_id, "text": f"the text of {name}"})
        if added.status_code != 200:
            refused_plainly(added)
            refused_plainly(http.get("/api/documents", params={"id": doc_id}))
            return
        assert added.json()["doc_id"] == doc_id
        stored = http.get("/api/documents", params={"id": doc_id, "text": True}).json()["documents"]
        assert stored[0]["entry"]["doc_id"] == doc_id and stored[0]["text"] == f"the text of {name}"
        assert http.post("/api/revoke", json={"ids": [doc_id]}).json() == {"ids": [doc_id]}
        assert http.delete("/api/documents", params={"id": doc_id}).json() == {"ids": [doc_id]}


@pytest.mark.parametrize("body", [
    b'{"doc_id": "s", "text": "\\ud800"}', b'{"doc_id": "\\udfff", "text": "x"}', b'\xff\xfe{}',
    b'{"doc_id": "s", "text": 5}',
    b'{"doc_id": "s", "text": null}', b'[]', b'null', b'"x"', b'', b'{"doc_id": ["s"], "text": "x"}', b"[" * 100_000,
    b'{"doc_id": "s", "text": "x", "date": {}}', b'{"doc_id": "s", "text": "\\ud83d"}', b"1e999", b"NaN",
])  # fmt: skip
def test_what_is_no_document_is_refused(service: Service, body: bytes) -> None:
    with service.http() as http:
        for path in ("/api/documents", "/api/check", "/api/group", "/api/compare", "/api/revoke"):
            refused_plainly(http.post(path, content=body, headers={"content-type": "application/json"}))
        line = http.post("/api/documents/batch", content=body, headers={"content-type": "application/x-ndjson"})
        assert line.status_code == 200 and all("error" in json.loads(one) for one in line.content.splitlines())
        assert http.get("/api/documents", params={"id": "s"}).status_code == 404


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        Index.create(tmp_path_factory.mktemp("fuzz") / "a.db") as index,
        serving(ServedData(index=index), ServiceConfig(rate=0)) as http,
    ):
        yield http


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text(max_size=50)), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_any_documents_are_stored_or_refused_one_by_one(small: httpx.Client, documents: list[tuple[str, str]]) -> None:
    last = dict(documents)
    told = small.post("/api/documents/batch", json=[{"doc_id": doc_id, "text": text} for doc_id, text in documents])
    answers = [json.loads(line) for line in told.content.splitlines()]
    assert len(answers) == len(documents)
    for (doc_id, _), answer in zip(documents, answers, strict=True):
        if "error" in answer:
            assert "\0" in doc_id
            continue
        assert answer["doc_id"] == doc_id
        stored = small.get("/api/documents", params={"id": doc_id, "text": True}).json()["documents"][0]
        assert roughly.resemblance(stored["text"], last[doc_id]) == 1.0, (
            "of texts with the same words, the first is kept"
        )
    small.delete("/api/documents", params={"id": [doc_id for doc_id, _ in documents]})


def test_schemathesis_finds_no_server_error(small: httpx.Client) -> None:
    """Examples made of the OpenAPI description, good and bad, bounded; none may end in an error of the server's."""
    described = small.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(described)
    tried: list[str] = []
    for operation in schema.get_all_operations():
        one = operation.ok()

        @given(case=one.as_strategy())
        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=[hypothesis.Phase.generate],
        )
        def check(case: schemathesis.Case) -> None:
            response = case.call(base_url=str(small.base_url))
            assert response.status_code < 500, (case.method, case.path, response.text[:300])

        check()
        tried.append(f"{one.method.upper()} {one.path}")
    assert len(tried) >= 15
