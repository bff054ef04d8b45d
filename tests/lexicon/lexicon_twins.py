"""What lexicons and filters do, once more in plain Python; and the command line as a user has it."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import Stemmer

from roughly.text.canonical import words

SMART = Path(__file__).resolve().parents[2] / "src" / "roughly" / "text" / "smart.txt"
TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "A rose is a rose is a rose; the Rose!",
    "Don’t stop: the naïve café re-opens at 9.30",
    "cafe\u0301 CAFÉ Straße ΣΊΣΥΦΟΣ",
    "東京 タワー and Tokyo, 한국어, हिन्दी भाषा",
    "",
    "... !!! ---",
    "x² ½ ⑴ ① 12 1,000",
    "The connections connected the connecting connection relational ponies",
    f"{'a' * 255} {'b' * 256} {'é' * 200} {'x' * 24}y {'x' * 25}y",
]


def frequencies(texts: Iterable[str]) -> Counter[str]:
    """In how many texts each term stands; terms of more than 255 bytes cut as a lexicon cuts them."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({shown(word) for word in words(text)})
    return counts


def shown(word: str) -> str:
    data = unicodedata.normalize("NFD", word).encode()
    if len(data) <= 255:
        return word
    return unicodedata.normalize("NFC", data[:255].decode("utf-8", "ignore")) + "…"


def filtered(text: str, names: Iterable[str]) -> list[str]:
    """The tokens of a text after syntactic filters."""
    listed = SMART.read_text(encoding="utf-8").split()
    stops = {piece for stop in listed for piece in stop.split("'")}
    stemmer = Stemmer.Stemmer("porter")
    out = []
    for word in words(text):
        special = any(unicodedata.category(c) in ("No", "Nl") for c in word)
        if (
            ("sw" in names and word in stops)
            or ("tg5" in names and len(word) < 5)
            or ("tl25" in names and len(word) > 25)
            or ("nosc" in names and special)
        ):
            continue
        out.append(stemmer.stemWord(word) if "stem" in names and len(word) > 2 else word)
    return out


def write_texts(path: Path, texts: Iterable[str]) -> Path:
    """A JSONL file of texts."""
    lines = [json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(texts)]
    path.write_text("".join(lines), encoding="utf-8")
    return path
