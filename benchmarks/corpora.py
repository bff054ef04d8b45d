"""The documents that all tools are run on: real ones, written once as JSONL with `id` and `text`.

- `documentation`: pages of software manuals; whole packages, drawn by seed, none more than a third of the set.
- `mail`: SpamAssassin, Ling-Spam, CSDMC2010, r-devel and part of 20 Newsgroups, with copies across and within them.
- `grown`: documents made of the former with labelled edits (`grow.py`).
- or any Parquet or JSONL files of your own.

Texts without a token are left out, and so are those that tools tokenise differently (`tokens.is_plain`), so that
one truth fits all. A smaller set takes documents by a hash of their first words: copies stay together, and the share of
duplicates stays what it is.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pyarrow.parquet as pq

from benchmarks.grow import Growth, grow
from benchmarks.growth.stock import read_texts
from benchmarks.tokens import is_plain, tokens_of

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
DATA = Path(__file__).resolve().parent / "data"

MAIL = {
    "spamassassin": None,
    "lingspam": None,
    "csdmc2010": None,
    "r_devel_2010_2011": None,
    "newsgroups20": 15_000,
}
_FIRST_WORDS = 4

Documents = Iterable[tuple[str, str]]


class CorpusMissing(FileNotFoundError):
    """The corpora are not there; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A JSONL file that tools are run on."""

    name: str
    path: Path
    documents: int
    text_bytes: int

    def read(self) -> tuple[list[str], list[str]]:
        """All ids and texts, in order."""
        records = [orjson.loads(line) for line in self.path.read_bytes().splitlines()]
        return [record["id"] for record in records], [record["text"] for record in records]


def documentation(corpora: Path, most_bytes: int) -> Collection:
    """Pages of manuals up to a size: whole packages, so that the versions of a manual stay together."""
    source = _file(corpora, "large/debian_docs.parquet")

    def documents() -> Iterator[tuple[str, str]]:
        table = pq.read_table(source, columns=["id", "text", "label"])
        labels = table["label"].to_pylist()
        places: dict[str, list[int]] = {}
        for place, label in enumerate(labels):
            places.setdefault(label or "", []).append(place)
        packages = sorted(places)
        random.Random(1).shuffle(packages)
        ids, texts = table["id"].to_pylist(), table["text"].to_pylist()
        for package in packages:
            if sum(len(texts[place]) for place in places[package]) <= most_bytes / 3:
                yield from ((ids[place], texts[place]) for place in places[package])

    return _write(f"documentation-{most_bytes // 1_000_000}mb", documents(), most_bytes)


def mail(corpora: Path, share: float = 1.0) -> Collection:
    """About 34,000 mails and news articles, or a share of them."""

    def documents() -> Iterator[tuple[str, str]]:
        for name, most in MAIL.items():
            table = pq.read_table(_file(corpora, f"{name}.parquet"), columns=["id", "text"])
            for doc_id, text in zip(*(column.to_pylist()[:most] for column in table.columns), strict=True):
                if share >= 1 or _first_words(text or "") < share:
                    yield f"{name}/{doc_id}", text or ""

    return _write(f"mail-{round(share * 100)}", documents(), None)


def grown(corpora: Path, documents: int) -> Collection:
    """Grown documents as one file; the shards and their labels stay beside it."""
    folder = DATA / f"grown-{documents}"
    if not (folder / "grown.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        grow([_file(corpora, "large/debian_docs.parquet")], folder, Growth(documents=documents, format="jsonl"))
    lines = (line for shard in sorted((folder / "documents").iterdir()) for line in shard.open("rb"))
    return _write(folder.name, ((r["id"], r["text"]) for r in map(orjson.loads, lines)), None)


def own(files: list[Path], text_column: str, most_bytes: int | None) -> Collection:
    """Documents of the caller's own, numbered."""
    key = hashlib.blake2b(digest_size=6)
    for file in files:
        if not file.is_file():
            raise CorpusMissing(f"{file} is not a file: name Parquet or JSONL files with --files")
        key.update(f"{file.resolve()} {file.stat().st_mtime_ns} {text_column} {most_bytes}".encode())
    documents = ((f"{place:08d}", text) for place, text in enumerate(read_texts(files, text_column)))
    return _write(f"own-{key.hexdigest()}", documents, most_bytes)


def _write(name: str, documents: Documents, most_bytes: int | None) -> Collection:
    """Write the set, unless it was written before."""
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        unfinished = path.with_suffix(".partial")
        size = 0
        with unfinished.open("wb") as file:
            for doc_id, text in documents:
                if not is_plain(text) or not tokens_of(text):
                    continue
                file.write(orjson.dumps({"id": doc_id, "text": text}) + b"\n")
                size += len(text.encode())
                if most_bytes is not None and size >= most_bytes:
                    break
        unfinished.rename(path)
    count = size = 0
    with path.open("rb") as lines:
        for line in lines:
            count += 1
            size += len(orjson.loads(line)["text"].encode())
    if not count:
        path.unlink()
        raise CorpusMissing(f"the set {name} has no usable document: look at the files and the text column")
    return Collection(name, path, count, size)


def _file(corpora: Path, name: str) -> Path:
    path = corpora / name
    if not path.is_file():
        raise CorpusMissing(f"{path} is missing: say where the corpora are with --corpora, or use --files")
    return path


def _first_words(text: str) -> float:
    """A number from 0 to 1 that depends on the first words only."""
    words = " ".join(tokens_of(text[:400])[:_FIRST_WORDS])
    return int.from_bytes(hashlib.blake2b(words.encode(), digest_size=8).digest(), "little") / 2**64
