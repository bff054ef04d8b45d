"""The report of a real run in a real browser: nothing loaded, nothing overflows, light, dark, laptop, phone, paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

import roughly
from chromium import chromium
from roughly.report.data import PairSample
from roughly.report.verdict_page import (
    CalibrationBin,
    CurvePoint,
    VerdictData,
    WeightRow,
    WrongPair,
    write_verdict_page,
)

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "artifacts"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("browser") / "out"
    roughly.dedupe(ROOT / "examples" / "policies.jsonl.gz", output=out)
    return out / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.slow
def test_the_report_in_a_browser(report: Path, browser: Browser, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()]
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "511" in page.inner_text("body") and "343" in page.inner_text("body")
    assert page.locator("svg").count() >= 3
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in background.removeprefix("rgb(").rstrip(")").split(",")[:3])
    assert (brightness > 600) == (scheme == "light"), background
    ARTIFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTIFACTS / f"report-{width}-{scheme}.png", full_page=True)
    page.close()


@pytest.mark.slow
def test_the_page_of_a_verdict_in_a_browser(tmp_path: Path, browser: Browser) -> None:
    pair = WrongPair(
        0.73, PairSample("a/long-name-of-a-document.html#12", "b", "one two " * 40, "one three " * 40, 0.5, 0.5, 0.5)
    )
    weights = [
        WeightRow(name, "containment of rare words", 5.3 - at, 4.1 - at, 6.4 - at)
        for at, name in enumerate(("rare_words_held", "words"))
    ]
    data = VerdictData(
        prior=-10.3, probability=0.55, threshold=0.24, shingle_size=2, f1=0.907, pairs=5120, weights=weights,
        calibration=[CalibrationBin(9, step / 10, (step / 10) ** 2) for step in range(11)],
        curve=[CurvePoint(step / 20, 0.5 + step / 40, 1 - step / 20) for step in range(1, 20)],
        wrongly_same=(1, [pair]), missed=(12, [pair, pair]),
    )  # fmt: skip
    path = tmp_path / "verdict.html"
    write_verdict_page(data, path)
    ARTIFACTS.mkdir(exist_ok=True)
    for width, scheme in ((390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(path=ARTIFACTS / f"verdict-{width}-{scheme}.png", full_page=True)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["impact"]) for one in found if one["impact"] in ("serious", "critical")] == []
        page.close()


def test_the_report_on_paper(report: Path, browser: Browser) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(report.as_uri())
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF") and paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") >= 2
    page.close()
