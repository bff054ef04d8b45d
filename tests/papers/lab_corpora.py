"""Small collections for the tests of the lab: made, seeded, with families of near-copies, labels, titles and dates."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.papers.answer_digests import VOCABULARY, trial_rows
from roughly.tools.corpus import Corpus


def make_corpus(count: int = 60, seed: int = 1) -> Corpus:
    dice = random.Random(seed)
    weights = [1 / (1 + i) for i in range(len(VOCABULARY))]
    texts = [" ".join(dice.choices(VOCABULARY, weights, k=dice.randint(40, 90))) for _ in range(count)]
    texts[1] = texts[0]
    ids = [f"d{i:03}" for i in range(count)]
    none = [None] * count
    return Corpus("made", ids, pa.array(texts, pa.large_string()), ["a title"] * 2 + none[2:], none, none)


CORPUS = make_corpus()


def write_mail(path: Path) -> Path:
    """Spam in runs of near-copies, and ham that has nothing to do with it."""
    dice = random.Random(7)
    rows = []
    for family in range(8):
        listed = dice.sample(VOCABULARY[:120], 40)
        for copy in range(5):
            own = listed[copy % 2 :] + ([dice.choice(VOCABULARY)] if copy == 4 else [])
            rows.append({"id": f"s{family}{copy}", "text": " ".join(own), "label": "spam"})
    for i in range(30):
        rows.append({"id": f"h{i}", "text": " ".join(dice.sample(VOCABULARY, 35)), "label": "ham"})
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def write_anything(path: Path) -> Path:
    """Documents that every experiment can be run on."""
    pq.write_table(pa.Table.from_pylist(trial_rows()), path)
    return path
