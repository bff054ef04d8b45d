"""What every peer does in the same way: reading, sharing work between processes, components, writing.

Standard library only, and as quick as plain Python allows, so that a peer's time is its own. `sketch_in_pool`
gives library peers, which leave the use of several cores to the caller, the two processes a careful user would.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from benchmarks.peers import WORKERS

CHUNK = 500

Sketch = TypeVar("Sketch")


def arguments() -> tuple[Path, Path]:
    """The input file and the output folder, which is made."""
    if len(sys.argv) != 3:
        raise SystemExit(f"usage: python -m benchmarks.peers.{Path(sys.argv[0]).stem} INPUT.jsonl OUT")
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    return source, out


def read_documents(source: Path) -> Iterator[tuple[str, str]]:
    """Id and text of every line."""
    with source.open("rb") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["id"], record["text"]


def sketch_in_pool(source: Path, sketch: Callable[[list[str]], Sketch]) -> Iterator[tuple[list[str], Sketch]]:
    """Ids and what `sketch` makes of the texts, chunk by chunk, in input order, from two processes."""
    with source.open("rb") as lines, multiprocessing.Pool(WORKERS) as pool:
        chunks = iter(lambda: list(itertools.islice(lines, CHUNK)), [])
        yield from pool.imap(_Chunk(sketch), chunks)


class _Chunk(Generic[Sketch]):
    """Parses lines and sketches them in a worker: a class, so that it can be sent there."""

    def __init__(self, sketch: Callable[[list[str]], Sketch]) -> None:
        self.sketch = sketch

    def __call__(self, lines: list[bytes]) -> tuple[list[str], Sketch]:
        records = [json.loads(line) for line in lines]
        return [r["id"] for r in records], self.sketch([r["text"] for r in records])


class Components:
    """Union-find over 0 … n − 1; the smallest member stands for all."""

    def __init__(self, size: int) -> None:
        self.parent = list(range(size))

    def find(self, member: int) -> int:
        """The smallest member joined with this one."""
        parent = self.parent
        while parent[member] != member:
            parent[member] = parent[parent[member]]
            member = parent[member]
        return member

    def join(self, left: int, right: int) -> None:
        """Put both into one component."""
        left, right = self.find(left), self.find(right)
        if left < right:
            self.parent[right] = left
        elif right < left:
            self.parent[left] = right

    def roots(self) -> list[int]:
        """For every member, the smallest of its component."""
        return [self.find(member) for member in range(len(self.parent))]


def write_first_of_each(source: Path, out: Path, ids: list[str], roots: list[int]) -> None:
    """Keep the first document of each cluster: the kept lines as they came, and clusters.tsv."""
    write_clusters(out, zip(ids, roots, (root == n for n, root in enumerate(roots)), strict=True))
    with source.open("rb") as lines, (out / "kept.jsonl").open("wb") as kept:
        kept.writelines(line for n, line in enumerate(lines) if roots[n] == n)


def write_clusters(out: Path, rows: Iterable[tuple[str, int, bool]]) -> None:
    """One line a document: id, cluster, 1 if it stays."""
    with (out / "clusters.tsv").open("w", encoding="utf-8") as file:
        file.writelines(f"{doc_id}\t{cluster}\t{int(kept)}\n" for doc_id, cluster, kept in rows)
