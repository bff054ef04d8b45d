"""Grow a few thousand real documents into N, with edited copies whose resemblance is known exactly.

    python -m benchmarks.grow corpora/large/debian_docs.parquet --documents 10000000 --out grown

In: Parquet or JSONL with a text column. Out: `documents/part-00000.parquet` (or .jsonl) with `id, text`;
`truth/part-00000.parquet` with `child, parent, kind, resemblance`, one row for every copy; `grown.json` with
the settings and counts. Founders are the real documents as long as they last, then three or more runs of
real text from different places, so that no two of them are alike by chance. `growth/edits.py` says how copies
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
from benchmarks.growth.plan import Plan, make_plan, open_plan, save_plan
from benchmarks.growth.stock import Stock, build_stock, open_stock

SPREAD = 0.8  # of the logarithm of document lengths
TRUTH = pa.schema(
    [
        pa.field("child", pa.string(), nullable=False),
        pa.field("parent", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("resemblance", pa.float64(), nullable=False),
    ]
)


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

    def document(self, slot: int, cluster: int) -> tuple[bytes, tuple[int, str, float] | None]:
        """The text in a slot and, for a copy, its parent's slot, the kind of edit and their resemblance."""
        founder = int(self.plan.offsets[cluster])
        if slot == founder:
            return b"".join(self.stock.cut(first, last) for first, last in self._runs(cluster)), None
        parent_slot = self.plan.parent_of(slot, founder)
        parent = self.passage(parent_slot, cluster)
        kind, child = self._copy(slot, parent)
        if kind in SAME:
            return child.text, (parent_slot, kind, 1.0)
        return child.text, (parent_slot, kind, resemblance(child.hashes, parent.hashes))

    def passage(self, slot: int, cluster: int) -> Passage:
        """The passage in a slot, made again from its parents."""
        founder = int(self.plan.offsets[cluster])
        if slot == founder:
            return join_passages([self.stock.passage(first, last) for first, last in self._runs(cluster)])
        parent = self.passage(self.plan.parent_of(slot, founder), cluster)
        return read_passage(self._copy(slot, parent)[1].text.decode())

    def _copy(self, slot: int, parent: Passage) -> tuple[str, Child]:
        return edit(parent, self.stock, self.plan.member_chance(slot))

    def _runs(self, cluster: int) -> list[tuple[int, int]]:
        """Where in the stock the text of a founder stands: a real document, or runs put together."""
        chance = self.plan.cluster_chance(cluster)
        length = max(20, int(chance.lognormvariate(self._middle, SPREAD)))
        if cluster < self._real:
            document = self._order[cluster]
            first, end = int(self.stock.documents[document]), int(self.stock.documents[document + 1])
            return [(first, min(end, first + length))]
        runs = max(3, length // 150)
        size = length // runs
        room = max(1, self.stock.tokens - size)
        places = [int(room * chance.random()) for _ in range(runs)]
        return [(place, min(place + size, self.stock.tokens)) for place in places]


def grow(files: list[Path], out: Path, growth: Growth) -> dict[str, object]:
    """Grow the collection into `out`, which must not hold one yet; returns what `grown.json` says."""
    if out.exists() and any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty: name another folder with --out, or remove it")
    for missing in (file for file in files if not file.is_file()):
        raise FileNotFoundError(f"{missing} is not a file: name Parquet or JSONL files to grow from")
    started = time.perf_counter()
    for name in ("documents", "truth"):
        (out / name).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".stock-", dir=out) as scratch:
        folder = Path(scratch)
        real = build_stock(files, folder, text_column=growth.text_column, most_bytes=growth.stock_bytes)
        save_plan(make_plan(growth.documents, growth.seed), folder)
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
    for doc_id, slot, cluster in zip(ids, slots.tolist(), plan.clusters_of(slots).tolist(), strict=True):
        text, origin = grower.document(slot, cluster)
        texts.append(text)
        if origin is not None:
            parent, kind, score = origin
            labels.append((doc_id, id_at(int(plan.position_of[parent])), kind, score))
    name = f"part-{shard:05d}"
    if growth.format == "parquet":
        table = pa.table({"id": pa.array(ids, pa.string()), "text": pa.array(texts, pa.string())})
        pq.write_table(table, out / "documents" / f"{name}.parquet", compression="zstd", use_dictionary=False)
    else:
        with (out / "documents" / f"{name}.jsonl").open("wb") as file:
            for doc_id, text in zip(ids, texts, strict=True):
                file.write(orjson.dumps({"id": doc_id, "text": text.decode()}) + b"\n")
    columns = list(zip(*labels, strict=True)) or [(), (), (), ()]
    truth = pa.table([pa.array(column, f.type) for column, f in zip(columns, TRUTH, strict=True)], schema=TRUTH)
    pq.write_table(truth, out / "truth" / f"{name}.parquet", compression="zstd")
    return sum(map(len, texts)), len(labels), time.process_time() - started


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
