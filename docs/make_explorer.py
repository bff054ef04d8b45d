"""Takes the pictures of the explorer's pages: `docs/images/explorer-*.png`.

    python docs/make_explorer.py

It runs `dedupe` on the bundled documents, puts them into an index, serves both and opens the pages in Chromium, which
`make system` installs. A test sees that every page in `PAGES` has its picture.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
DOCUMENTS = ROOT / "examples" / "policies.jsonl.gz"
SIZE = {"width": 1280, "height": 800}
LARGEST = 150_000  # bytes of a picture
COLOURS = 128
ALIKE = 0.74  # what the judge in the picture takes for the same
GOES, STAYS = "AdRoll/Ad Publishing Policy#0003", "AdRoll/Ad Publishing Policy#0002"
ASKED = (
    "A mail to all members. Ads may contain cookies that appear to be coming from our site, but in reality they are "
    "coming from our partners who are serving ads on our site. We do not have access to any information about you from "
    "cookies you might receive while visiting our site."
)
PAGES = {
    "overview": "/",
    "cluster": "/clusters?" + urlencode({"id": "Google Earth/Terms of Service#0004"}),
    "documents": "/documents?kept=no&sort=resemblance",
    "side-by-side": "/compare?" + urlencode({"left": GOES, "right": STAYS}),
    "threshold": "/threshold?t=0.9",
    "ask": "/ask?" + urlencode({"text": ASKED}),
    "search": "/search?" + urlencode({"q": '"personal information" cookies -children'}),
    "judge": "/judge?judge=ann",
    "tune": "/tune",
}
"""`tune` comes after `judge`, whose verdicts it uses."""


def prepare(folder: Path) -> tuple[Path, Path]:
    """(a run, an index) of the bundled documents."""
    import roughly
    from roughly.index import Index
    from roughly.settings import Settings

    roughly.dedupe(DOCUMENTS, output=folder / "out", threshold=0.8, recall=0.99, pairs="all")
    with gzip.open(DOCUMENTS, "rt", encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    with Index.create(folder / "archive.db", Settings(threshold=0.8, measure="containment"), search=True) as index:
        index.add([{**row, "doc_id": row["id"]} for row in rows])
    return folder / "out", folder / "archive.db"


@contextmanager
def served(*paths: Path) -> Iterator[str]:
    """The address of a service over these."""
    command = [sys.executable, "-m", "roughly", "serve", *map(str, paths), "--port", "0", "--quiet", "--timeout", "600"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = ""
            while not (found := re.search(r"serving at (http://\S+)/ ", said)):
                said = process.stderr.readline()
                if not said:
                    raise SystemExit("the service did not start")
            yield found[1]
        finally:
            process.terminate()


def take(site: str) -> Iterator[tuple[str, bytes]]:
    """(name, picture) of every page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        page.set_default_timeout(300_000)
        for name, path in PAGES.items():
            page.goto(site + path, wait_until="load")
            if name == "judge":
                page.locator("#pairs").fill("40")
                page.get_by_role("button", name="Draw pairs").click()
                for number in range(2, 21):
                    page.wait_for_selector(".verdicts")
                    pair = page.request.get(f"{site}/judge.json?judge=ann&scores=1").json()["pair"]
                    page.keyboard.press("s" if pair["score"] >= ALIKE else "d")
                    page.get_by_text(f"Pair {number} of").wait_for()
            if name == "tune":
                page.get_by_role("button", name="Choose settings from these verdicts").click()
                page.wait_for_selector("#chosen")
            yield name, page.screenshot(type="png")
        browser.close()


def smaller(picture: bytes) -> bytes:
    """The picture with as many colours as it needs to look the same."""
    from PIL import Image

    made = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        made, "PNG", optimize=True
    )
    return made.getvalue()


def main() -> None:
    """Take all pictures again."""
    with tempfile.TemporaryDirectory() as folder, served(*prepare(Path(folder))) as site:
        for name, picture in take(site):
            drawn = smaller(picture)
            assert len(drawn) < LARGEST, f"{name} has {len(drawn):,} bytes"
            (IMAGES / f"explorer-{name}.png").write_bytes(drawn)
            print(f"explorer-{name}.png  {len(drawn):,} bytes")


if __name__ == "__main__":
    main()
