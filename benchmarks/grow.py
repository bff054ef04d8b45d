"""Grow a few thousand real documents into N, with edited copies whose resemblance is known exactly.

    python -m benchmarks.grow corpora/large/debian_docs.parquet --documents 10000000 --out grown

In: Parquet or JSONL with a text column. Out: `documents/part-00000.parquet` (or .jsonl) with `id, text`;
`truth/part-00000.parquet` with `child, parent, kind, resemblance`, one row for every copy; `grown.json` with
the settings and counts. Founders are the real documents as long as they last, then four runs of real text
from different places, so that no two of them are alike by chance. `growth/edits.py` says how copies
differ, `growth/plan.py` how clusters are sized and spread.

The same arguments give the same bytes whatever the number of workers. A worker holds one shard at a time.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.growth.edits import SAME, Child, edit
from benchmarks.growth.passages import Passage, join_passages, read_passage, resemblance
from benchmarks.growth.plan import Places, Plan, make_plan, open_plan, save_plan
from benchmarks.growth.stock import Stock, build_stock, open_stock

SPREAD = 0.8  # of the logarithm of document lengths
RUNS = 4  # that a founder is put together from
TRUTH = pa.schema(
    [
        pa.field("child", pa.string(), nullable=False),
        pa.field("parent", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64(), nullable=False),
    ]
)

Runs = list[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What is to be grown."""

    documents: int
    seed: int = 1
    format: str = "parquet"
    shard_size: int = 20_000
    mean_bytes: int = 2_500
    workers: int = 2
    text_column: str = "text"
    stock_bytes: int = 64_000_000

    def __post_init__(self) -> None:
        problems = [
            f"{name} must be {least} or more, not {value}"
            for name, value, least in (
                ("--documents", self.documents, 1),
                ("--seed", self.seed, 0),
                ("--shard-size", self.shard_size, 1),
                ("--mean-bytes", self.mean_bytes, 200),
                ("--workers", self.workers, 1),
                ("--stock-bytes", self.stock_bytes, 1000),
            )
            if value < least
        ]
        if self.format not in ("parquet", "jsonl"):
            problems.append(f"--format must be parquet or jsonl, not {self.format!r}")
        if problems:
            raise ValueError("; ".join(problems))


class Grower:
    """Makes any document of a plan, on its own."""

    def __init__(self, plan: Plan, stock: Stock, mean_bytes: int) -> None:
        self.plan, self.stock = plan, stock
        self._middle = math.log(mean_bytes / stock.bytes_a_token) - SPREAD**2 / 2
        self._real = len(stock.documents) - 1
        self._order = np.random.default_rng(plan.seed).permutation(self._real)

    def runs_of(self, clusters: Places) -> list[Runs]:
        """Where in the stock the founder of each cluster stands: a real document, or runs put together."""
        draws = self.plan.cluster_draws(clusters, 2 + RUNS)
        normal = np.sqrt(-2 * np.log1p(-draws[:, 0])) * np.cos(2 * np.pi * draws[:, 1])
        length = np.maximum(5 * RUNS, np.exp(self._middle + SPREAD * normal)).astype(np.int64)
        size = length // RUNS
        first = (draws[:, 2:] * np.maximum(1, self.stock.tokens - size)[:, None]).astype(np.int64)
        last = np.minimum(first + size[:, None], self.stock.tokens)
        real = np.flatnonzero(clusters < self._real)
        documents = self._order[clusters[real]]
        first[real], last[real] = 0, 0
        first[real, 0] = self.stock.documents[documents]
        last[real, 0] = np.minimum(self.stock.documents[documents + 1], first[real, 0] + length[real])
        pairs = zip(first.tolist(), last.tolist(), strict=True)
        return [[(a, b) for a, b in zip(begins, ends, strict=True) if a < b] for begins, ends in pairs]

    def document(self, slot: int, founder: int, runs: Runs) -> tuple[bytes, tuple[int, str, float] | None]:
        """The text in a slot and, for a copy, its parent's slot, the kind of edit and their resemblance."""
        if slot == founder:
            return b"".join([self.stock.cut(first, last) for first, last in runs]), None
        parent_slot = self.plan.parent_of(slot, founder)
        parent = self.passage(parent_slot, founder, runs)
        kind, child = self._copy(slot, parent)
        score = 1.0 if kind in SAME else resemblance(child.hashes, parent.hashes)
        return child.text, (parent_slot, kind, score)

    def passage(self, slot: int, founder: int, runs: Runs) -> Passage:
        """The passage in a slot, made again from its parents."""
        if slot == founder:
            return join_passages([self.stock.passage(first, last) for first, last in runs])
        parent = self.passage(self.plan.parent_of(slot, founder), founder, runs)
        return read_passage(self._copy(slot, parent)[1].text.decode())

    def _copy(self, slot: int, parent: Passage) -> tuple[str, Child]:
        return edit(parent, self.stock, self.plan.member_chance(slot))


def grow(files: list[Path], out: Path, growth: Growth) -> dict[str, object]:
    """Grow the collection into `out`, which must not hold one yet; returns what `grown.json` says."""
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty: name another folder with --out, or remove it")
    for missing in (file for file in files if not file.is_file()):
        raise FileNotFoundError(f"{missing} is not a file: name Parquet or JSONL files to grow from")
    started = time.perf_counter()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".stock-", dir=out.parent) as scratch:
        folder = Path(scratch)
        real = build_stock(files, folder, text_column=growth.text_column, most_bytes=growth.stock_bytes)
        save_plan(make_plan(growth.documents, growth.seed), folder)
        for name in ("documents", "truth"):
            (out / name).mkdir(parents=True)
        prepared = time.perf_counter()
        shards = range(math.ceil(growth.documents / growth.shard_size))
        with ProcessPoolExecutor(
            min(growth.workers, len(shards)), get_context("spawn"), _start_worker, (folder, out, growth)
        ) as pool:
            counts = list(pool.map(_write_shard, shards))
    size, copies, cpu = (sum(column) for column in zip(*counts, strict=True))
    seconds = time.perf_counter() - prepared
    facts: dict[str, object] = {
        **asdict(growth),
        "real_documents": real,
        "copies": copies,
        "text_bytes": size,
        "seconds_to_prepare": round(prepared - started, 2),
        "seconds_to_grow": round(seconds, 2),
        "mb_per_second": round(size / 1e6 / seconds, 1),
        "mb_per_cpu_second": round(size / 1e6 / cpu, 1),
    }
    (out / "grown.json").write_text(json.dumps(facts, indent=2) + "\n")
    return facts


def id_at(position: int) -> str:
    """The id of the document at a position; ids sort as positions do."""
    return f"d{position:010d}"


_worker: tuple[Grower, Path, Growth]


def _start_worker(folder: Path, out: Path, growth: Growth) -> None:
    global _worker
    pa.set_cpu_count(1)
    plan = open_plan(folder, growth.seed)
    _worker = Grower(plan, open_stock(folder), growth.mean_bytes), out, growth


def _write_shard(shard: int) -> tuple[int, int, float]:
    """Make and write one shard and its labels; gives bytes of text, number of copies and CPU seconds."""
    started = time.process_time()
    grower, out, growth = _worker
    plan = grower.plan
    first = shard * growth.shard_size
    slots = plan.slot_at[first : first + growth.shard_size]
    ids = [id_at(first + place) for place in range(len(slots))]
    texts, labels = [], []
    clusters = plan.clusters_of(slots)
    founders, runs = plan.offsets[clusters].tolist(), grower.runs_of(clusters)
    for doc_id, slot, founder, where in zip(ids, slots.tolist(), founders, runs, strict=True):
        text, origin = grower.document(slot, founder, where)
        texts.append(text)
        if origin is not None:
            parent, kind, score = origin
            labels.append((doc_id, id_at(int(plan.position_of[parent])), kind, score))
    name = f"part-{shard:05d}"
    if growth.format == "parquet":
        table = pa.table({"id": pa.array(ids, pa.string()), "text": _text_column(texts)})
        pq.write_table(table, out / "documents" / f"{name}.parquet", compression="zstd", use_dictionary=False)
    else:
        with (out / "documents" / f"{name}.jsonl").open("wb") as file:
            for doc_id, text in zip(ids, texts, strict=True):
                file.write(orjson.dumps({"id": doc_id, "text": text.decode()}) + b"\n")
    columns = list(zip(*labels, strict=True)) or [(), (), (), ()]
    truth = pa.table([pa.array(column, f.type) for column, f in zip(columns, TRUTH, strict=True)], schema=TRUTH)
    pq.write_table(truth, out / "truth" / f"{name}.parquet", compression="zstd")
    return sum(map(len, texts)), len(labels), time.process_time() - started


def _text_column(texts: list[bytes]) -> pa.Array:
    """An Arrow column of UTF-8 texts, twenty times as fast as from Python objects one by one."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grow", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path, help="Parquet or JSONL files with real documents")
    parser.add_argument("--documents", type=int, required=True, metavar="N", help="how many to grow")
    parser.add_argument("--out", type=Path, required=True, help="a folder that is empty or not there yet")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("parquet", "jsonl"), default="parquet")
    parser.add_argument("--shard-size", type=int, default=20_000, metavar="N", help="documents in a file")
    parser.add_argument("--mean-bytes", type=int, default=2_500, metavar="N", help="of a document's text")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes")
    parser.add_argument("--text-column", default="text", metavar="NAME")
    parser.add_argument("--stock-bytes", type=int, default=64_000_000, metavar="N", help="real text to use")
    chosen = vars(parser.parse_args(arguments))
    files, out = chosen.pop("files"), chosen.pop("out")
    try:
        facts = grow(files, out, Growth(**chosen))
    except (OSError, ValueError) as problem:
        print(f"grow: {problem}", file=sys.stderr)
        return 1
    print(json.dumps(facts, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
