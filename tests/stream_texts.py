"""Words and mail that the tests of streams, results and sweeps are made of."""

from __future__ import annotations

import random

WORDS = [
    f"{a}{b}"
    for a in ("bar", "cor", "den", "fal", "gim", "hol", "jun", "kes")
    for b in ("ta", "ro", "mi", "lu", "se", "vo")
]


def prose(seed: int, words: int = 120) -> str:
    """A text of so many words, always the same for a seed, and unlike that of another."""
    draw = random.Random(seed)
    return " ".join(
        f"{draw.choice(WORDS)}{seed % 97}" if draw.random() < 0.3 else draw.choice(WORDS) for _ in range(words)
    )


def edited(text: str, seed: int, changes: int = 1) -> str:
    """The text with some words exchanged."""
    draw = random.Random(seed)
    words = text.split()
    for _ in range(changes):
        words[draw.randrange(len(words))] = f"changed{draw.randrange(10_000)}"
    return " ".join(words)


def mail(number: int, body: str, subject: str = "Hello") -> bytes:
    """A message."""
    head = f"From: someone@example.org\nSubject: {subject}\nDate: Mon, 04 Mar 2024 10:00:00 +0000\n"
    return f"{head}Message-ID: <m{number}@example.org>\n\n{body}\n".encode()


def mbox(*messages: bytes) -> bytes:
    """An mbox of messages."""
    return b"".join(b"From someone@example.org Mon Mar  4 10:00:00 2024\n" + message + b"\n" for message in messages)
