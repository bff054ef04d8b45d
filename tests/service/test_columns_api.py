"""An index whose texts are made of several columns, over HTTP."""

from __future__ import annotations

import json

from in_process import client_of

from roughly import Index
from roughly.service.application import create_app
from roughly.service.served_data import ServedData

TITLE = "minutes of the council for the third week of march in the year of the flood"
BODY = "present were the mayor and nine members who heard the reports and went home"


def test_title_and_text_are_joined_once_over_http() -> None:
    with (
        Index.create(":memory:", text_column="headline,body", shingle_size=3) as index,
        client_of(create_app(ServedData(index=index))) as client,
    ):
        first = {"doc_id": "first", "title": TITLE, "text": BODY}
        assert client.post("/api/documents", json=first).json()["status"] == "added"
        assert client.post("/api/documents", json=first).json()["status"] == "unchanged"
        assert index.query(f"{TITLE}\n{BODY}")[0].resemblance == 1
        sent = [{"title": TITLE, "text": BODY}, {"text": f"{TITLE}\n{BODY}"}, {"text": BODY}]
        for document, known in zip(sent, (True, True, False), strict=True):
            assert client.post("/api/check", json=document).json()["known"] is known
        lines = client.post("/api/check/batch", json=sent).text.splitlines()
        assert [json.loads(line)["known"] for line in lines] == [True, True, False]
        assert client.post("/api/check", json={"title": TITLE}).status_code == 422
