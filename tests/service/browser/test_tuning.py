"""Judge, tune, run again and look at the new run, in a real browser; once without script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import SCREENS, Look, axe, fits, shot
from playwright.sync_api import Browser, Page, expect

import roughly
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from service.in_process import PATIENT, serving
from service.judged_run import EXAMPLES, judge_by, nearly_as_long, same_numbers

expect.set_options(timeout=120_000)


@pytest.fixture
def own_run(tmp_path: Path) -> Path:
    """A run that the service may exchange for another."""
    roughly.dedupe(EXAMPLES, output=tmp_path / "out", threshold=0.7)
    return tmp_path / "out"


@pytest.fixture
def own_look(browser: Browser, own_run: Path) -> Iterator[Look]:
    """Opens pages of a service over it."""
    with serving(create_app(ServedData(run=own_run), PATIENT)) as address:
        looking = Look(browser, address)
        yield looking
        looking.finish()


def seen(page: Page, name: str, look: Look) -> None:
    """The page on all screens."""
    path = page.url.removeprefix(look.site)
    for width, scheme in SCREENS:
        one = look(path, width, scheme)
        fits(one)
        axe(one)
        shot(one, f"{name}-{width}-{scheme}")
        one.close()


def test_a_person_goes_round_the_loop(own_run: Path, own_look: Look) -> None:
    page = own_look("/tune")
    seen(page, "tune-nothing", own_look)
    judge_by(nearly_as_long, own_run, 60, leave=2, judge="judge")
    page.goto(f"{own_look.site}/judge")
    for done in (59, 60):
        page.keyboard.press("s")
        expect(page.locator("#judging .lead")).to_contain_text(f"Pair {done + 1} of" if done < 60 else "All 60 pairs")
    page.get_by_role("link", name="Choose settings from these verdicts").click()
    page.get_by_role("button", name="Choose settings from these verdicts").click()
    expect(page.locator("#chosen")).to_contain_text("recommended")  # the page loads itself again at the end
    seen(page, "tune-chosen", own_look)
    with page.expect_download() as loading:
        page.get_by_role("link", name="Settings as a file").click()
    assert loading.value.path().read_text("utf-8") == own_run.with_name("out.tuned.toml").read_text("utf-8")
    page.get_by_role("button", name="Run with these settings").click()
    expect(page.locator("#next")).to_contain_text("out.tuned")
    seen(page, "tune-next", own_look)
    page.locator("#next summary").click()
    page.locator("#next li a").first.click()
    assert page.locator(".pane").count() == 2
    page.go_back()
    page.get_by_role("button", name="Show the new run here").click()
    expect(page.locator(".subject")).to_contain_text("out.tuned")
    page.get_by_role("link", name="Judge", exact=True).click()
    expect(page.get_by_role("button", name="Draw pairs")).to_be_visible()  # round again
    page.get_by_role("link", name="Tune", exact=True).click()
    seen(page, "tune-again", own_look)
    page.get_by_role("button", name="Show out again").click()
    expect(page.locator(".subject strong")).to_have_text("out")


def test_a_learned_verdict_is_drawn(own_run: Path, own_look: Look) -> None:
    judge_by(same_numbers, own_run, 200)
    page = own_look("/tune")
    page.get_by_role("button", name="Choose settings from these verdicts").click()
    expect(page.locator("h1")).to_have_text("A learned verdict is recommended")
    seen(page, "tune-learned", own_look)
    page.locator("#wrong .pair-card a").first.click()
    assert page.locator(".pane").count() == 2


def test_without_script_too(own_run: Path, own_look: Look) -> None:
    judge_by(nearly_as_long, own_run, 60)
    page = own_look("/tune", java_script_enabled=False)
    page.get_by_role("button", name="Choose settings from these verdicts").click()
    for button, part in (("Run with these settings", "#chosen"), ("Show the new run here", "#next")):
        while not page.locator(part).count():
            page.get_by_role("link", name="See how far it is").click()
        page.get_by_role("button", name=button).click()
    assert "out.tuned" in page.locator(".subject").inner_text()
