"""The pages about a run, and about an index beside it, over HTTP: each with its twin, for any id, with any text."""

from __future__ import annotations

import html
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import httpx
import pytest

from roughly.index import Index
from roughly.report.visible import label
from roughly.report.wording import score
from roughly.service.application import create_app
from roughly.service.explorer.document_page import WINDOW
from roughly.service.explorer.side_by_side import WINDOW as BESIDE
from roughly.service.served_data import ServedData
from service.in_process import PATIENT, client_of
from service.looked_at import LONG, ODD, looked_at_rows, write_rows
from service.page_elements import only_ours

Row = dict[str, Any]


@pytest.fixture(scope="module")
def client(looked_at_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        Index.import_run(looked_at_run, tmp_path_factory.mktemp("pages") / "a.db") as index,
        client_of(create_app(ServedData(run=looked_at_run, index=index), PATIENT)) as client,
    ):
        yield client


def json_of(client: httpx.Client, url: str, status: int = 200) -> Row:
    answer = client.get(url)
    assert answer.status_code == status and answer.headers["content-type"] == "application/json", (
        url,
        answer.text[:500],
    )
    return answer.json()


def seen(client: httpx.Client, url: str, status: int = 200) -> str:
    """The words of a page, which is made of nothing but ours."""
    answer = client.get(url)
    assert answer.status_code == status and answer.headers["content-type"].startswith("text/html"), (
        url,
        answer.text[:500],
    )
    return only_ours(answer.text, url).text


def twin_of(client: httpx.Client, url: str) -> Row:
    """What the page's own link to its twin leads to."""
    found = re.search(r'<a href="([^"]+)">This page as JSON</a>', client.get(url).text)
    assert found, url
    return json_of(client, html.unescape(found[1]))


def shown_as(name: str, limit: int = 96) -> str:
    return label(name, limit)


def plainly(words: str) -> str:
    return words.replace("\xa0", " ")


def test_the_overview_and_its_twin(client: httpx.Client) -> None:
    told, page = twin_of(client, "/"), seen(client, "/")
    assert told == json_of(client, "/index.json") and told["counts"]["documents"] == len(looked_at_rows())
    assert f"{told['counts']['kept']:,}" in page and f"{told['counts']['removed']:,}" in page
    assert sum(size * n for size, n in told["cluster_sizes"]) <= told["counts"]["documents"]
    stored = twin_of(client, "/?in=index")
    assert stored["in"] == "index" and f"{stored['counts']['documents']:,} documents" in seen(client, "/?in=index")


LISTS = (
    "", "?sort=lowest", "?sort=newest&page=2", "?kind=revision&least=3", "?q=family+1", "?suspicion=any",
    "?source=close", "?low=0.8&high=0.95", "?in=index", "?in=index&sort=smallest&most=4", "?q=nothing+has+this",
)  # fmt: skip
REFUSED = (
    "sort=best", "suspicion=odd", "low=2", "low=x", "least=none", "page=0", "page=-1", "page=99999999999", "in=both",
    "in=index&sort=lowest", "in=index&kind=exact",
)  # fmt: skip
MISSING = (
    "/clusters/nobody", "/documents/nobody", "/documents/no/body", "/compare?left=nobody&right=nobody",
    f"/compare?left={LONG[0]}&right=nobody", "/documents?url=http://nowhere.example/", "/nowhere",
)  # fmt: skip
UNCLEAR = (
    "/compare", "/compare?left=a", "/compare?left=a&right=b&view=odd", "/documents?sort=odd",
    f"/documents/{LONG[0]}?start=x", "/documents?c=odd", "/documents?since=soon",
    f"/compare?left={LONG[0]}&right={LONG[1]}&l=1",
)  # fmt: skip


@pytest.mark.parametrize("query", LISTS)
def test_the_list_shows_what_its_twin_holds(client: httpx.Client, query: str) -> None:
    told, page = twin_of(client, f"/clusters{query}"), seen(client, f"/clusters{query}")
    assert f"{told['total']:,} cluster" in page
    for row in told["clusters"]:
        assert shown_as(row["title"], 120) in page
        for warning in row["warnings"]:
            assert plainly(warning["text"]) in page
    assert told["clusters"] or "No cluster matches" in page
    part = client.get(f"/clusters{query}", headers={"HX-Request": "true"}).text
    assert "<html" not in part and f"{told['total']:,} cluster" in only_ours(part, query).text


def test_pages_of_the_list_meet_every_cluster_once(client: httpx.Client) -> None:
    first = json_of(client, "/clusters.json?sort=id")
    assert first["pages"] >= 2
    met = [
        row["cluster_id"]
        for page in range(1, first["pages"] + 1)
        for row in json_of(client, f"/clusters.json?sort=id&page={page}")["clusters"]
    ]
    assert met == sorted(met) and len(set(met)) == first["total"] == len(met)
    assert json_of(client, f"/clusters.json?page={first['pages'] + 1}")["clusters"] == []


@pytest.mark.parametrize("query", REFUSED)
def test_a_question_that_cannot_be_answered_is_refused_in_words(client: httpx.Client, query: str) -> None:
    assert json_of(client, f"/clusters.json?{query}", 422)["error"]
    assert len(seen(client, f"/clusters?{query}", 422)) > 50


@pytest.mark.parametrize("where", ["", "in=index"])
def test_every_link_of_a_list_leads_somewhere(client: httpx.Client, where: str) -> None:
    """Ids with slashes, spaces, `.json` at the end: from the list to the cluster, the document, the pair."""
    walked = 0
    for name in ODD:
        listed = client.get(f"/clusters?{urlencode({'q': name})}&{where}").text
        links = [one for one in only_ours(listed, name).addresses if re.match(r"/clusters(/|\?id=)", one)]
        assert links, name
        for link in links:
            page = client.get(link)
            assert page.status_code == 200, link
            cluster = twin_of(client, link)
            onward = only_ours(page.text, link).addresses
            documents = {one for one in onward if re.match(r"/documents[/?]", one)}
            pairs = {one for one in onward if one.startswith("/compare?")}
            assert len(documents) >= len(cluster["members"]) and pairs
            for one in documents:
                assert twin_of(client, one)["document"]["doc_id"] in {row["doc_id"] for row in cluster["members"]}
            for one in pairs:
                asked, told = parse_qs(urlsplit(one).query), twin_of(client, one)
                assert [told["left"]["doc_id"], told["right"]["doc_id"]] == [asked["left"][0], asked["right"][0]]
                walked += 1
    assert walked >= len(ODD)


@pytest.mark.parametrize("name", ODD)
def test_a_document_by_its_id(client: httpx.Client, name: str) -> None:
    row = next(row for row in looked_at_rows() if row["id"] == name)
    told, page = (
        json_of(client, f"/documents.json?{urlencode({'id': name})}"),
        seen(client, f"/documents?{urlencode({'id': name})}"),
    )
    assert told["document"]["doc_id"] == name and told["text"] == row["text"] and told["text"] in page
    assert row["title"] in page and row["source"] in page and row["url"] in page
    assert json_of(client, f"/documents/{quote(name, safe='')}.json") == told or name == ".."
    by_url = client.get("/documents", params={"url": row["url"]})
    assert by_url.status_code == 303
    assert json_of(client, f"/documents.json?{urlencode({'url': row['url']})}")["documents"][0]["doc_id"] == name


def test_a_cluster_and_its_twin(client: httpx.Client) -> None:
    for row in json_of(client, "/clusters.json?suspicion=any")["clusters"]:
        url = f"/clusters/{quote(row['cluster_id'], safe='')}"
        told, page = twin_of(client, url), seen(client, url)
        assert len(told["members"]) == row["size"] and told["warnings"]
        for one in told["members"]:
            assert shown_as(one["doc_id"], 64) in page
        for one in told["warnings"]:
            assert plainly(one["text"]) in page
        stays = [one["doc_id"] for one in told["members"] if one["kept"]]
        assert len(stays) == row["kept"] and told["members"][0]["kept"]
        assert all(one["kept_id"] in stays for one in told["members"])


@pytest.mark.parametrize("view", ["differences", "passages"])
@pytest.mark.parametrize("where", ["run", "index"])
def test_two_documents_side_by_side(client: httpx.Client, view: str, where: str) -> None:
    pair = {"left": f"{ODD[0]} v1", "right": ODD[0]}
    url = f"/compare?{urlencode({**pair, 'view': view, 'in': where})}"
    told, page = twin_of(client, url), seen(client, url)
    rows = {row["id"]: row["text"] for row in looked_at_rows()}
    for side, name in pair.items():
        assert "".join(mark["text"] for mark in told["sides"][side]["marks"]) == rows[name]
    assert score(told["scores"]["resemblance"], 3) in page and plainly(told["why"]["told"][0]) in page
    turned = json_of(client, f"/compare.json?{urlencode({'left': pair['right'], 'right': pair['left'], 'in': where})}")
    assert turned["scores"]["resemblance"] == told["scores"]["resemblance"]
    assert turned["scores"]["containment"] == told["scores"]["contained_in"]
    differing = json_of(client, f"/compare.json?{urlencode({**pair, 'in': where})}")["sides"]["left"]["marks"]
    only = [mark["text"] for mark in differing if mark["tag"] == "only"]
    assert "edit1" in " ".join(only)


def test_what_is_not_there_is_told_in_words(client: httpx.Client) -> None:
    for path in MISSING:
        for where in ("", "in=index"):
            joined = path + ("&" if "?" in path else "?") + where
            assert len(seen(client, joined, 404)) > 50
            head, _, query = joined.partition("?")
            assert json_of(client, f"{head}.json?{query}", 404)["error"]
    for path in UNCLEAR:
        assert seen(client, path, 422)
    assert seen(client, f"/documents/{quote('<script>alert(1)</script>', safe='')}", 404)


def test_texts_of_five_megabytes_are_shown_in_windows(client: httpx.Client) -> None:
    pair = urlencode({"left": LONG[0], "right": LONG[1]})
    begun = time.monotonic()
    told = json_of(client, f"/compare.json?{pair}")
    assert time.monotonic() - begun < 60
    for side in ("left", "right"):
        assert told["sides"][side]["length"] > 4_000_000
        assert sum(len(mark["text"]) for mark in told["sides"][side]["marks"]) <= BESIDE
    assert told["sides"]["differences"] == 1 and told["sides"]["cut"]
    assert "changed" in {mark["text"].strip() for mark in told["sides"]["right"]["marks"]}
    page = client.get(f"/compare?{pair}").text
    assert len(page) < 12 * BESIDE and "From the beginning" in page
    document = json_of(client, f"/documents/{LONG[0]}.json")
    assert len(document["text"]) == WINDOW and document["length"] > 4_000_000
    last = json_of(client, f"/documents/{LONG[0]}.json?start={document['length'] - 10}")
    assert len(last["text"]) == 10
    assert len(client.get(f"/documents/{LONG[0]}").text) < 3 * WINDOW
    assert len(client.get(f"/clusters/{LONG[1]}").text) < 100_000


def test_walking_the_windows_of_a_long_text(client: httpx.Client) -> None:
    """Every link to the next window is followed from the middle on for a while; windows join without a gap."""
    url = f"/documents/{LONG[0]}?start=100000"
    text = next(row["text"] for row in looked_at_rows() if row["id"] == LONG[0])
    for number in range(3):
        assert twin_of(client, url)["text"] == text[100_000 + number * WINDOW :][:WINDOW]
        found = re.search(r'rel="next"[^>]*href="([^"]+)"', client.get(url).text)
        assert found
        url = html.unescape(found[1])


def test_figures_of_a_threshold_do_not_wait_for_texts(client: httpx.Client) -> None:
    part = client.get("/threshold?t=0.9", headers={"HX-Request": "true"}).text
    later = re.search(r'hx-get="(/threshold/examples[^"]*)"', part)
    assert later is not None and "documents removed" in part.lower() and "no longer count" not in part
    pairs, whole = client.get(later[1]).text, client.get("/threshold?t=0.9").text
    assert "no longer count" in pairs and pairs.strip() in whole and "hx-get" not in whole.split('id="outcome"')[1]
    assert client.get("/threshold/examples?t=2").status_code == 422
    assert client.get("/threshold.json?t=0.9", headers={"HX-Request": "true"}).json()["apart"]


def test_the_threshold_page_shows_what_its_twin_holds(client: httpx.Client) -> None:
    own = twin_of(client, "/threshold")
    higher, page = twin_of(client, "/threshold?t=0.9"), seen(client, "/threshold?t=0.9")
    assert higher["exact"] and higher["outcome"]["removed"] < own["outcome"]["removed"]
    assert f"{higher['outcome']['removed']:,}" in page and f"{higher['outcome']['kept']:,}" in page
    for pair in higher["apart"]:
        assert own["threshold"] <= pair["resemblance"] < 0.9 and shown_as(pair["left_id"]) in page
    for wrong in ("t=x", "t=nan"):
        assert json_of(client, f"/threshold.json?{wrong}", 422)["error"]


def test_hostile_documents_stay_text_on_every_page(client: httpx.Client) -> None:
    hostile = [row for row in looked_at_rows() if "hostile" in row["text"]]
    assert len(hostile) == 24
    for one, other in zip(hostile[::2], hostile[1::2], strict=True):
        for where in ("run", "index"):
            asked = {"in": where}
            pages = [
                f"/clusters?{urlencode({'q': one['title'][:200], **asked})}",
                f"/clusters?{urlencode({'source': one['source'], **asked})}",
                f"/documents?{urlencode({'id': one['id'], **asked})}",
                f"/documents?{urlencode({'url': one['url'], **asked})}",
                f"/compare?{urlencode({'left': one['id'], 'right': other['id'], **asked})}",
                f"/compare?{urlencode({'left': one['id'], 'right': other['id'], 'view': 'passages', **asked})}",
            ]
            told = json_of(client, f"/documents.json?{urlencode({'id': one['id'], **asked})}")
            assert told["document"]["doc_id"] == one["id"] and told["text"] == one["text"]
            assert told["document"]["title"] == one["title"] and told["document"]["url"] == one["url"]
            pages.append(f"/clusters?{urlencode({'id': told['document']['cluster_id'], **asked})}")
            for url in pages:
                page = client.get(url, follow_redirects=True)
                assert page.status_code == 200, url
                only_ours(page.text, url)
                shown = re.sub(r'value="[^"]*"', "", page.text)  # a field holds what was typed
                assert "\x07" not in shown and "\u202e" not in shown and "\x1b" not in shown, url
    for url in ("/", "/threshold?t=0.8", "/?in=index"):
        seen(client, url)


def test_a_run_whose_input_is_gone_shows_all_but_texts(looked_at_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(looked_at_run, tmp_path / "run")
    told = (folder / "run.json").read_text(encoding="utf-8")
    (folder / "run.json").write_text(told.replace(str(looked_at_run.parent), str(tmp_path / "gone")), encoding="utf-8")
    pair = urlencode({"left": "close-1", "right": "close-0"})
    with client_of(create_app(ServedData.open([folder]), PATIENT)) as client:
        for url in ("/", "/clusters", "/threshold?t=0.9"):
            seen(client, url)
        cluster = json_of(client, "/clusters.json?q=close-")["clusters"][0]["cluster_id"]
        for url in (f"/clusters/{cluster}", "/documents/close-1", f"/compare?{pair}", "/judge"):
            assert "--input" in seen(client, url), url
        document = json_of(client, "/documents/close-1.json")
        assert document["text"] is None and "--input" in document["text_missing"] and document["others"]
        compared = json_of(client, f"/compare.json?{pair}")
        assert compared["sides"] is None and compared["scores"]["resemblance"] > 0.9
    moved = write_rows(looked_at_rows(), tmp_path / "moved.jsonl")
    with client_of(create_app(ServedData.open([folder], inputs=[moved]), PATIENT)) as client:
        assert json_of(client, "/documents/close-1.json")["text"].endswith("copy1")
        assert json_of(client, f"/compare.json?{pair}")["sides"]["differences"] >= 1
