"""What pages say where they were unclear: ids in search, excerpts, lower thresholds, empty documents, the API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import roughly
from roughly.index import Index
from roughly.job.gathered_settings import merge_settings
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.settings import Settings
from service.in_process import PATIENT, client_of
from service.page_elements import only_ours

Row = dict[str, Any]
STORY = " ".join(f"story{n}" for n in range(400))
MAIL_DATE = "Tue, 6 Apr 1993 07:05:17 GMT"
EXCERPT = " ".join(f"story{n}" for n in range(120, 150))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("mended")
    near = [f"near{n}" for n in range(80)]
    rows: list[Row] = [
        {"id": "story/1", "text": STORY, "title": "A story", "date": "2001-05-01"},
        {"id": "story/2", "text": STORY + " and more", "title": "The story", "date": "2002-06-01T10:00:00Z"},
        {"id": "near/1", "text": " ".join(near), "date": MAIL_DATE},
        {"id": "near/2", "text": " ".join([*near[:70], *(f"other{n}" for n in range(12))])},
        *({"id": f"empty/{n}", "text": " " * n} for n in range(4)),
    ]
    given = folder / "documents.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roughly.dedupe(given, output=folder / "out", threshold=0.8)
    with Index.create(folder / "a.db", Settings(threshold=0.8), search=True) as index:
        index.add([{**row, "doc_id": row["id"]} for row in rows])
        with client_of(create_app(ServedData(run=folder / "out", index=index), PATIENT)) as client:
            yield client


def seen(client: httpx.Client, url: str, status: int = 200) -> str:
    answer = client.get(url)
    assert answer.status_code == status, answer.text[:300]
    return " ".join(only_ours(answer.text, url).text.split())


def test_search_finds_ids(client: httpx.Client) -> None:
    told = client.get("/search.json?q=story/").json()
    assert [one["doc_id"] for one in told["named"]] == ["story/1", "story/2"]
    assert "By id" in seen(client, "/search?q=near/1") and "By id" not in seen(client, "/search?q=nothing+here")


def test_an_excerpt_is_answered_with_what_contains_it(client: httpx.Client) -> None:
    page = seen(client, f"/ask?text={EXCERPT}")
    assert "Not alike as a whole; 100 % contained in" in page and "Nothing similar" not in page
    found = client.get(f"/ask.json?text={EXCERPT}").json()["found"]
    assert {one["doc_id"] for one in found} == {"story/1", "story/2"} and {one["containment"] for one in found} == {1.0}
    other = " ".join(f"unknown{n}" for n in range(30))
    assert "Nothing similar is stored" in seen(client, f"/ask?text={other}")


def test_lower_thresholds_are_estimated_and_settings_exported(client: httpx.Client, tmp_path: Path) -> None:
    own, lower = (client.get(f"/threshold.json?t={t}").json() for t in ("0.8", "0.65"))
    assert own["floor"] == 0.6 and own["exact"] and not lower["exact"]
    assert lower["outcome"]["removed"] == own["outcome"]["removed"] + 1  # the two that are near
    assert "An estimate from near misses" in seen(client, "/threshold?t=0.65")
    assert client.get("/threshold.json?t=0.5").status_code == 422
    written = tmp_path / "settings.toml"
    answer = client.get("/threshold/settings.toml?t=0.65")
    assert answer.headers["content-disposition"].endswith('"settings.toml"')
    written.write_text(answer.text, encoding="utf-8")
    assert merge_settings({}, file=written) == Settings(threshold=0.65)


def test_empty_documents_are_called_so(client: httpx.Client) -> None:
    found = [one for one in client.get("/clusters.json").json()["clusters"] if one["empty"]]
    assert len(found) == 1 and found[0]["size"] == 4
    page = client.get(f"/clusters?id={found[0]['cluster_id']}").text
    assert "Empty documents" in page and 'class="plot who"' not in page
    assert "Empty documents" in seen(client, "/clusters")
    assert seen(client, "/compare?left=empty/1&right=empty/2").count("It is empty.") == 2


def test_dates_are_shown_whole(client: httpx.Client) -> None:
    """Cut at a T, `Tue, 6 Apr 1993 …` was nothing, and `… GMT` was `… GM`."""
    table = seen(client, "/documents")
    assert MAIL_DATE in table and "2002-06-01" in table and "T10:00" not in table
    assert MAIL_DATE in seen(client, "/documents/near%2F1") and MAIL_DATE in seen(client, "/search?q=near/1")


def test_neighbours_and_copies_have_names(client: httpx.Client) -> None:
    page = seen(client, "/documents/story%2F1")
    assert "The story" in page and "2002-06-01" in page
    copies = seen(client, "/copies?id=story/1")
    assert "The story" in copies and "story/2" in copies


def test_messages_are_plain_and_code_is_code(client: httpx.Client) -> None:
    refused = client.get("/threshold?t=x")
    assert refused.status_code == 422 and "Please check the request" in refused.text
    assert "makes no sense" not in refused.text and "`" not in seen(client, "/threshold?t=0.1", 422)
    with client_of(create_app(ServedData(index=None, run=None), PATIENT)) as nothing:
        page = nothing.get("/threshold").text
        assert "<code>roughly serve</code>" in page and "`" not in page


def test_all_parameters_of_the_api_are_described(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()
    missing = [
        (path, one["name"])
        for path, operations in described["paths"].items()
        for operation in operations.values()
        for one in operation.get("parameters", ())
        if not (one.get("description") or one["schema"].get("description"))
    ]
    assert missing == []
    bodies = ("CheckRequest", "CompareRequest", "CompareSide", "GroupRequest", "IdList", "NewDocument")
    schemas = described["components"]["schemas"]
    fields = [(name, field) for name in bodies for field, facts in schemas[name]["properties"].items()
              if not facts.get("description")]  # fmt: skip
    assert fields == []
    page = client.get("/api").text
    assert "`" not in page and "The measure of <code>minimum</code>" in page


def test_no_page_shows_the_sign_for_paragraphs(client: httpx.Client) -> None:
    for path in ("/clusters", "/documents/story%2F1", "/threshold", "/search?q=story1", f"/ask?text={EXCERPT}"):
        assert "¶" not in client.get(path).text, path
    buttons = re.findall(r'<button class="(same|different)"', client.get("/judge").text)
    assert buttons in ([], ["same", "different"])
