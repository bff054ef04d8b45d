"""The explorer in a real browser: pages opened at a width and in a scheme, watched while they are open."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

SCREENSHOTS = Path(__file__).resolve().parents[3] / "build" / "screenshots"
SCREENS = ((390, "dark"), (390, "light"), (1280, "dark"), (1280, "light"))
"""(width, scheme)."""
GRAVE = ("serious", "critical")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@dataclass
class Look:
    """Opens pages of a site, and knows what went wrong on them."""

    browser: Browser
    site: str
    complaints: list[str] = field(default_factory=list)
    opened: list[Page] = field(default_factory=list)
    refused: bool = False  # a page was asked for that is refused, of which the browser complains

    def __call__(self, path: str, width: int = 1280, scheme: str = "light", status: int = 200, **more: Any) -> Page:
        """Open a page; `more` goes to the browser, such as `java_script_enabled=False`."""
        page = self.browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, **more)  # type: ignore[arg-type]
        self.watch(page)
        self.refused |= status != 200
        answer = page.goto(self.site + path, wait_until="load")
        assert answer is not None and answer.status == status, f"{path}: {answer and answer.status}"
        assert answer.headers.get("content-security-policy") == POLICY, path
        return page

    def watch(self, page: Page) -> None:
        """Note whatever should not happen."""
        self.opened.append(page)
        say = self.complaints.append
        page.on("console", lambda message: say(f"console: {message.text}") if message.type == "error" else None)
        page.on("pageerror", lambda error: say(f"script: {error}"))
        page.on("request", lambda request: say(f"asked for {request.url}") if not self._ours(request.url) else None)

        def opened(dialog: Any) -> None:
            say(f"a dialog opened: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", opened)

    def _ours(self, url: str) -> bool:
        return url.startswith((self.site + "/", "data:"))

    def finish(self) -> None:
        """Close all pages; none may have complained, none may have run what a document brought along."""
        for page in self.opened:
            if page.is_closed():
                continue
            if page.context.pages and page.evaluate("typeof window.pwned") != "undefined":
                self.complaints.append(f"a document ran a script on {page.url}")
            page.close()
        told = [said for said in self.complaints if not (self.refused and "responded with a status of" in said)]
        assert told == []


def fits(page: Page) -> None:
    """The page is not wider than the screen."""
    wide = page.evaluate("document.documentElement.scrollWidth")
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert wide <= width, f"{page.url} is {wide} pixels wide on a screen of {width}"


def shot(page: Page, name: str, full: bool = True) -> Path:
    """A picture for people to look at, and for CI to keep."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    path = SCREENSHOTS / f"{name}.png"
    page.screenshot(path=path, full_page=full)
    return path


def axe(page: Page) -> None:
    """Refuse what keeps people out: findings that axe-core calls serious or critical."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    grave = [
        f"{one['id']} ({one['impact']}): {one['help']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for one in found
        if one["impact"] in GRAVE
        for node in one["nodes"][:3]
    ]
    assert grave == [], page.url
