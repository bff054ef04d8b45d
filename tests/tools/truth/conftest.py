"""The twins share `tests/exact.py`, and a collection with every kind of copy in it."""

from __future__ import annotations

import random

import pytest

VOCABULARY = [a + b + c + d for a in "bdfgkp" for b in "aeiou" for c in "lmnrs" for d in ("ton", "ia", "ver", "sk")]


@pytest.fixture(scope="session")
def collection() -> dict[str, str]:
    """Documents of all lengths, edited copies of many degrees, excerpts, boilerplate, exact copies, empty ones."""
    dice = random.Random(11)
    weights = [1 / (1 + i) for i in range(len(VOCABULARY))]
    frame = dice.choices(VOCABULARY, k=60)
    texts: list[list[str]] = []
    for _ in range(110):
        base = dice.choices(VOCABULARY, weights, k=int(2 ** dice.uniform(1, 9)))
        texts.append(base)
        for _ in range(dice.choice([0, 0, 1, 2, 6])):
            own = list(base)
            for _ in range(int(len(own) * dice.choice([0, 0.01, 0.03, 0.1, 0.3]))):
                own[dice.randrange(len(own))] = dice.choice(VOCABULARY)
            if dice.random() < 0.3:
                own = own[: dice.randint(1, len(own))]
            if dice.random() < 0.2:
                own = frame + own
            texts.append(own)
    texts += [[], [], [], frame, frame, ["alone"], ["alone"], ["alone", "together"]]
    dice.shuffle(texts)
    return {f"d{i:04}": " ".join(text) for i, text in enumerate(texts)}
