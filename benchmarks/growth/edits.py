"""Copies of passages by the edits of `roughly.tools.perturb`, with the hashes of their tokens.

An edit gives a recipe; here it is carried out on bytes, and the child's hashes are put together from its pieces without
reading its text again. Which edits there are, and how often each is drawn, is said here; how each is made, there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from random import Random

import numpy as np

from benchmarks.growth.passages import Hashes, Passage, read_passage
from benchmarks.growth.stock import Stock
from roughly.tools.perturb import edits
from roughly.tools.perturb.edits import FRAME_TOKENS
from roughly.tools.perturb.recipe import Foreign, Ground, Own, Recipe, Respaced, Rewritten, Spliced

FRAMES = 500  # sites: a frame is shared by all pages that were put into it


@dataclass(slots=True)
class Child:
    """What an edit gives: text, and the hashes of its tokens in order."""

    text: bytes
    hashes: Hashes


@dataclass(slots=True)
class Task:
    """What an edit sees: the parent, foreign text, chance, and the resemblance to aim at (`recipe.Ground`)."""

    parent: Passage
    stock: Stock
    chance: Random
    aim: float

    def __len__(self) -> int:
        return len(self.parent)

    def sentences(self) -> list[int]:
        """The tokens that begin a sentence or a line."""
        found: list[int] = np.flatnonzero(self.parent.breaks()).tolist()
        return found

    def spelled(self, places: list[int]) -> list[str]:
        """The tokens at these places as they are written."""
        text = self.parent.text
        return [text[begin:end].decode() for begin, end in zip(*self.parent.spans(places), strict=True)]

    def foreign(self, tokens: int) -> Foreign:
        """A run of real text from somewhere in the stock."""
        tokens = max(1, min(tokens, self.stock.tokens - 1))
        first = int(self.chance.random() * (self.stock.tokens - tokens))
        return Foreign(None, first, min(first + tokens, self.stock.tokens))

    def donors(self, count: int) -> list[Foreign]:
        """Single tokens of the stock."""
        places = [int(self.chance.random() * self.stock.tokens) for _ in range(count)]
        return [Foreign(None, place, place + 1) for place in places]

    def frame(self, tokens: int) -> tuple[Foreign, Foreign]:
        """Head and foot, together `tokens` long, of a site drawn by chance; a site's frame never changes."""
        most = self.stock.tokens
        first = self.chance.randrange(FRAMES) * 7919 % max(1, most - FRAME_TOKENS)
        head = max(1, tokens * 2 // 3)
        foot = min(first + FRAME_TOKENS * 2 // 3, most - 1)
        return Foreign(None, first, min(first + head, most)), Foreign(
            None, foot, min(foot + max(1, tokens - head), most)
        )


EDITS: dict[str, tuple[Callable[[Ground], Recipe], float]] = {
    "copy": (edits.copy, 0.22),
    "rewrapped": (edits.rewrapped, 0.05),
    "appended": (edits.appended, 0.09),
    "inserted": (edits.inserted, 0.09),
    "truncated": (edits.truncated, 0.08),
    "deleted": (edits.deleted, 0.10),
    "swapped": (edits.swapped, 0.06),
    "substituted": (edits.substituted, 0.11),
    "noisy": (edits.noisy, 0.05),
    "framed": (edits.framed, 0.06),
    "template": (edits.template, 0.05),
    "form": (edits.form, 0.04),
}
SAME = ("copy", "rewrapped")
_KINDS = list(EDITS)
_WEIGHTS = list(accumulate(weight for _, weight in EDITS.values()))


def edit(parent: Passage, stock: Stock, chance: Random) -> tuple[str, Child]:
    """Draw a kind of edit and a resemblance from 0.5 to 1, and make a child of the parent."""
    kind = chance.choices(_KINDS, cum_weights=_WEIGHTS)[0]
    task = Task(parent, stock, chance, 1 - 0.5 * chance.random())
    return kind, made(EDITS[kind][0](task), task)


def made(recipe: Recipe, task: Task) -> Child:
    """The child that a recipe says."""
    parent, stock = task.parent, task.stock
    if isinstance(recipe, Spliced):
        return _spliced(recipe, parent, stock)
    if isinstance(recipe, Rewritten):
        return _with_new_words(parent, recipe.places, recipe.words)
    if isinstance(recipe, Respaced):
        return Child(_respaced(parent.text), parent.hashes)
    donors = [donor.first for donor in recipe.donors]
    spans = zip(stock.starts[donors].tolist(), stock.ends[donors].tolist(), strict=True)
    hashes = parent.hashes.copy()
    hashes[recipe.places] = stock.hashes[donors]
    return Child(_with_words(parent, recipe.places, [stock.text[begin:end] for begin, end in spans]), hashes)


def _spliced(recipe: Spliced, parent: Passage, stock: Stock) -> Child:
    if recipe.pieces == [Own(0, len(parent))]:
        return Child(parent.text, parent.hashes)
    texts, hashes = [], []
    for piece in recipe.pieces:
        assert isinstance(piece, Own | Foreign)
        held = parent if isinstance(piece, Own) else stock
        texts.append(held.cut(piece.first, piece.last))
        hashes.append(held.hashes[piece.first : piece.last])
    return Child(b"".join(texts), np.concatenate(hashes))


def _respaced(text: bytes) -> bytes:
    if b"\n" in text.rstrip():
        return text.replace(b"\n", b" \r\n  ")
    return text.replace(b" ", b"  ")


def _with_words(parent: Passage, places: list[int], words: list[bytes]) -> bytes:
    """The parent's text with the tokens at these places replaced."""
    text, parts, done = parent.text, [], 0
    for begin, end, word in zip(*parent.spans(places), words, strict=True):
        parts += [text[done:begin], word]
        done = end
    return b"".join([*parts, text[done:]])


def _with_new_words(parent: Passage, places: list[int], words: list[str]) -> Child:
    """As `_with_words`, for words that are in no stock; a space in one makes two tokens of it."""
    found = read_passage(" ".join(words)).hashes
    hashes = parent.hashes.copy()
    if len(found) == len(words):
        hashes[places] = found
    else:
        split = np.array([" " in word for word in words])
        first = np.arange(len(words)) + np.cumsum(split) - split
        hashes[places] = found[first]
        hashes = np.insert(hashes, np.array(places)[split] + 1, found[first[split] + 1])
    return Child(_with_words(parent, places, [word.encode() for word in words]), hashes)
