"""HTML made to take quadratic time, made harmless before it is parsed.

The parser's time grows with the depth of nesting, with the number of attributes of one element, with the number of
different names, which it keeps in tables of a fixed size, and with formatting elements that are never closed, which it
opens again in every block. No honest page comes near the limits, and only a page with very many tags, attributes or
words is looked at. Tags beyond a limit are removed, attributes too; the text remains.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

DEEPEST = 1000
"""Open elements, about twice what browsers allow."""
MOST_ATTRIBUTES = 1000
"""Attributes of one element."""
MOST_NAMES = 20_000
"""Different names of elements and attributes of one page."""
_MOST_REOPENED = 1_000_000  # formatting elements that the parser opens again
_MOST_ROOTS = 50  # tags <html> and <body>, whose attributes are joined
_MANY_ATTRIBUTES = 20_000  # of a page; fewer are harmless even in one tag
_NAME = re.compile(r"<(/?[a-zA-Z][^\s/>]*)")
_LONG_TAG = re.compile(r"<[a-zA-Z][^>]{16000}")
_VALUE = re.compile(r"=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]*)")
_WORD = re.compile(r"[^\s<>=\"'/]+")
_VALUE_OR_END = re.compile(r"=\s*[\"']|>")
_ROOTS = frozenset({"html", "body"})
_FORMATTING_NAMES = "a b big code em font i nobr s small strike strong tt u"
_NOT_NESTED_NAMES = """
area base br col embed hr img input link meta param source track wbr
p li dd dt option optgroup tr td th tbody thead tfoot colgroup caption rp rt html head body
"""
_HTML_AGAIN_NAMES = """
b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol
p pre ruby s small span strong strike sub sup table tt u ul var font
foreignobject desc title mi mo mn ms mtext annotation-xml
"""
_FORMATTING = frozenset(_FORMATTING_NAMES.split())
_NOT_NESTED = frozenset(_NOT_NESTED_NAMES.split())
"""Elements without content, or that the next one ends."""
_FOREIGN = frozenset({"svg", "math"})
_HTML_AGAIN = frozenset(_HTML_AGAIN_NAMES.split())
"""Elements that end an svg or a formula, or whose content is HTML inside it."""


class _Open:
    """How many elements are open at most, by name."""

    def __init__(self) -> None:
        self._count: defaultdict[str, int] = defaultdict(int)
        self._depth = self._formatting = self._reopened = self._roots = 0

    def takes(self, name: str, self_closing: bool) -> bool:
        """Count a tag; whether it is within the limits. A `name` that begins with / ends an element."""
        if name.startswith("/"):
            ended = name[1:]
            if self._count[ended]:
                self._count[ended] -= 1
                self._depth -= 1
                self._formatting -= ended in _FORMATTING
            return True
        self._reopened += self._formatting
        if name in _ROOTS:
            self._roots += 1
            return self._roots <= _MOST_ROOTS
        if name in _HTML_AGAIN:
            self._leave_foreign()
        is_formatting = name in _FORMATTING
        if is_formatting and self._reopened > _MOST_REOPENED:
            return False
        if name in _NOT_NESTED or (self_closing and any(self._count[foreign] for foreign in _FOREIGN)):
            return self._reopened <= _MOST_REOPENED or not self._formatting
        if self._depth >= DEEPEST:
            return False
        self._count[name] += 1
        self._depth += 1
        self._formatting += is_formatting
        return True

    def _leave_foreign(self) -> None:
        for foreign in _FOREIGN:
            self._count[foreign] = 0  # its elements still count as open


def bounded(html: str) -> str:
    """The page itself, or without the tags and attributes that pass the limits."""
    if (
        _LONG_TAG.search(html) is None
        and html.count("=") <= _MANY_ATTRIBUTES
        and not _is_deep(html)
        and not _has_many_words(html)
    ):
        return html
    return "".join(_kept(html))


def _is_deep(html: str) -> bool:
    if html.count("<") <= DEEPEST:
        return False
    names = [name.lower() for name in _NAME.findall(html)]
    counts = Counter(names)
    if sum(counts[root] for root in _ROOTS) > _MOST_ROOTS:
        return True
    nested = sum(count for name, count in counts.items() if name[0] != "/" and name not in _NOT_NESTED)
    formatting = sum(counts[name] for name in _FORMATTING)
    if nested <= DEEPEST and formatting * len(names) <= _MOST_REOPENED:
        return False
    return _passes_limits(names)


def _has_many_words(html: str) -> bool:
    """Whether a page has so many different words that they may be too many names."""
    if len(html) <= 3 * MOST_NAMES:
        return False
    for end in "</=":
        html = html.replace(end, " ")
    words = html.split()
    return len(words) > MOST_NAMES and len(set(words)) > MOST_NAMES


def _passes_limits(names: list[str]) -> bool:
    """Whether a page with these tags may pass a limit; `_kept` looks more closely."""
    is_open: defaultdict[str, int] = defaultdict(int)
    depth = formatting = reopened = 0
    for name in names:
        if name[0] == "/":
            name = name[1:]
            if is_open[name]:
                is_open[name] -= 1
                depth -= 1
                formatting -= name in _FORMATTING
            continue
        reopened += formatting
        if name in _NOT_NESTED:
            continue
        is_open[name] += 1
        depth += 1
        formatting += name in _FORMATTING
        if depth > DEEPEST or reopened > _MOST_REOPENED:
            return True
    return False


class _Names:
    """The different names of a page."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def takes(self, names: set[str]) -> bool:
        """Whether these may be in the page too."""
        if len(self._seen) >= MOST_NAMES and not names <= self._seen:
            return False
        self._seen |= names
        return True


def _kept(html: str) -> Iterator[str]:
    is_open, names, position = _Open(), _Names(), 0
    for found in _NAME.finditer(html):
        if found.start() < position:  # inside the attributes of a tag
            continue
        name = found[1].lower()
        end, attributes = _read_tag(html, found.end())
        if not names.takes({f"<{name.lstrip('/')}"}) or not is_open.takes(name, html[max(0, end - 2)] == "/"):
            before = html[position : found.start()]
            yield f"{before} " if before else ""
            position = end
        elif attributes > MOST_ATTRIBUTES or not names.takes(_attribute_names(html[found.end() : end])):
            yield f"{html[position : found.start()]}<{name}>"
            position = end
        else:
            yield html[position:end]
            position = end
    yield html[position:]


def _attribute_names(tag: str) -> set[str]:
    return set(_WORD.findall(_VALUE.sub(" ", tag).lower()))


def _read_tag(html: str, at: int) -> tuple[int, int]:
    """Where a tag ends, and about how many attributes it has."""
    attributes = 0
    while True:
        found = _VALUE_OR_END.search(html, at)
        end = len(html) if found is None else found.end()
        attributes += len(html[at:end].replace("/", " ").split())
        if found is None or found[0] == ">":
            return end, attributes
        closing = html.find(found[0][-1], end)
        if closing < 0:
            return len(html), attributes
        at = closing + 1
