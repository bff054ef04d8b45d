"""Objects by features of their own, over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from in_process import client_of

from roughly import Index
from roughly.service.application import create_app
from roughly.service.served_data import ServedData

ANN, BOB, CEM = ["bread", "milk", "tea"], ["jam", "tea", "milk", "bread"], ["nails", "glue"]


def test_features_over_http(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db", features="items", threshold=0.7) as index:
        index.add([{"doc_id": "ann", "items": ANN}])
        with client_of(create_app(ServedData(index=index))) as client:
            answer: dict[str, Any] = client.post("/api/check", json={"features": BOB}).json()
            assert [match["doc_id"] for match in answer["matches"]] == ["ann"]
            assert client.post("/api/documents", json={"doc_id": "bob", "features": BOB}).json()["match"] is not None
            assert client.post("/api/documents", json={"doc_id": "t", "text": "words"}).status_code == 422
            assert client.post("/api/check", json={"text": "words"}).status_code == 422
            lines = client.post("/api/check/batch", json=[{"features": CEM}, {"text": "words"}, {"features": ANN}])
            found = [json.loads(line) for line in lines.text.splitlines()]
            assert found[0]["known"] is False and "compares features" in found[1]["error"] and found[2]["known"]
            both = client.post("/api/check", json={"features": BOB, "text": "words"})
            assert both.status_code == 422
            kind = {"content-type": "application/json"}
            for bad, status in ((ANN, 200), ([None], 422), ([[1]], 422), ("tea", 422), ([{}], 422), (["\ud800"], 200)):
                body = json.dumps({"features": bad})
                assert client.post("/api/check", content=body, headers=kind).status_code == status


def test_features_are_refused_where_texts_are_compared(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db") as index, client_of(create_app(ServedData(index=index))) as client:
        sent = {"doc_id": "ann", "features": ANN}
        for path in ("/api/check", "/api/documents"):
            answer = client.post(path, json=sent)
            assert answer.status_code == 422
            assert answer.json()["error"] == "this index compares texts, and the document has features"
        for path in ("/api/check/batch", "/api/documents/batch"):
            lines = client.post(path, json=[sent, {"doc_id": "bob", "text": "bread, milk and tea"}]).text.splitlines()
            assert "compares texts" in json.loads(lines[0])["error"] and "error" not in json.loads(lines[1])
        assert index.stats().documents == 1
