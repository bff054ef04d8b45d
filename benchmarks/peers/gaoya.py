"""gaoya: `MinHashStringIndex`, 32-bit hashes, 16 bands of 8, its own word splitting, all in Rust on two threads.

Documents are inserted and then queried in bulk; the index returns those whose signatures agree on 0.8 or more.
"""

from __future__ import annotations

from typing import Any

import gaoya  # type: ignore[import-not-found]

from benchmarks.peers import THRESHOLD
from benchmarks.peers.protocol import Components, arguments, read_documents, write_first_of_each

BATCH = 2000


def make_index() -> Any:
    """An empty index."""
    return gaoya.minhash.MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=16,
        band_size=8,
        analyzer="word",
        lowercase=True,
        ngram_range=(5, 5),
        id_container="vec",
    )


def sketch(texts: list[str]) -> Any:
    """Insert all texts: signatures cannot be had without the index."""
    index = make_index()
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    return index


def main() -> None:
    """Deduplicate a JSONL file."""
    source, out = arguments()
    ids, texts = map(list, zip(*read_documents(source), strict=True))
    index = make_index()
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        index.par_bulk_insert_docs(list(range(start, start + len(batch))), batch)
    components = Components(len(ids))
    for start in range(0, len(texts), BATCH):
        for place, matches in enumerate(index.par_bulk_query(texts[start : start + BATCH])):
            for other in matches:
                components.join(start + place, other)
    write_first_of_each(source, out, ids, components.roots())


if __name__ == "__main__":
    main()
