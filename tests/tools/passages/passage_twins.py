"""Plain-Python twins of `roughly passages`: a suffix array, the walk, and collections with planted passages."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from roughly.kernels.repeats import unit_ends
from roughly.kernels.tokens import spans as token_spans
from roughly.text import tables
from roughly.tools.passages.masked_markup import markup_bytes, mask
from roughly.tools.passages.token_file import unit_tokens


def suffix_array(tokens: Sequence[int]) -> list[int]:
    """The suffixes in order, by doubling."""
    rank = np.unique(np.array(tokens, np.int64), return_inverse=True)[1].astype(np.int64)
    size, step = len(rank), 1
    while True:
        second = np.full(size, -1, np.int64)
        second[: max(0, size - step)] = rank[step:]
        order = np.lexsort((second, rank))
        differs = np.ones(size, np.int64)
        differs[1:] = (rank[order][1:] != rank[order][:-1]) | (second[order][1:] != second[order][:-1])
        rank = np.empty(size, np.int64)
        rank[order] = np.cumsum(differs)
        if rank.max(initial=0) == size:
            return order.tolist()
        step *= 2


def common_prefixes(tokens: Sequence[int], order: list[int]) -> list[int]:
    """The common prefix of each suffix in order with the one before it (Kasai et al. 2001)."""
    place = [0] * len(order)
    for at, suffix in enumerate(order):
        place[suffix] = at
    found, length = [0] * len(order), 0
    for suffix in range(len(order)):
        if place[suffix] == 0:
            length = 0
            continue
        before = order[place[suffix] - 1]
        while (
            suffix + length < len(tokens)
            and before + length < len(tokens)
            and tokens[suffix + length] == tokens[before + length]
        ):
            length += 1
        found[place[suffix]] = length
        length = max(0, length - 1)
    return found


def repeated_tokens(documents: list[list[int]], least: int) -> list[list[bool]]:
    """Which tokens of each document lie in a run of at least `least` tokens that stands elsewhere too."""
    joined: list[int] = []
    for number, document in enumerate(documents):
        joined += [*document, -1 - number]  # no run reaches beyond its document
    order = suffix_array(joined)
    shared = [*common_prefixes(joined, order), 0]
    steps = [0] * (len(joined) + 1)
    for at, suffix in enumerate(order):
        longest = max(shared[at], shared[at + 1])
        if longest >= least:
            steps[suffix] += 1
            steps[suffix + longest] -= 1
    found, depth, at = [], 0, 0
    for document in documents:
        marks = []
        for _ in range(len(document) + 1):
            depth += steps[at]
            marks.append(depth > 0)
            at += 1
        found.append(marks[:-1])
    return found


def walk(documents: list[list[int]], least: int, used: set[tuple[int, ...]] | None = None) -> list[list[bool]]:
    """Which tokens are removed: those of runs of `least` tokens that stand before, entirely in text that is kept."""
    kept: set[tuple[int, ...]] = set()
    removed = []
    for document in documents:
        cut = [False] * len(document)
        waiting = 0
        for at in range(len(document) - least + 1):
            while waiting + least <= at:
                if not any(cut[waiting : waiting + least]):
                    kept.add(tuple(document[waiting : waiting + least]))
                waiting += 1
            gram = tuple(document[at : at + least])
            if gram in kept and (used is None or gram in used):
                cut[at : at + least] = [True] * least
        for at in range(waiting, len(document) - least + 1):
            if not any(cut[at : at + least]):
                kept.add(tuple(document[at : at + least]))
        removed.append(cut)
    return removed


def runs_of(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """(start, end) of the runs that are true."""
    edges = [at for at, (a, b) in enumerate(pairwise([False, *flags, False])) if a != b]
    return list(zip(edges[::2], edges[1::2], strict=True))


def collection(seed: int, tokens: int, words: int = 2000) -> list[list[int]]:
    """Documents of random words with copied passages, runs of one word, and repeated stanzas."""
    draw = random.Random(seed)
    documents: list[list[int]] = []
    total = 0
    while total < tokens:
        document = [draw.randrange(words) for _ in range(draw.randrange(5, 400))]
        for _ in range(draw.randrange(4)):
            if documents and draw.random() < 0.7:
                other = draw.choice(documents)
                start = draw.randrange(len(other))
                passage = other[start : start + draw.randrange(5, 200)]
            elif draw.random() < 0.5:
                passage = [draw.randrange(words)] * draw.randrange(2, 150)
            else:
                start = draw.randrange(len(document))
                passage = document[start : start + draw.randrange(5, 120)]
            at = draw.randrange(len(document) + 1)
            document[at:at] = passage
        documents.append(document)
        total += len(document)
    return documents


def text_of(document: Sequence[int], draw: random.Random) -> str:
    """The document as text: one word per token, with any separators and case."""
    out = []
    for token in document:
        word = f"w{token:x}"
        out.append(word.upper() if draw.random() < 0.1 else word)
        out.append(draw.choice([" ", " ", " ", ", ", ".\n", "\n\n", " — "]))
    return "".join(out)


class TextPositions:
    """Where the tokens of one document are, in bytes and in characters: the twin of `kernels.run_spans`."""

    def __init__(self, text: bytes, is_markup: bool, unit: str) -> None:
        self.text, self.is_markup = text, is_markup
        table = tables.load()
        masked = np.frombuffer(mask(text) if is_markup else text, np.uint8)
        self.spans = token_spans(masked, table.stage1, table.stage2)
        self._edges: np.ndarray | None = None
        if unit != "window":
            positions = np.array([0, len(text)], np.int64)
            self._edges = np.concatenate([[0], unit_ends(masked, positions, unit)[0]]).astype(np.int64)
            lengths = unit_tokens(masked, positions, unit)[1]
            self._unit_tokens = np.cumsum(lengths)
        self._markup = markup_bytes(text) if is_markup else None
        data = np.frombuffer(text, np.uint8)
        self._characters = None if text.isascii() else np.cumsum((data & 0xC0) != 0x80)

    def character(self, byte: int) -> int:
        """The number of characters before a byte."""
        if self._characters is None or byte == 0:
            return byte
        return int(self._characters[byte - 1])

    def bytes_of(self, first: int, last: int) -> tuple[int, int]:
        """Start and end of the tokens first … last − 1 and of what separates them from the next one."""
        if self._edges is not None:
            units = np.searchsorted(self._unit_tokens, [first, last - 1], "right")
            return int(self._edges[units[0]]), int(self._edges[units[1] + 1])
        start = int(self.spans[first, 0])
        if first > 0:
            start = max(start, int(self.spans[first - 1, 1]))
        end = int(self.spans[last, 0]) if last < len(self.spans) else len(self.text)
        return start, max(start, end)

    def start_of(self, token: int) -> int:
        """The byte at which the span of a token starts."""
        return self.bytes_of(token, token + 1)[0]

    def pieces(self, first: int, last: int) -> Iterator[tuple[int, int, int, int]]:
        """(start, end, first token, tokens) of each piece of a run; one piece, unless there are tags in it."""
        start, end = self.bytes_of(first, last)
        if self._markup is None:
            yield start, end, first, last - first
            return
        after_last = int(self.spans[last - 1, 1])
        hidden = np.flatnonzero(self._markup[after_last:end])
        end = after_last + int(hidden[0]) if len(hidden) else end
        inside = np.concatenate([[False], ~self._markup[start:end], [False]])
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + start
        for begin, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            at = int(np.searchsorted(self.spans[:, 1], begin, "right"))
            after = int(np.searchsorted(self.spans[:, 0], stop, "left"))
            if after > at:
                yield begin, stop, max(at, first), min(after, last) - max(at, first)
