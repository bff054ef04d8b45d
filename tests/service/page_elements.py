"""What a page is made of, as a browser reads it: nothing in it may come from a document but text."""

from __future__ import annotations

from html.parser import HTMLParser

OURS = {
    "html", "head", "meta", "title", "link", "script", "body", "header", "nav", "main", "footer", "dialog", "section",
    "article", "h1", "h2", "h3", "p", "div", "span", "a", "bdi", "mark", "del", "ins", "strong", "code", "kbd", "br",
    "details", "summary", "ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td", "figure",
    "figcaption", "form", "fieldset", "legend",
    "label", "input", "select", "option", "output", "textarea", "button", "svg", "rect", "g",
    "line", "path", "circle", "text", "polyline", "polygon", "desc", "noscript", "caption", "i",
}  # fmt: skip
"""Elements that our templates are made of."""
LEADING = ("href", "src", "action", "hx-get", "hx-post", "formaction", "xlink:href")


class Elements(HTMLParser):
    """All elements of a page with their attributes, its addresses and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    @property
    def text(self) -> str:
        """What is read, with plain spaces."""
        return "".join(self.said).replace("\xa0", " ")

    @property
    def addresses(self) -> list[str]:
        """Where the page leads."""
        return [attributes[name] for _, attributes in self.found for name in LEADING if name in attributes]


def only_ours(page: str, where: str) -> Elements:
    """Refuse elements, handlers, styles and addresses that are not ours."""
    elements = Elements(page)
    assert {name for name, _ in elements.found} <= OURS, (where, {name for name, _ in elements.found} - OURS)
    for name, attributes in elements.found:
        assert not [one for one in attributes if one.startswith(("on", "style", "hx-on"))], (where, name)
        assert name != "script" or attributes["src"].startswith("/static/"), (where, name)
    foreign = [one for one in elements.addresses if not one.startswith(("/", "#")) or one.startswith("//")]
    assert foreign == [], where
    return elements
