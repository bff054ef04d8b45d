"""Digests of answers, by which printed results are known to be stale.

Everything in the docs that was printed from a run has a digest beside it. A change of code that changes answers, even
of one constant of a hash, changes the digest, and a test names the pages until they are made again.

`answers_digest` is of what the kernels give for a few made texts: tokens, digests, samples, keys of every method, the
order of a lexicon. A *trial* is an experiment, or a block of a page, on a small made collection; its digest
(`reproduction_page.trial_digest`) covers everything between the kernels and the printed text.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
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
_ENGLISH = """
abbey acid actor adult age aim air algae angle ankle apple april arch army atlas autumn axe bag bake bamboo band bank
barn bay beam bean bear bell bench birch bird blue boat bone book bowl box brass bread brick bridge brown bus butter cab
cabin cake camel canal candle canoe cape card cargo cat cave cedar chalk chess chief city clay cliff clock cloud coal
coast coin comet copper coral corn cotton cow crab crane crow cup dairy dam deer delta desert dew dog dome door dove
drum duke dune eagle ear east echo egg elm engine farm fern fish flame flax flute foal fog ford forest fox frog garden
gate ghost glass globe goat gold grape gravel guitar gulf hail harbour hat hawk hay hedge herb hill honey hood horn ice
ink iron island ivory jar jazz jewel june kettle king kite lace lake lamb lamp lance leaf lemon lily lime lion map
maple marble mill mint moon moss
"""
ENGLISH = _ENGLISH.split()
"""Words that the lexicon of the package knows, short and long."""
TRIAL: Mapping[str, Mapping[str, Any]] = {
    "perturbation": {"documents": 10, "filter": "IDFR-I-1-99", "lexicons": [1, 2, 5, 10], "changes": [1, 2, 3, 5]},
    "passage": {"documents": 8}, "spam": {"filter": "IDFR-I-1-99", "queries": 0.5},
    "lexicons": {"filter": "IDFR-I-1-99"}, "results": {"queries": 20}, "growing": {"documents": 15},
    "contrived": {"documents": 4}, "phases": {"common": 3}, "sampling": {"common": 8},
}  # fmt: skip
"""Parameters of a trial, by protocol: a small collection cannot have as many documents as the papers'."""


def made_rows() -> list[dict[str, str]]:
    """Families of copies, long enough, titled, dated and labelled."""
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


def trial_rows() -> list[dict[str, str]]:
    """Documents on which every experiment can be run, and whose answers depend on every rule: `made_rows`, families of
    all kinds of duplicates with windows of dates and lengths crossed, and mail whose cosine is just at the limit."""
    dice = random.Random(12)
    rows = made_rows()

    def add(family: str, listed: Sequence[str], month: int) -> None:
        rows.append(
            {
                "id": f"{family}-{len(rows)}", "text": " ".join(listed), "label": "spam" if len(rows) % 3 else "ham",
                "title": " ".join(dict.fromkeys(listed[:8])), "date": f"2002-{month:02}-{1 + len(rows) % 28:02}",
            }
        )  # fmt: skip

    for family, length in enumerate((24, 80, 150, 240, 450)):
        chosen, others = (dice.sample(ENGLISH, 50) for _ in range(2))
        base = dice.choices(chosen, k=length)
        part, middle = length // 10, length // 2
        add(f"e{family}", base, 3)
        add(f"e{family}", base[: 8 * part], 3)
        add(f"e{family}", base + dice.choices(chosen, k=4 * part), 3)
        add(f"e{family}", base + others[: length // 25], 5)
        add(f"e{family}", base[:middle] + dice.choices(others, k=2 * part) + base[middle:], 3)
        for kept in (6, 7):  # aligned: less and more than two thirds
            moved = base[kept * part :]
            dice.shuffle(moved)
            add(f"e{family}", base[: kept * part] + moved, 4)
        for count in (1, 4, 8, 10, 11, 12, 13, 16):
            gone = set(list(dict.fromkeys(base))[:count])
            add(f"e{family}", [word for word in base if word not in gone], 3 if count % 3 else 8)
    mail = [word for word in ENGLISH if len(word) > 3][:11]
    for listed in (mail[:10], mail[1:], [*mail[:9], "ink1", "b2b4c"]):  # ten words, nine of them common: 0.9
        add("m", [*listed, "cat", "dog"], 6)
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


@cache
def answers_digest() -> str:
    """Sixteen hex digits of what kernels and methods give for the made texts."""
    found = hashlib.sha256()
    for part in _answers():
        found.update(part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes())
    return found.hexdigest()[:16]


def _answers() -> Iterator[Any]:
    rows = made_rows()
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
