"""The ways in which real copies differ from what they were copied from, each a small function.

An edit takes a parent passage, the stock to take foreign words from, a random stream and the resemblance to
aim at, and gives the child's text and token hashes. It aims by the arithmetic of 5-token shingles (appending
a share f leaves J = 1 / (1 + f), changing a word spoils five shingles …); what it hits is counted exactly.

`template` and `form` are not duplicates although they look it: pages of one site that share a frame around
different bodies, and one form filled in differently, in which nine words of ten agree but J stays below 0.8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from random import Random

import numpy as np

from benchmarks.growth.passages import Hashes, Passage, read_passage
from benchmarks.growth.stock import Stock
from benchmarks.tokens import SHINGLE_SIZE

FRAMES = 500  # sites: a frame is shared by all pages that were put into it
FRAME_TOKENS = 600

_CONFUSED = dict(zip("loemihsunt", ("1", "0", "c", "rn", "l", "b", "5", "v", "ri", "f"), strict=True))


@dataclass(slots=True)
class Child:
    """What an edit gives: text, and the hashes of its tokens in order."""

    text: bytes
    hashes: Hashes


@dataclass(slots=True)
class Task:
    """What an edit needs: the parent, foreign text, chance, and the resemblance to aim at."""

    parent: Passage
    stock: Stock
    chance: Random
    aim: float

    def foreign(self, tokens: int) -> Passage:
        """A run of real text from somewhere in the stock."""
        tokens = max(1, min(tokens, self.stock.tokens - 1))
        first = int(self.chance.random() * (self.stock.tokens - tokens))
        return self.stock.passage(first, first + tokens)

    @property
    def extra(self) -> int:
        """How many foreign tokens bring the resemblance down to the aim."""
        return max(1, round(len(self.parent) * (1 / self.aim - 1)))

    @property
    def changed_words(self) -> int:
        """How many single words, changed, bring the resemblance down to the aim."""
        surviving = 2 * self.aim / (1 + self.aim)
        return max(1, round(len(self.parent) * (1 - math.pow(surviving, 1 / SHINGLE_SIZE))))


def copy(task: Task) -> Child:
    """The same bytes."""
    return Child(task.parent.text, task.parent.hashes)


def rewrapped(task: Task) -> Child:
    """The same words, other line breaks: equal in canonical form."""
    text = task.parent.text
    if b"\n" in text.rstrip():
        return Child(text.replace(b"\n", b" \r\n  "), task.parent.hashes)
    return Child(text.replace(b" ", b"  "), task.parent.hashes)


def appended(task: Task) -> Child:
    """Foreign text after the end."""
    return _spliced(task, len(task.parent))


def inserted(task: Task) -> Child:
    """Foreign text somewhere inside."""
    return _spliced(task, task.chance.randrange(len(task.parent)))


def truncated(task: Task) -> Child:
    """Only the beginning."""
    return _kept(task.parent, [(0, max(1, round(len(task.parent) * task.aim)))])


def deleted(task: Task) -> Child:
    """One to five stretches of whole sentences or lines left out."""
    parent, size = task.parent, len(task.parent)
    begins = np.append(np.flatnonzero(parent.breaks()), size)
    stretches = task.chance.randint(1, 5)
    each = max(1, round(size * (1 - task.aim) / stretches))
    runs, done = [], 0
    for first in sorted(int(task.chance.random() * size) for _ in range(stretches)):
        begin, end = begins[np.searchsorted(begins, [first, min(first + each, size)])].tolist()
        if done < begin < end:
            runs.append((done, begin))
            done = end
    if not runs:  # one sentence all through
        return truncated(task)
    return _kept(parent, [*runs, (done, size)])


def swapped(task: Task) -> Child:
    """Paragraphs in another order: cut at a few sentence ends and shuffled."""
    parent = task.parent
    breaks = (np.flatnonzero(parent.breaks()[1:]) + 1).tolist()
    if len(breaks) < 2:
        breaks = [len(parent) // 3, 2 * len(parent) // 3]
    cuts = round(len(parent) * (1 - task.aim) / (4 * (1 + task.aim)))
    edges = [0, *sorted(task.chance.sample(breaks, min(len(breaks), max(2, min(cuts, 12))))), len(parent)]
    runs = list(pairwise(edges))
    task.chance.shuffle(runs)
    return _kept(parent, runs if runs != sorted(runs) else runs[::-1])


def substituted(task: Task) -> Child:
    """Single words replaced by other real words."""
    parent, stock = task.parent, task.stock
    places = sorted(task.chance.sample(range(len(parent)), min(task.changed_words, len(parent))))
    donors = [int(task.chance.random() * stock.tokens) for _ in places]
    spans = zip(stock.starts[donors].tolist(), stock.ends[donors].tolist(), strict=True)
    words = [stock.text[begin:end] for begin, end in spans]
    hashes = parent.hashes.copy()
    hashes[places] = stock.hashes[donors]
    return Child(_with_words(parent, places, words), hashes)


def noisy(task: Task) -> Child:
    """Words misread as by character recognition: confused, lost or split letters."""
    parent = task.parent
    places = sorted(task.chance.sample(range(len(parent)), min(task.changed_words, len(parent))))
    read = [parent.text[begin:end].decode() for begin, end in zip(*parent.spans(places), strict=True)]
    return _with_new_words(parent, places, [_misread(word, task.chance) for word in read])


def framed(task: Task) -> Child:
    """The same body inside the frame (navigation, notices) of some site."""
    head, foot = _frame(task, min(task.extra, FRAME_TOKENS))
    parts = (head, task.parent, foot)
    return Child(b"".join(p.text for p in parts), np.concatenate([p.hashes for p in parts]))


def template(task: Task) -> Child:
    """Not a duplicate: the parent's first and last part around another body."""
    parent, size = task.parent, len(task.parent)
    edge = max(1, round(size * (0.1 + 0.3 * task.chance.random())))
    body = task.foreign(max(5, size - 2 * edge))
    text = parent.cut(0, edge) + body.text + parent.cut(size - edge, size)
    return Child(text, np.concatenate([parent.hashes[:edge], body.hashes, parent.hashes[size - edge :]]))


def form(task: Task) -> Child:
    """Not a duplicate: the same form with all its blanks, one word in 6 to 18, filled in differently."""
    parent = task.parent
    step = task.chance.randint(6, 18)
    places = list(range(task.chance.randrange(min(step, len(parent))), len(parent), step))
    return _with_new_words(parent, places, [str(task.chance.randrange(10**7)) for _ in places])


EDITS: dict[str, tuple[Callable[[Task], Child], float]] = {
    "copy": (copy, 0.22),
    "rewrapped": (rewrapped, 0.05),
    "appended": (appended, 0.09),
    "inserted": (inserted, 0.09),
    "truncated": (truncated, 0.08),
    "deleted": (deleted, 0.10),
    "swapped": (swapped, 0.06),
    "substituted": (substituted, 0.11),
    "noisy": (noisy, 0.05),
    "framed": (framed, 0.06),
    "template": (template, 0.05),
    "form": (form, 0.04),
}
SAME = ("copy", "rewrapped")
_KINDS = list(EDITS)
_WEIGHTS = list(accumulate(weight for _, weight in EDITS.values()))


def edit(parent: Passage, stock: Stock, chance: Random) -> tuple[str, Child]:
    """Draw a kind of edit and a resemblance from 0.5 to 1, and make a child of the parent."""
    kind = chance.choices(_KINDS, cum_weights=_WEIGHTS)[0]
    return kind, EDITS[kind][0](Task(parent, stock, chance, 1 - 0.5 * chance.random()))


def _spliced(task: Task, place: int) -> Child:
    parent, foreign = task.parent, task.foreign(task.extra)
    text = parent.cut(0, place) + foreign.text + parent.cut(place, len(parent))
    return Child(text, np.concatenate([parent.hashes[:place], foreign.hashes, parent.hashes[place:]]))


def _kept(parent: Passage, runs: list[tuple[int, int]]) -> Child:
    text = b"".join(parent.cut(first, last) for first, last in runs)
    return Child(text, np.concatenate([parent.hashes[first:last] for first, last in runs]))


def _frame(task: Task, tokens: int) -> tuple[Passage, Passage]:
    """Head and foot, together `tokens` long, of a site drawn by chance; a site's frame never changes."""
    stock = task.stock
    first = task.chance.randrange(FRAMES) * 7919 % max(1, stock.tokens - FRAME_TOKENS)
    head = max(1, tokens * 2 // 3)
    foot = min(first + FRAME_TOKENS * 2 // 3, stock.tokens - 1)
    return stock.passage(first, first + head), stock.passage(foot, foot + max(1, tokens - head))


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


def _misread(word: str, chance: Random) -> str:
    """One word as a scanner might read it; always another word."""
    confusable = [place for place, letter in enumerate(word) if letter in _CONFUSED]
    if confusable and chance.random() < 0.7:
        place = chance.choice(confusable)
        return word[:place] + _CONFUSED[word[place]] + word[place + 1 :]
    place = chance.randrange(len(word))
    if len(word) > 3 and chance.random() < 0.5:
        return word[: place or 1] + " " + word[place or 1 :]
    return word[:place] + word[place + 1 :] if len(word) > 1 else word + "i"
