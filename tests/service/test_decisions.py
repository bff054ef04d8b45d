"""Deciding in the browser: forms, rights, what is refused, where decisions are shown, and the button that applies."""

from __future__ import annotations

import html
import json
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from serving_process import ADMIN, READ, WRITE, serving

import roughly
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from service.in_process import PATIENT, client_of
from service.page_elements import only_ours

GUARDED = ServiceConfig(read_tokens=frozenset({READ}), write_tokens=frozenset({WRITE}), admin_tokens=frozenset({ADMIN}))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    words = [f"word{n}" for n in range(60)]
    rows = []
    for family in range(4):
        for version in range(3):
            text = [f"f{family}{word}" for word in words[: 58 + version]]
            rows.append({"id": f"f{family}/v{version}", "text": " ".join(text), "title": f"Family {family}"})
    given = tmp_path / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roughly.dedupe(given, output=tmp_path / "out", threshold=0.7)
    return tmp_path / "out"


def field_of(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found, page[:300]
    return html.unescape(found[1])


def send(client: httpx.Client, path: str = "/decisions", **values: Any) -> httpx.Response:
    page = client.get("/documents/" + quote("f0/v0", safe="")).text
    return client.post(path, data={"csrf": field_of(page), **values})


def test_a_decision_is_made_shown_everywhere_and_undone(client: httpx.Client, run: Path) -> None:
    answer = send(client, decision="keep", id="f0/v0", by="ann", note="better <b>text</b>", next="/documents?kept=no")
    assert answer.status_code == 303 and answer.headers["location"] == "/documents?kept=no"
    for path in (
        "/documents/" + quote("f0/v0", safe=""), "/clusters/" + quote("f0/v2", safe=""), "/decisions",
        "/documents?c=decided&decided=1", "/compare?left=f0/v0&right=f0/v2",
    ):  # fmt: skip
        page = client.get(path)
        assert page.status_code == 200 and "keep this one instead" in only_ours(page.text, path).text.lower(), path
        assert "<b>" not in page.text
    told = client.get("/decisions.json").json()
    assert told["decisions"][0]["by"] == "ann" and told["changed"] >= 2 and told["overridden"] == 0
    assert send(client, "/decisions/undo", number=1, by="bob").status_code == 303
    assert client.get("/decisions.json").json()["decisions"] == []
    assert send(client, "/decisions/undo", number=1, by="bob").status_code == 404


def test_the_form_is_open_where_a_cluster_leads_to_it(client: httpx.Client) -> None:
    cluster = client.get("/clusters/" + quote("f0/v2", safe="")).text
    (href, *_) = re.findall(r'href="([^"]*)#decide"', cluster)
    assert 'id="decide" open>' in client.get(html.unescape(href)).text
    assert 'id="decide">' in client.get("/documents/" + quote("f0/v0", safe="")).text


def test_a_pair_is_decided_side_by_side(client: httpx.Client) -> None:
    both = ["f1/v2", "f1/v0"]
    assert send(client, decision="different", id=both, by="ann").status_code == 303
    assert send(client, decision="keep 1", id=both, by="ann").status_code == 303
    assert send(client, decision="together", id=["f2/v2", "f3/v2"], by="bob").status_code == 303
    told = client.get("/decisions.json").json()["decisions"]
    assert [(one["kind"], one["ids"]) for one in told] == [
        ("different", both), ("keep", ["f1/v0"]), ("together", ["f2/v2", "f3/v2"]),
    ]  # fmt: skip


def test_the_button_applies_to_a_new_run(client: httpx.Client, run: Path) -> None:
    assert send(client, "/decisions/apply").status_code == 404
    send(client, decision="keep", id="f0/v0", by="ann")
    for _ in range(2):  # a second time it replaces what it wrote
        assert send(client, "/decisions/apply").status_code == 303
        until = time.monotonic() + 60
        while client.get("/decisions.json").json()["applying"]:
            assert time.monotonic() < until
            time.sleep(0.1)
        told = client.get("/decisions.json").json()
        assert told["problem"] == "" and told["applied"] == "out.decided"
    decided = run.with_name("out.decided")
    assert "f0/v0" in roughly.Result(decided).kept["doc_id"].to_pylist()
    with client_of(create_app(ServedData(run=decided), PATIENT)) as other:  # the new run can be looked at as well
        for path in ("/", "/clusters", "/documents", "/threshold", "/decisions"):
            assert other.get(path).status_code == 200, path


@pytest.mark.parametrize(
    ("values", "status", "words"),
    [
        ({"decision": "keep", "id": "nobody", "by": "ann"}, 404, "no document"),
        ({"decision": "different", "id": ["f0/v0", "<script>"], "by": "ann"}, 404, "no document"),
        ({"decision": "drop", "id": "f0/v0", "by": "ann"}, 422, "a decision is one of"),
        ({"decision": "different", "id": "f0/v0", "by": "ann"}, 422, "two documents"),
        ({"decision": "keep", "id": "f0/v0", "by": ""}, 422, "by: is missing"),
        ({"decision": "keep", "id": "f0/v0", "by": "x" * 60}, 422, "by is a name"),
        ({"decision": "keep", "id": "f0/v0", "by": "ann", "note": "n" * 2000}, 422, "a note has at most"),
        ({"decision": "keep", "by": "ann"}, 422, "id: is missing"),
    ],
)
def test_what_cannot_be_decided_is_refused_in_words(
    client: httpx.Client, run: Path, values: dict[str, Any], status: int, words: str
) -> None:
    answer = send(client, **values)
    assert answer.status_code == status and words in html.unescape(answer.text).lower(), answer.text[-800:]
    assert not run.with_name("out.decisions.jsonl").exists()


def test_a_decision_never_leads_to_another_site(client: httpx.Client) -> None:
    for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example"):
        assert send(client, decision="keep", id="f0/v0", by="ann", next=elsewhere).headers["location"] == "/"


def test_other_sites_and_forms_without_the_field_are_refused(client: httpx.Client, run: Path) -> None:
    page = client.get("/documents/" + quote("f0/v0", safe="")).text
    values = {"decision": "keep", "id": "f0/v0", "by": "ann"}
    assert client.post("/decisions", data=values).status_code == 403
    assert client.post("/decisions", data={**values, "csrf": "wrong"}).status_code == 403
    sent = {**values, "csrf": field_of(page)}
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.post("/decisions", data=sent, headers=headers).status_code == 403
        assert client.post("/decisions/apply", data=sent, headers=headers).status_code == 403
    assert not run.with_name("out.decisions.jsonl").exists()


def test_deciding_needs_the_right_to_write(run: Path) -> None:
    values = {"decision": "keep", "id": "f0/v0", "by": "ann"}
    with serving(ServedData(run=run), GUARDED) as http:
        assert http.post("/decisions", data=values).status_code in (303, 401)  # to the login page
        for path in ("/decisions", "/decisions/undo", "/decisions/apply"):
            assert http.post(path, data=values, headers={"authorization": f"Bearer {READ}"}).status_code == 403, path
        assert not run.with_name("out.decisions.jsonl").exists()
        reader = http.get("/documents/f0%2Fv0", headers={"authorization": f"Bearer {READ}"})
        assert reader.status_code == 200 and "/decisions/undo" not in reader.text
        assert 'class="decide"' not in reader.text
        http.cookies.clear()
        assert http.post("/decisions", data=values, headers={"authorization": f"Bearer {WRITE}"}).status_code == 303
        assert len(roughly.Decisions(run)) == 1
