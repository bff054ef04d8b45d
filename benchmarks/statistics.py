"""The collection-statistics family on one core: lexicons counted, documents signed.

    python -m benchmarks.statistics --megabytes 30

Text is in memory as an Arrow column, in batches of about 1 MB; tokenising is part of every figure but the first. Times
are those of the processor, the best of the repeats. The last row signs as the paper does, by SHA-1 over the sorted
terms of each of the 1 + 10 lexicons, one Python call a signature: what an order-free hash saves.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks import corpora
from benchmarks.kernels import batches_of
from roughly import lexicon
from roughly.kernels.terms import distinct_terms
from roughly.lexicon.counter import Counter, Runs
from roughly.lexicon.format import LexiconFacts
from roughly.methods.imatch import IMatch
from roughly.methods.rare_terms import RareTerms
from roughly.methods.syntactic import Syntactic
from roughly.methods.term_vector import TermVector
from roughly.text.canonical import tokenise
from roughly.text.filters import Filters

Step = Callable[[pa.Array], object]


def steps() -> dict[str, Step]:
    """What is timed, by name."""
    english = lexicon.default()
    named = {
        "I-Match IDF-L-10, 1 + 10 lexicons": IMatch(lexicon=english, lexicons=10),
        "I-Match IDF-L-10": IMatch(lexicon=english),
        "I-Match Doc-L-90, 1 + 10 lexicons": IMatch(lexicon=english, filter="Doc-L-90", lexicons=10),
        "I-Match IDFR-I-20-80, secondary, 1 + 10 lexicons": IMatch(
            lexicon=english, filter="IDFR-I-20-80", lexicons=10, min_terms=5, min_share=0.2, secondary=True
        ),
        "syntactic": Syntactic(),
        "rare terms": RareTerms(lexicon=english),
        "term vector, keys and sketch": TermVector(lexicon=english),
    }
    chosen: dict[str, Step] = {"tokenise only": tokenise}
    for name, method in named.items():
        chosen[name] = _signing(method)
    chosen["SHA-1 of sorted terms, 1 + 10 lexicons"] = _sha1
    return chosen


def _signing(method: IMatch | Syntactic | RareTerms | TermVector) -> Step:
    def sign(batch: pa.Array) -> object:
        tokens = tokenise(batch)
        return method.sign(tokens)

    return sign


def _sha1(batch: pa.Array) -> object:
    """1 + 10 digests of each document's terms; which term a lexicon drops is here by bits of its hash."""
    tokens = tokenise(batch)
    terms, _, offsets = distinct_terms(tokens.hashes, tokens.offsets)
    found = []
    for a, b in itertools.pairwise(offsets.tolist()):
        own = np.sort(terms[a:b])
        found.append(hashlib.sha1(own).digest())
        for k in range(10):
            kept = own[(own >> np.uint64(6 * k)) & np.uint64(63) >= np.uint64(21)]
            found.append(hashlib.sha1(kept).digest())
    return found


def measure(batches: list[pa.Array], repeats: int) -> dict[str, float]:
    """MB of text per second of processor time, of each step and of counting a lexicon."""
    size = sum(batch.nbytes - 8 * (len(batch) + 1) for batch in batches) / 1e6
    found = {
        name: size / _best(lambda step=step: [step(b) for b in batches], repeats) for name, step in steps().items()
    }

    def count() -> None:
        with tempfile.TemporaryDirectory(prefix="roughly-bench-") as folder:
            counter = Counter(Filters(), Runs(Path(folder), LexiconFacts(documents=0)), 1 << 30)
            for batch in batches:
                counter.add(batch)
            counter.drain()

    return {**found, "lexicon build": size / _best(count, repeats)}


def _best(run: Callable[[], object], repeats: int) -> float:
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics", description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=30, help="of documentation pages")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    try:
        collection = corpora.documentation(chosen.corpora, chosen.megabytes * 1_000_000)
    except corpora.CorpusMissing as problem:
        print(problem, file=sys.stderr)
        return 1
    found = measure(list(batches_of(collection.read()[1])), chosen.repeats)
    if chosen.json:
        print(json.dumps(found, indent=1))
        return 0
    print("| | MB/s, one core |\n|---|---:|")
    for name, speed in found.items():
        print(f"| {name} | {speed:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
