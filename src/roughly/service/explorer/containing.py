"""Stored documents that contain a text, found by its words: for an index that does not find every passage.

Some runs of words from different places of the text are searched for as phrases; what is found is measured exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from roughly.errors import RoughlyError
from roughly.index import Index
from roughly.index.search.search_words import words_of
from roughly.index.sweeps.copies import MINIMUM, DocumentCopy
from roughly.verify.scores import score_texts

PHRASES, WORDS = 4, 8
_FOUND = 10  # documents per phrase
_READ = 200_000  # characters of the text
_LONGEST = 2_000_000  # characters of a stored text that is measured


def containing(index: Index, text: str, known: Iterable[str | None]) -> list[DocumentCopy] | None:
    """Documents that share a part of the text, those that contain most of it first; None without a search index."""
    words = words_of(text[:_READ])
    if len(words) < WORDS:
        return []
    try:
        hits = {hit.doc_id: hit for phrase in _phrases(words) for hit in index.search(phrase, limit=_FOUND).hits}
    except RoughlyError:
        return None
    found = []
    for hit in hits.values():
        stored = None if hit.doc_id in known else index.text(hit.doc_id)
        if stored is None or len(stored) > _LONGEST:
            continue
        scores = score_texts(text, stored, index.settings.shingle_size)
        if max(scores.containment, scores.contained_in) >= MINIMUM:
            kind: Literal["whole", "part"] = "whole" if scores.containment >= index.settings.threshold else "part"
            found.append(
                DocumentCopy(
                    hit.doc_id,
                    kind,
                    scores.containment,
                    scores.contained_in,
                    scores.resemblance,
                    hit.url,
                    hit.date,
                    hit.title,
                    hit.source,
                )
            )  # fmt: skip
    return sorted(found, key=lambda one: (-(one.containment or 0.0), one.doc_id))


def _phrases(words: list[str]) -> list[str]:
    """Phrases from the beginning to the end of the text, at equal distances."""
    last = len(words) - WORDS
    starts = sorted({last * number // max(1, PHRASES - 1) for number in range(PHRASES)})
    return ['"' + " ".join(words[start : start + WORDS]) + '"' for start in starts]
