"""The stock: real documents, tokenised once, kept in flat files that every worker maps into memory.

In: Parquet or JSONL with a text column. Out: a folder with the text of all documents end to end and, for
every token, its start, end, hash and whether it begins a sentence. A worker takes a passage from any place
in microseconds, and the pages are shared between workers. Documents whose texts are equal are taken once;
those for which `is_plain` does not hold are left out, so that labels are exact for every tool.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
import pyarrow.parquet as pq

from benchmarks.growth.passages import Flags, Hashes, Passage, Places, Run, read_passage
from benchmarks.tokens import is_plain

LEAST_TOKENS = 20
MOST_BYTES = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Stock:
    """An open stock. `documents[d]` is the first token of document d; `starts` ends with the text's size."""

    text: mmap.mmap
    starts: Places
    ends: Places
    hashes: Hashes
    breaks: Flags
    documents: Places
    tokens: int

    @property
    def bytes_a_token(self) -> float:
        """Mean bytes of text for a token, separators included."""
        return len(self.text) / self.tokens

    def cut(self, first: int, last: int) -> bytes:
        """The text of tokens first … last − 1 with the separators that follow each."""
        return self.text[self.starts[first] : self.starts[last]]

    def passage(self, first: int, last: int) -> Passage:
        """The tokens first … last − 1 of the stock, cut at its end."""
        last = min(last, self.tokens)
        run = Run(self.starts[first:last], self.ends[first:last], self.breaks[first:last], -int(self.starts[first]))
        return Passage(self.cut(first, last), self.hashes[first:last], (run,))


def build_stock(files: list[Path], folder: Path, *, text_column: str, most_bytes: int) -> int:
    """Write the stock of these files into `folder`; returns how many documents it holds."""
    folder.mkdir(parents=True, exist_ok=True)
    seen: set[bytes] = set()
    parts: list[Passage] = []
    size = 0
    with (folder / "text").open("wb") as out:
        for text in read_texts(files, text_column):
            digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
            if digest in seen or not is_plain(text):
                continue
            seen.add(digest)
            passage = read_passage(text.rstrip() + "\n")
            if len(passage) < LEAST_TOKENS:
                continue
            if size + len(passage.text) > min(most_bytes, MOST_BYTES):
                break
            out.write(passage.text)
            size += len(passage.text)
            parts.append(passage)
    if not parts:
        raise ValueError(
            f"no usable document in {', '.join(map(str, files))}: a stock needs texts of {LEAST_TOKENS} "
            f"words or more in the column {text_column!r}; name another with --text-column"
        )
    begins = np.cumsum([0] + [len(part.text) for part in parts])
    shifted = list(zip(parts, begins.tolist(), strict=False))
    np.save(folder / "starts.npy", np.concatenate([*(p.starts() + b for p, b in shifted), [size]]))
    np.save(folder / "ends.npy", np.concatenate([p.ends() + b for p, b in shifted]))
    np.save(folder / "hashes.npy", np.concatenate([part.hashes for part in parts]))
    np.save(folder / "breaks.npy", np.concatenate([part.breaks() for part in parts]))
    np.save(folder / "documents.npy", np.cumsum([0] + [len(part) for part in parts], dtype=np.int64))
    return len(parts)


def open_stock(folder: Path) -> Stock:
    """Map a stock that `build_stock` wrote."""
    with (folder / "text").open("rb") as file:
        text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    loaded = {
        name: np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray)
        for name in ("starts", "ends", "hashes", "breaks", "documents")
    }
    return Stock(text, **loaded, tokens=len(loaded["hashes"]))


def read_texts(files: list[Path], text_column: str) -> Iterator[str]:
    """The texts of Parquet or JSONL files, in order; null and missing ones are passed over."""
    for file in files:
        if file.suffix == ".parquet":
            names = pq.read_schema(file).names
            if text_column not in names:
                raise ValueError(
                    f"{file} has no column {text_column!r} but {', '.join(names)}: name one of them with --text-column"
                )
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(batch_size=1024, columns=[text_column]):
                    yield from (text for text in batch.column(0).to_pylist() if text)
        elif file.suffix in (".jsonl", ".json", ".ndjson"):
            with file.open("rb") as lines:
                for line in lines:
                    text = orjson.loads(line).get(text_column) if line.strip() else None
                    if isinstance(text, str) and text:
                        yield text
        else:
            raise ValueError(f"{file}: only .parquet and .jsonl can be grown; convert it first")
