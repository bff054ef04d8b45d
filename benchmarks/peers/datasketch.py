"""datasketch: `MinHash` (128 permutations, SHA-1 of each shingle) and `MinHashLSH(threshold=0.8)`.

Its LSH chooses 9 bands of 13 rows for this threshold. Signatures come from two processes; every document is
queried and then inserted in this one, and joined with all that the query gives, as its documentation shows.
"""

from __future__ import annotations

from typing import Any

import datasketch  # type: ignore[import-not-found]

from benchmarks.peers import THRESHOLD
from benchmarks.peers.protocol import Components, arguments, sketch_in_pool, write_first_of_each
from benchmarks.tokens import shingles_of, tokens_of

PERMUTATIONS = 128


def sketch(texts: list[str]) -> list[Any]:
    """The min-hash of each text, in its compact form."""
    sets = [[shingle.encode() for shingle in shingles_of(tokens_of(text))] for text in texts]
    return [datasketch.LeanMinHash(m) for m in datasketch.MinHash.bulk(sets, num_perm=PERMUTATIONS)]


def main() -> None:
    """Deduplicate a JSONL file."""
    source, out = arguments()
    lsh = datasketch.MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    ids: list[str] = []
    matches: list[tuple[int, int]] = []
    for chunk, sketches in sketch_in_pool(source, sketch):
        for doc_id, minhash in zip(chunk, sketches, strict=True):
            matches.extend((len(ids), other) for other in lsh.query(minhash))
            lsh.insert(len(ids), minhash)
            ids.append(doc_id)
    components = Components(len(ids))
    for one, other in matches:
        components.join(one, other)
    write_first_of_each(source, out, ids, components.roots())


if __name__ == "__main__":
    main()
