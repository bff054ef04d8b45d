"""Overview, clusters, documents, side by side, threshold and judge in a real browser."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import quote, urlencode
from urllib.request import urlopen

import pytest
from browsing import SCREENS, Look, axe, fits, shot
from playwright.sync_api import expect

from roughly.service.collection.index_collection import IndexCollection
from service.hostile_documents import PAYLOADS

expect.set_options(timeout=60_000)  # the policy of the pages forbids `wait_for_function`, which evaluates strings


def asked(site: str, path: str) -> dict:
    with urlopen(site + path) as answer:
        return json.load(answer)


@pytest.fixture(scope="session")
def pages(site: str) -> dict[str, str]:
    """The pages by the names of their pictures."""
    listed = asked(site, "/clusters.json")["clusters"]
    first = listed[0]["cluster_id"]
    cluster = asked(site, f"/clusters/{quote(first, safe='')}.json")
    changed = next(one for one in cluster["members"] if not one["kept"] and one["kind"] != "exact")
    pair = urlencode({"left": changed["doc_id"], "right": changed["kept_id"]})
    return {
        "overview": "/",
        "overview-index": "/?in=index",
        "clusters": "/clusters",
        "clusters-index": "/clusters?in=index",
        "cluster": f"/clusters/{quote(first, safe='')}",
        "document": f"/documents/{quote(changed['doc_id'], safe='')}",
        "compare": f"/compare?{pair}",
        "compare-passages": f"/compare?{pair}&view=passages",
        "threshold": "/threshold?t=0.9",
    }


NAMES = (
    "overview", "overview-index", "clusters", "clusters-index", "cluster", "document", "compare", "compare-passages",
    "threshold",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_page_fits_and_keeps_nobody_out(name: str, pages: dict[str, str], look: Look) -> None:
    for width, scheme in SCREENS:
        page = look(pages[name], width, scheme)
        fits(page)
        axe(page)
        shot(page, f"{name}-{width}-{scheme}")
        page.close()


def test_the_page_of_an_index_that_is_being_counted(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, leads to the documents, and is replaced by the list when that is there."""
    monkeypatch.setattr(IndexCollection, "counting", lambda self: 10_000_000)
    for width, scheme in SCREENS:
        page = look("/documents?in=index", width, scheme)
        page.route("**/again.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
        page.goto(f"{look.site}/clusters?in=index")
        expect(page.locator("main")).to_contain_text("about 10,000,000")
        fits(page)
        axe(page)
        shot(page, f"counting-{width}-{scheme}")
    page = look("/clusters?in=index")
    monkeypatch.undo()
    expect(page.locator("#found .count")).to_be_visible()


def test_the_list_is_filtered_while_one_types_and_the_address_says_it(look: Look) -> None:
    page = look("/clusters")
    whole = page.locator("#found .count").inner_text()
    page.locator("#q").press_sequentially("twitter")
    page.wait_for_url(re.compile("q=twitter"))
    expect(page.locator("#found .count")).not_to_have_text(whole)
    again = look(page.url.removeprefix(look.site))
    assert again.locator("#found .count").inner_text() == page.locator("#found .count").inner_text()


def test_a_list_is_walked_with_keys(look: Look) -> None:
    page = look("/clusters")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/clusters/."))
    assert page.locator("h1").inner_text()


def test_the_two_texts_scroll_together_and_pairs_are_stepped_through(pages: dict[str, str], look: Look) -> None:
    page = look(pages["compare"])
    left, right = page.locator(".pane[data-side=left]"), page.locator(".pane[data-side=right]")
    assert left.evaluate("e => e.scrollHeight > e.clientHeight + 200")
    left.evaluate("e => { e.scrollTop = e.scrollHeight / 2 }")
    until = time.monotonic() + 60
    while right.evaluate("e => e.scrollTop") <= 50:
        assert time.monotonic() < until, "the other text does not follow"
        page.wait_for_timeout(50)
    before = page.url
    page.keyboard.press("n")
    page.wait_for_url(lambda url: url != before)
    assert "left=" in page.url


def test_the_slider_shows_the_outcome_at_once(look: Look) -> None:
    page = look("/threshold")
    before = page.locator("#outcome .figures").inner_text()
    page.locator("#t").focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"t=0\.9"))
    expect(page.locator("#outcome .figures")).not_to_have_text(before)
    assert page.locator("#said").inner_text() == "0.9"
    expect(page.locator("#examples #apart")).to_be_visible()  # texts follow


def test_pairs_are_judged_with_keys(look: Look) -> None:
    page = look("/judge?judge=ann")
    shot(page, "judge-begin-1280-light")
    axe(page)
    page.locator("#pairs").fill("12")
    page.get_by_role("button", name="Draw pairs").click()
    expect(page.locator(".verdicts")).to_be_visible()
    for width, scheme in SCREENS:
        one = look("/judge?judge=ann", width, scheme)
        fits(one)
        axe(one)
        shot(one, f"judge-{width}-{scheme}")
        one.close()
    for number, key in enumerate(("s", "s", "d", "n"), 2):
        page.keyboard.press(key)
        expect(page.locator("#judging .lead")).to_contain_text(f"Pair {number} of")
    page.keyboard.press("u")
    expect(page.locator("#judging .lead")).to_contain_text("Pair 4 of")
    told = asked(look.site, "/judge.json?judge=ann")
    assert told["done"] == 3 and told["report"]["judged"] == {"ann": 3}
    assert told["report"]["skipped"] == {"ann": 0}
    shot(page, "judge-later-1280-light")


def test_everything_works_without_script(pages: dict[str, str], look: Look) -> None:
    page = look("/clusters", java_script_enabled=False)
    page.locator("#q").fill("twitter")
    page.get_by_role("button", name="Show").click()
    assert "q=twitter" in page.url
    page.locator("article a").first.click()
    page.get_by_role("link", name=re.compile("^side by side")).first.click()
    assert page.locator(".pane").count() == 2
    look("/threshold?t=0.95", java_script_enabled=False)
    judging = look("/judge?judge=bob", java_script_enabled=False)
    if (draw := judging.get_by_role("button", name="Draw pairs")).count():
        draw.click()
        while (again := judging.get_by_role("link", name="See how far it is")).count():
            again.click()
    judging.get_by_role("button", name=re.compile("Different")).click()
    assert "Pair 2 of" in judging.locator("#judging .lead").inner_text()


def test_hostile_documents_are_only_shown(site: str, look: Look) -> None:
    """`look` fails where a script ran, a dialog opened or the console complained."""
    found = []
    for payload in PAYLOADS.values():
        own = asked(site, "/clusters.json?" + urlencode({"q": payload[:60]}))["clusters"]
        assert len(own) == 1, payload[:60]
        found += own
    for one in found:
        name = quote(one["cluster_id"], safe="")
        page = look(f"/clusters/{name}", 390)
        fits(page)
        members = asked(site, f"/clusters/{name}.json")["members"]
        look(f"/documents/{quote(members[1]['doc_id'], safe='')}", 390).close()
        compared = look("/compare?" + urlencode({"left": members[1]["doc_id"], "right": members[0]["doc_id"]}), 390)
        fits(compared)
        compared.close()
        page.close()
    look("/documents/one-long-line").close()
    look("/compare?left=one-long-line&right=one-long-line").close()
