"""The pages about an index, and about repeated passages, in Chromium: two widths, light and dark, by keyboard, without
script, with hostile texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import SCREENS, Look, axe, fits, shot

from service.hostile_documents import hostile_rows

PAGES = {
    "search": "/search?q=privacy+personal+information",
    "ask": "/ask?text=We+collect+information+to+provide+better+services+to+all+of+our+users",
    "ask-stored": "/ask?id=http%3A%2F%2Fsite.example%2Fold%2F1%402024-01-01",
    "lost": "/lost?url=http%3A%2F%2Fsite.example%2Fold%2F1",
    "copies": "/copies?id=http%3A%2F%2Fsite.example%2Fnew%2F1%402024-02-01",
    "changes": "/changes",
    "passages": "/passages",
    "passage": "/passages/1",
    "passages-document": "/passages/document?id=ValueImpression%2FTerms%20of%20Service%230010",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page(look: Look, name: str) -> None:
    for width, scheme in SCREENS:
        page = look(PAGES[name], width, scheme)
        fits(page)
        axe(page)
        shot(page, f"{name}-{width}-{scheme}")


def test_search_by_keyboard(look: Look) -> None:
    page = look("/ask")
    page.keyboard.press("/")
    page.keyboard.type("privacy policy")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=privacy+policy")
    page.locator("body").click(position={"x": 2, "y": 2})
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator(".results [data-item] a").first
    assert first.evaluate("one => one === document.activeElement")
    page.keyboard.press("Shift+?")
    assert page.locator("#keys").evaluate("one => one.open")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/**")


def test_searching_again_changes_only_the_part(look: Look) -> None:
    page = look("/search?q=privacy")
    page.evaluate("window.stays = true")
    page.fill("#q", "cookies")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=cookies")
    assert page.evaluate("window.stays") and page.locator("#found .results").count() == 1
    page.go_back()
    page.wait_for_url("**/search?q=privacy")


def test_without_script(look: Look) -> None:
    page = look("/search?q=privacy", java_script_enabled=False)
    page.fill("#q", "cookies")
    page.click("main button")
    page.wait_for_url("**/search?q=cookies")
    page.goto(look.site + "/ask")
    page.fill("#text", "We collect information to provide better services to all of our users, from figuring out")
    page.click("text=Query with the text")
    page.wait_for_url("**/ask?text=*")
    assert page.locator("#found h2").count() == 1
    page.close()


def test_a_file_is_dropped(look: Look, tmp_path: Path) -> None:
    given = tmp_path / "page.html"
    given.write_text("<p>We collect information to provide better services.</p><script>window.pwned=9</script>")
    page = look("/ask")
    page.set_input_files("#file", given)
    page.click("text=Query with the file")
    page.wait_for_selector("#found")
    assert "page.html" in page.inner_text("main")
    data = page.evaluate_handle(
        "() => { const d = new DataTransfer(); d.items.add(new File(['some text'], 'dropped.txt')); return d }"
    )
    page.dispatch_event("[data-drop]", "drop", {"dataTransfer": data})
    page.wait_for_selector("text=dropped.txt")


def test_hostile_documents_do_nothing(look: Look) -> None:
    """The watch over the page notes any script that ran, any dialog, any request elsewhere."""
    page = look("/search?q=hostile")
    assert page.locator(".results [data-item]").count() >= 10
    fits(page)
    axe(page)
    shot(page, "hostile-search-1280-light")
    phone = look("/search?q=hostile&group=off", 390, "dark")
    fits(phone)
    shot(phone, "hostile-search-390-dark")
    for row in hostile_rows()[1:8:2]:
        page.goto(look.site + "/ask")
        page.fill("#id", row["id"])
        page.press("#id", "Enter")
        page.wait_for_load_state()
        assert page.locator("main h1").count() == 1
        page.mouse.move(300, 500)
