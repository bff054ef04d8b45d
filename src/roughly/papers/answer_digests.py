"""Digests of answers, by which printed results are known to be stale.

Everything in the docs that was printed from a run has a digest beside it. A change of code that changes answers, be it
one constant of a hash, changes the digest, and a test names the pages until they are made again.

    answers_digest()         what the kernels give for a few made texts: tokens, digests, samples, keys of every method,
                             the order of a lexicon
    trial_digest(result)     what an experiment gives on a small made collection (`trial_files`), to nine digits

The first covers pages whose figures come from kernels and methods, the second an experiment with its protocol.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly import lexicon as lexicons
from roughly.features.sampling import Sampling
from roughly.lexicon import build
from roughly.methods import registry
from roughly.options import COLLECTION, METHODS
from roughly.papers.experiments import named
from roughly.papers.runner import ExperimentResult, ExperimentRunner
from roughly.settings import Settings
from roughly.signing.text_batch import TextBatch

VOCABULARY = [a + b + c + d for a in "bdfgk" for b in "aeiou" for c in "lmnrs" for d in ("ton", "ia")]
ODD_TEXTS = ("", "Ärger, naïve — İstanbul ß 2002-04 /usr/bin end.", "東京都 и Москва ١٢٣", "a b c d e f g h i j k")
SIGNED_BY = (
    "minhash", "shingles", "super-shingles", "mega-shingles", "word-lsh", "syntactic", "imatch", "rare-terms",
    "term-vector",
)  # fmt: skip
"""Methods whose keys and sketches are in the digest."""
SAMPLINGS = ("all", "mod:4", "min:20", "adaptive")
TRIAL: Mapping[str, Mapping[str, Any]] = {
    "perturbation": {"documents": 10, "filter": "IDFR-I-1-99", "lexicons": [1, 2, 5, 10], "changes": [1, 2, 3, 5]},
    "passage": {"documents": 8}, "spam": {"filter": "IDFR-I-1-99"}, "lexicons": {"filter": "IDFR-I-1-99"},
    "results": {"queries": 6}, "growing": {"documents": 15}, "contrived": {"documents": 4},
}  # fmt: skip
"""Parameters of a trial, by protocol: a small collection cannot have as many documents as the papers'."""


def trial_rows() -> list[dict[str, str]]:
    """Documents on which every experiment can be run: families of copies, long enough, titled, dated and labelled."""
    dice = random.Random(11)
    weights = [1 / (1 + i) for i in range(len(VOCABULARY))]
    rows: list[dict[str, str]] = []
    for family in range(24):
        length = dice.choice((90, 120, 200, 700))
        listed = dice.choices(VOCABULARY, weights, k=length) + [f"name{family}x{i}" for i in range(6)]
        dice.shuffle(listed)
        for copy in range(1 + family % 4):
            own = list(listed)
            for _ in range(copy):
                own[dice.randrange(len(own))] = dice.choice(VOCABULARY)
            rows.append(
                {
                    "id": f"{family:02}{copy}", "text": " ".join(own), "label": "spam" if family % 2 else "ham",
                    "title": " ".join(listed[:4]), "date": f"2002-08-{1 + len(rows) % 28:02}",
                }
            )  # fmt: skip
    return rows


def trial_file(folder: Path) -> str:
    """The small collection as a file of JSON lines."""
    path = folder / "trial.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in trial_rows()), encoding="utf-8")
    return str(path)


def run_trial(name: str, runner: ExperimentRunner) -> ExperimentResult:
    """An experiment on the small collection, which is the file of the runner."""
    experiment = named(name)
    runner.changed = TRIAL.get(experiment.protocol.name, {})
    return runner.run(experiment)


def trial_runner(file: str) -> ExperimentRunner:
    """A runner on the small collection; two draws are enough to see that a seed changes something."""
    return ExperimentRunner([file], seeds=2)


def trial_digest(result: ExperimentResult) -> str:
    """Sixteen hex digits of a trial's tables."""
    tables = [table.ours.to_dict() for table in result.tables]
    return hashlib.sha256(json.dumps(_rounded(tables), sort_keys=True).encode()).hexdigest()[:16]


def _rounded(value: Any) -> Any:
    """Floats to nine digits: the last ones depend on the machine."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, Mapping):
        return {name: _rounded(own) for name, own in value.items()}
    return [_rounded(own) for own in value] if isinstance(value, list | tuple) else value


@cache
def answers_digest() -> str:
    """Sixteen hex digits of what kernels and methods give for the made texts."""
    found = hashlib.sha256()
    for part in _answers():
        found.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes())
    return found.hexdigest()[:16]


def _answers() -> Iterator[Any]:
    rows = trial_rows()
    texts = pa.array([*ODD_TEXTS, *(row["text"] for row in rows)], pa.large_string())
    batch = TextBatch(texts)
    yield from (batch.tokens.hashes, batch.tokens.offsets, batch.raw_digests, batch.lexical_digests)
    for written in SAMPLINGS:
        for seed in (0, 1):
            sketch = Sampling.parse(written, seed=seed).apply(batch.tokens, 5)
            yield from (sketch.values, sketch.offsets)
    counted = build(pa.table({"id": [str(i) for i in range(len(texts))], "text": texts}), threads=1)
    yield from (counted.fingerprint.encode(), lexicons.default().fingerprint.encode())
    for name in SIGNED_BY:
        spec = METHODS[name]
        options: dict[str, Any] = {"lexicon": COLLECTION} if "lexicon" in spec.names else {}
        options |= {"lexicons": 3} if "lexicons" in spec.names else {}
        signature = batch.sign(registry.make(Settings.gather({"method": name, **options}), counted))
        if signature.keys is not None:
            yield signature.keys.values
        if signature.sketch is not None:
            yield signature.sketch.values
