"""How the copies are spread: over the sources of the input, and by length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow.compute as pc

from roughly.tools.passages.copy_decisions import TokenRuns
from roughly.tools.passages.token_file import TokenFile

_MOST_SOURCES = 50


def by_source(file: TokenFile, blocks: Iterable[TokenRuns], parts: int) -> list[dict[str, Any]]:
    """Tokens of each source of the first parts, and how many of them are copies; the largest sources first."""
    own = file.facts["part"].to_numpy() < parts
    encoded = pc.fill_null(file.facts["source"].combine_chunks(), "").dictionary_encode()
    source_of = encoded.indices.to_numpy()
    count = len(encoded.dictionary)
    tokens = np.bincount(source_of[own], weights=np.diff(file.offsets)[own], minlength=count).astype(np.int64)
    copied = np.zeros(count, np.int64)
    for some in blocks:
        start, length, _ = some.rows[some.witness >= 0].T
        np.add.at(copied, source_of[file.document_of(start)], length)
    order = np.argsort(-tokens, kind="stable")[:_MOST_SOURCES]
    names = encoded.dictionary.to_pylist()
    return [
        {"source": names[at], "tokens": int(tokens[at]), "copied_tokens": int(copied[at])}
        for at in order.tolist()
        if tokens[at]
    ]


def by_length(blocks: Iterable[TokenRuns]) -> list[dict[str, int]]:
    """The number of copies, and their tokens, by length: from each power of two to below the next."""
    copies, tokens = np.zeros(64, np.int64), np.zeros(64, np.int64)
    for some in blocks:
        lengths = some.length[some.witness >= 0]
        power = np.frexp(lengths)[1] - 1
        np.add.at(copies, power, 1)
        np.add.at(tokens, power, lengths)
    return [
        {"from": 1 << at, "below": 2 << at, "copies": int(copies[at]), "tokens": int(tokens[at])}
        for at in np.flatnonzero(copies).tolist()
    ]
