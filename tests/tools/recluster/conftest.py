"""Documents to sketch: made of words drawn by a seed, with copies of every degree."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest


def made(count: int = 120, seed: int = 1) -> list[dict[str, str]]:
    """Documents of 30 to 900 words; two in three are an earlier one with some words changed."""
    chance = random.Random(seed)
    texts: list[list[str]] = []
    for _ in range(count):
        if texts and chance.random() < 0.66:
            words = list(chance.choice(texts))
            for _ in range(chance.choice([0, 1, 2, 5, 20])):
                words[chance.randrange(len(words))] = f"new{chance.randrange(10**6)}"
            if chance.random() < 0.3:
                words = words[: max(30, len(words) // 2)]
        else:
            words = [f"w{chance.randrange(5000)}" for _ in range(chance.randrange(30, 900))]
        texts.append(words)
    return [{"id": f"d{at:03}", "text": " ".join(words)} for at, words in enumerate(texts)]


@pytest.fixture(scope="session")
def records() -> list[dict[str, str]]:
    """The documents."""
    return made()


@pytest.fixture(scope="session")
def file(records: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    path = tmp_path_factory.mktemp("documents") / "documents.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
