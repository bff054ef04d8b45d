"""Makes hostile text safe to show: shortened, on one line, without invisible characters.

Document text, ids and file names come from strangers. Escaping markup is the template's work
(autoescape); this module deals with what escaping does not change: control characters, bidirectional
overrides that reorder the text around them, invisible characters, lone surrogates, floods of white
space and lines of many megabytes. Every such character is replaced by something a reader can see.

Some characters are not replaced, since scripts need them: the joiners of Persian, Indic and emoji (ZWJ, ZWNJ), the
single direction marks (LRM, RLM, ALM) and the soft hyphen. They cannot reach beyond the isolated
element (``<bdi>`` or ``dir="auto"``) the page puts every foreign text into.
"""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"

_SPACE = re.compile(r"\s\s+|[^\S ]")

# C0, DEL, C1; zero-width space, word joiner and kin; embeddings, overrides, isolates; byte order
# mark; interlinear marks; tag characters; noncharacters; lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u180e\u200b\u202a-\u202e\u2060-\u206f"
    "\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def reveal(text: str) -> str:
    """Replace every invisible character by a visible sign for it."""
    return _UNSEEN.sub(_sign, text)


def _sign(match: re.Match[str]) -> str:
    # In letters that every font has; few have the control pictures.
    return f"‹U+{ord(match.group()):04X}›"


def flow(text: str) -> str:
    """The text on one line: paragraph breaks as a pilcrow, other white space as one space.

    So it fits any width of screen, and a million empty lines take no space. Controls are revealed
    first, because some of them count as white space.
    """
    return _SPACE.sub(_space, reveal(text))


def _space(match: re.Match[str]) -> str:
    run = match.group()
    return " ¶ " if run.count("\n") > 1 or "\u2029" in run else " "


def excerpt(text: str, limit: int) -> str:
    """The beginning of a text in at most ``limit`` characters, with an ellipsis if it continues."""
    # Four times the limit is enough, since white space collapses; a 10 MB line is never read whole.
    beginning = text[: 4 * limit]
    shown = flow(beginning).strip()
    if len(shown) <= limit:
        return shown + ELLIPSIS if len(text) > len(beginning) else shown
    cut = _cut(shown, limit - 1)
    space = cut.rfind(" ", len(cut) - 20)  # at the end of a word, if the script separates words
    return (cut if space < 0 else cut[:space]) + ELLIPSIS


def label(text: str, limit: int = 96) -> str:
    """An id or a name; if it is too long its middle is omitted, since the ends distinguish it."""
    if len(text) <= limit:
        shown = flow(text)
        return shown if shown.strip() else "(blank)" if text else "(empty)"
    tail = limit // 3
    return _cut(flow(text[: limit - tail - 1]), limit) + ELLIPSIS + flow(text[-tail:])


def _cut(text: str, length: int) -> str:
    """Cut at a length, but not between a letter and its accents."""
    length = min(length, len(text))
    fewest = max(0, length - 8)
    while fewest < length < len(text) and unicodedata.combining(text[length]):
        length -= 1
    return text[:length]
