"""Every endpoint of the API, over a real server, on both databases; errors say what and what to do."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from postgres_server import Server
from serving_process import Service, serving

import roughly
from roughly import Index
from roughly.index.sweeps.sweep import SweepWriter
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig

Row = dict[str, Any]
LONG = "the quick brown fox jumps over the lazy dog while seven wise owls look on and say nothing at all"


@pytest.fixture(scope="module")
def http(service: Service) -> Any:
    with service.http() as client:
        yield client


def lines(response: httpx.Response) -> list[Row]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.content.splitlines()]


def trouble(response: httpx.Response, status: int) -> Row:
    assert response.status_code == status, response.text
    told: Row = response.json()
    assert set(told) <= {"error", "remedy"} and told["error"], told
    return told


def test_check_stores_nothing(http: httpx.Client, policies: list[Row]) -> None:
    before = http.get("/api/stats").json()["documents"]
    told = http.post("/api/check", json={"text": policies[0]["text"], "limit": 3}).json()
    assert told["known"] and told["matches"][0]["resemblance"] == 1.0 and len(told["matches"]) <= 3
    assert http.post("/api/check", json={"text": LONG + " never seen"}).json() == {"known": False, "matches": []}
    assert http.get("/api/stats").json()["documents"] == before


def test_add_find_remove_revoke(http: httpx.Client) -> None:
    one = {"text": LONG, "url": "http://x/1", "date": "2024-02-03"}
    added = http.post("/api/documents", json={"doc_id": "one/ü", **one})
    assert added.status_code == 200 and added.json()["status"] == "added" and added.json()["match"] is None
    again = http.post("/api/documents", json={"id": "one/ü", **one})
    assert again.json()["status"] == "unchanged"
    twin = http.post("/api/documents", json={"doc_id": "two", "text": LONG + " indeed"}).json()
    assert twin["match"]["doc_id"] == "one/ü"
    found = http.get("/api/documents", params={"id": "one/ü", "text": True}).json()["documents"]
    assert found[0]["text"] == LONG and found[0]["entry"]["date"] == "2024-02-03"
    assert http.get("/api/documents", params={"url": "http://x/1"}).json()["documents"][0]["text"] is None
    cluster = http.get(f"/api/clusters/{twin['cluster_id']}").json()
    assert {entry["doc_id"] for entry in cluster["documents"]} == {"one/ü", "two"}
    copies = http.get("/api/copies", params={"id": "one/ü"}).json()
    assert [copy["doc_id"] for copy in copies["found"]] == ["two"]
    assert http.post("/api/revoke", json={"ids": ["two", "nobody"]}).json() == {"ids": ["two"]}
    assert http.get("/api/documents", params={"id": "two"}).json()["documents"][0]["entry"]["state"] == "revoked"
    gone = http.delete("/api/documents", params={"id": ["one/ü", "two", "nobody"]})
    assert gone.json() == {"ids": ["one/ü", "two"]}
    trouble(http.get("/api/documents", params={"id": "one/ü"}), 404)


def test_a_batch_is_answered_line_by_line(http: httpx.Client, policies: list[Row]) -> None:
    documents = [{"doc_id": f"b{n}", "text": f"{LONG} {n}"} for n in range(5)]
    told = lines(http.post("/api/documents/batch", json=documents))
    assert [(one["line"], one["doc_id"], one["status"]) for one in told] == [
        (n + 1, f"b{n}", "added") for n in range(5)
    ]
    body = "\n".join(
        [json.dumps(documents[0]), "", "{no json", json.dumps({"text": "no id"}), '{"doc_id": "s", "text": "\\ud800"}',
         json.dumps([1]), json.dumps(documents[4])]
    )  # fmt: skip
    told = lines(http.post("/api/documents/batch", content=body, headers={"content-type": "application/x-ndjson"}))
    assert [one["line"] for one in told] == [1, 2, 3, 4, 5, 6]
    assert [one.get("status") for one in told] == ["unchanged", None, None, None, None, "unchanged"]
    assert all(one["error"] for one in told if "status" not in one)
    checked = lines(http.post("/api/check/batch?limit=2", json=[{"text": policies[3]["text"]}, {"text": "unknown"}]))
    assert [one["known"] for one in checked] == [True, False]
    http.delete("/api/documents", params={"id": [f"b{n}" for n in range(5)]})


def test_a_client_that_waits_for_each_answer_gets_it(service: Service) -> None:
    """Lines are answered while more may come: the next is sent only after the answer to the one before."""
    host, _, port = service.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(
            f"POST /api/check/batch HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-ndjson\r\n"
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode()
        )
        stream = connection.makefile("rb")
        seen = 0
        for number in range(3):
            line = json.dumps({"doc_id": str(number), "text": LONG}).encode() + b"\n"
            connection.sendall(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            while not (got := stream.readline()).startswith(b"{"):
                assert got, "the connection ended"
            assert json.loads(got)["doc_id"] == str(number)
            seen += 1
        connection.sendall(b"0\r\n\r\n")
        assert seen == 3


def test_a_client_that_reads_nothing_before_the_end(service: Service) -> None:
    """More answers than any socket holds wait on disk, so neither side waits for the other for ever."""
    count = 30_000
    body = (json.dumps({"doc_id": f"{'x' * 400}{n}", "text": "…"}).encode() + b"\n" for n in range(count))
    with service.http() as http:
        told = http.post("/api/check/batch", content=body, headers={"content-type": "application/x-ndjson"})
    answers = told.text.splitlines()
    assert len(answers) == count
    assert json.loads(answers[-1])["line"] == count


def test_group_and_compare(http: httpx.Client, policies: list[Row]) -> None:
    ids = [row["doc_id"] for row in policies[:20]]
    grouped = http.post("/api/group", json={"results": [{"doc_id": one} for one in ids]}).json()
    assert grouped["results"] == 20
    with_texts = [{"doc_id": row["doc_id"], "text": row["text"]} for row in policies[:20]]
    other = http.post("/api/group", json={"results": with_texts, "show": "longest", "threshold": 0.7}).json()
    expected = roughly.group_results(with_texts, show="longest", threshold=0.7)
    assert [one["shown"]["doc_id"] for one in other["groups"]] == [one.shown.doc_id for one in expected]
    trouble(http.post("/api/group", json={"results": [{"doc_id": "nobody"}]}), 422)
    trouble(http.post("/api/group", json={"results": [{"doc_id": "a", "text": "x"}, {"doc_id": "b"}]}), 422)
    trouble(http.post("/api/group", json={"results": [{"doc_id": "a", "text": "x"}] * 2}), 409)
    same = http.post("/api/compare", json={"left": {"doc_id": ids[0]}, "right": {"text": policies[0]["text"]}}).json()
    assert same["resemblance"] == 1.0 and same["kind"] == "exact"
    pair = http.post("/api/compare", json={"left": {"text": LONG}, "right": {"text": LONG + " indeed"}}).json()
    expected_pair = roughly.compare(LONG, LONG + " indeed")
    assert pair["resemblance"] == expected_pair.scores.resemblance
    assert [part["kind"] for part in pair["diff"]] == [part.kind for part in expected_pair.diff()]
    trouble(http.post("/api/compare", json={"left": {"doc_id": "nobody"}, "right": {"text": "x"}}), 404)
    trouble(http.post("/api/compare", json={"left": {}, "right": {"text": "x"}}), 422)


def test_what_cannot_be_read_or_makes_no_sense(http: httpx.Client) -> None:
    as_json = {"content-type": "application/json"}
    trouble(http.post("/api/check", content=b"{", headers=as_json), 400)
    trouble(http.post("/api/check", content=b"\xff\xfe", headers=as_json), 400)
    assert "text: is missing" in trouble(http.post("/api/check", json={}), 422)["error"]
    trouble(http.post("/api/check", content=rb'{"text": "\ud800"}', headers=as_json), 422)
    trouble(http.post("/api/check", json={"text": "x", "since": "yesterday"}), 422)
    trouble(http.post("/api/check", json={"text": "x", "measure": "size"}), 422)
    trouble(http.post("/api/documents", json={"doc_id": "n\0l", "text": "x"}), 422)
    trouble(http.get("/api/documents", params={"id": "n\0l"}), 404)
    trouble(http.get("/api/documents"), 422)
    trouble(http.get(f"/api/clusters/{10**30}"), 404)
    trouble(http.get("/api/clusters/987654321"), 404)
    trouble(http.get("/api/nothing"), 404)
    trouble(http.put("/api/check"), 405)
    trouble(http.post("/api/documents/batch", content=b"x", headers={"content-type": "text/plain"}), 415)
    trouble(http.get("/api/lost", params={"url": "http://x/"}), 404)
    page = http.get("/nothing")
    assert page.status_code == 404 and page.headers["content-type"].startswith("text/html")


def test_health_metrics_and_the_list_of_endpoints(http: httpx.Client) -> None:
    assert http.get("/health").json() == {"live": True, "ready": True, "reason": None}
    assert http.get("/health/live").status_code == 200
    text = http.get("/metrics").text
    names = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if not line.startswith("#")}
    assert names >= {
        "roughly_requests_total", "roughly_request_seconds_bucket", "roughly_index_documents", "roughly_memory_bytes",
    }  # fmt: skip
    for line in text.splitlines():
        assert line.startswith("# ") or float(line.rpartition(" ")[2]) >= 0, line
    described = http.get("/openapi.json").json()
    page = http.get("/api").text
    for path, ways in described["paths"].items():
        for method in ways:
            assert f"{method.upper()} {path}" in page
    assert "<script>" not in page and "http://" not in page.replace(str(http.base_url), "")


def test_lost_pages(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db") as index:
        for day, name in (("2024-01-01", "old"), ("2024-02-01", "new")):
            sweeping = SweepWriter(index, day)
            sweeping.add([{"url": f"http://site.example/{name}", "text": LONG}])
            sweeping.finish()
        with serving(ServedData(index=index)) as http:
            told = http.get("/api/lost", params={"url": "http://site.example/old"}).json()
            assert not told["here"] and told["found"][0]["url"] == "http://site.example/new"


def test_where_only_a_run_is_served(tmp_path: Path, policies: list[Row]) -> None:
    source = tmp_path / "documents.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in policies), encoding="utf-8")
    result = roughly.dedupe(paths=[source], output=tmp_path / "run")
    with serving(ServedData.open([tmp_path / "run"])) as http:
        assert http.get("/health").json()["ready"]
        for told in (
            http.post("/api/documents", json={"doc_id": "a", "text": "b"}),
            http.post("/api/documents/batch", json=[]),
            http.post("/api/check", json={"text": "b"}),
            http.delete("/api/documents", params={"id": "a"}),
        ):
            assert "serve an index as well" in trouble(told, 409)["remedy"]
        assert http.get("/api/stats").json()["counts"]["documents"] == len(policies)
        gone = result.removed.to_pylist()[0]
        found = http.get("/api/documents", params={"id": gone["doc_id"], "text": True}).json()["documents"][0]
        assert found["entry"]["kept_id"] == gone["kept_id"] and found["text"]
        cluster = http.get(f"/api/clusters/{quote(gone['cluster_id'], safe='')}").json()
        assert {gone["doc_id"], gone["kept_id"]} <= {one["doc_id"] for one in cluster["documents"]}
        sides = {"left": {"doc_id": gone["doc_id"]}, "right": {"doc_id": gone["kept_id"]}}
        compared = http.post("/api/compare", json=sides).json()
        assert compared["resemblance"] == pytest.approx(gone["resemblance"])
        for path in ("/api/clusters/nobody", "/api/documents?id=nobody", "/api/documents?url=x", "/api/stats?in=index"):
            trouble(http.get(path), 404)
        assert http.post("/api/compare", json={"left": {"text": "a b"}, "right": {"text": "a b"}}).status_code == 200
        assert http.post("/api/group", json={"results": [{"text": "a b"}]}).json()["results"] == 1
        trouble(http.post("/api/group", json={"results": [{"doc_id": "a"}]}), 409)


def test_eight_clients_adding_overlapping_sets_leave_the_union(service: Service) -> None:
    words = LONG.split()
    texts = {f"u{n}": " ".join(words[n % 7 :] + [f"w{n}"] * 3 + words[: n % 5]) for n in range(120)}
    failed: list[str] = []

    def work(number: int) -> None:
        with service.http() as http:
            for at in range(number * 10, number * 10 + 50):
                document = {"doc_id": f"u{at}", "text": texts[f"u{at}"]}
                response = http.post("/api/documents", json=document)
                if response.status_code != 200:
                    failed.append(response.text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with service.http() as http:
        for doc_id, text in texts.items():
            stored = http.get("/api/documents", params={"id": doc_id, "text": True}).json()["documents"]
            assert stored[0]["text"] == text
        http.delete("/api/documents", params={"id": list(texts)})


def test_a_database_that_goes_away_and_comes_back(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.index.storage import failures

    monkeypatch.setattr(failures, "_FIRST_WAIT", 0.01)
    index = Index.create(postgres.database())
    with index, serving(ServedData(index=index)) as http:
        document = {"doc_id": "a", "text": LONG}
        assert http.post("/api/documents", json=document).status_code == 200
        postgres.stop()
        try:
            for response in (http.post("/api/check", json=document), http.post("/api/documents", json=document)):
                assert "cannot be reached" in trouble(response, 503)["error"]
                assert int(response.headers["retry-after"]) > 0
            told = lines(http.post("/api/documents/batch", json=[document]))
            assert told[0]["code"] == 503
            assert http.get("/health").status_code == 503
            assert "roughly_index_up 0" in http.get("/metrics").text
            assert http.get("/nothing").status_code in (404, 503)
        finally:
            postgres.start()
        assert http.post("/api/check", json=document).json()["known"]
        assert http.get("/health").status_code == 200


def test_config_refuses_nonsense() -> None:
    with pytest.raises(roughly.errors.SettingsError, match=r"port.*; .*max_body"):  # type: ignore[attr-defined]
        ServiceConfig(port=-1, max_body=0)
