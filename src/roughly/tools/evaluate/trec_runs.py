"""Result lists in the form of TREC runs: topic, Q0, document, rank, score, tag; one line per document.

As `trec_eval` does, documents are ordered by score, and the column of ranks is not read; ties keep the order of the
file.
"""

from __future__ import annotations

import math
from pathlib import Path

from roughly.errors import InputError, InputMissing


def read_lists(path: Path, length: int) -> dict[str, list[str]]:
    """The best documents of each topic, at most `length`; an invalid line is refused, with its number."""
    if not path.is_file():
        raise InputMissing(f"{path} does not exist; name a file of result lists (topic Q0 document rank score tag)")
    topics: dict[str, dict[str, float]] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            parts = line.split()
            if not parts:
                continue
            if len(parts) != 6:
                raise InputError(
                    f"{path}, line {number}: {len(parts)} fields; it has six: topic Q0 document rank score tag"
                )
            topic, document, score = parts[0], parts[2], _score(parts[4])
            if score is None:
                raise InputError(f"{path}, line {number}: score {parts[4]!r} is not a number")
            own = topics.setdefault(topic, {})
            if document in own:
                raise InputError(f"{path}, line {number}: topic {topic} has {document} twice; keep one of the lines")
            own[document] = score
    if not topics:
        raise InputError(f"{path} has no result lists; a line has six fields: topic Q0 document rank score tag")
    return {topic: sorted(own, key=own.__getitem__, reverse=True)[:length] for topic, own in topics.items()}


def _score(text: str) -> float | None:
    try:
        score = float(text)
    except ValueError:
        return None
    return None if math.isnan(score) else score
