"""Makes the `benchmarks` folder importable, however pytest was started, and gives small real-looking texts."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Two hundred documents made of words with natural frequencies, some accented, some very short."""
    chance = random.Random(7)
    words = [
        "".join(chance.choice("bcdfglmnprst") + chance.choice("aeiouéü") for _ in range(chance.randint(1, 4)))
        for _ in range(3000)
    ]
    weights = [1 / (rank + 10) for rank in range(len(words))]
    documents = []
    for _ in range(200):
        chosen = chance.choices(words, weights, k=chance.randint(60, 300))
        ends = [chance.choice((" ", " ", " ", ", ", ". ", ".\n", "_", "-")) for _ in chosen]
        documents.append(
            "".join(f"{w.title() if chance.random() < 0.1 else w}{e}" for w, e in zip(chosen, ends, strict=True))
        )
    return documents
