"""The hot loops alone, on one core: text in memory → tokens → 5-word shingles → 128 min-hashes.

    python -m benchmarks.kernels --megabytes 20

Roughly reads the Arrow column that its readers give it, in batches of about 1 MB; the peers read Python strings, as
theirs do. Reading files and grouping are in `dedupe.py`. gaoya cannot sketch without inserting into its index, so its
figure has that in it. Every tool runs in a process of its own with one thread; the fastest of the repeats counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from benchmarks import corpora
from benchmarks.corpora import Collection
from benchmarks.measure import run
from benchmarks.peers import PEERS, Peer
from benchmarks.peers.venvs import PeerUnavailable, python_of
from benchmarks.tables import kernel_table
from benchmarks.tokens import SHINGLE_SIZE

ROOT = Path(__file__).resolve().parents[1]
BATCH_BYTES = 1_000_000
BANDS, ROWS = 16, 8
ONE_THREAD = dict.fromkeys(("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One figure: what was timed and how fast it ran."""

    tool: str
    what: str
    mb_per_second: float | None = None
    failure: str | None = None

    def as_json(self) -> dict[str, object]:
        """All fields."""
        return asdict(self)


def compare(collection: Collection, tools: list[str], repeats: int, timeout: float) -> list[KernelRow]:
    """Time the named tools on one set, Roughly's own loops first."""
    rows: list[KernelRow] = []
    if "roughly" in tools:
        command = [sys.executable, "-m", "benchmarks.kernels", "--time-roughly", str(collection.path)]
        rows += _timed("roughly", command, repeats, timeout)
    for peer in PEERS:
        if peer.name in tools and peer.sketches:
            rows += _time_peer(peer, collection.path, repeats, timeout)
    return rows


def table(rows: list[KernelRow]) -> str:
    """The rows in Markdown."""
    return kernel_table([(row.tool, row.what, row.mb_per_second, row.failure) for row in rows])


def time_roughly(source: Path, repeats: int) -> dict[str, float]:
    """MB/s of tokenising, and of all up to the keys of the bands, for the texts of a JSONL file."""
    from roughly.kernels.minhash import band_keys, orderings
    from roughly.methods.permutations import draw
    from roughly.text.canonical import tokenise

    _, texts = Collection(source.stem, source, 0, 0).read()
    batches = list(batches_of(texts))
    multipliers, increments = draw(orderings(BANDS, ROWS), seed=1)

    def sketch(batch: pa.Array) -> object:
        tokens = tokenise(batch)
        return band_keys(tokens.hashes, tokens.offsets, SHINGLE_SIZE, multipliers, increments, BANDS, ROWS)

    size = sum(len(text.encode()) for text in texts) / 1e6
    steps: dict[str, Callable[[pa.Array], object]] = {
        "tokenise + 128 min-hashes, 16×8 keys": sketch,
        "tokenise only": tokenise,
    }
    return {what: size / _fastest(step, batches, repeats) for what, step in steps.items()}


def _time_peer(peer: Peer, source: Path, repeats: int, timeout: float) -> list[KernelRow]:
    label = f"{peer.name} {peer.version}"
    try:
        command = [str(python_of(peer)), "-m", "benchmarks.peers.kernel", peer.module, str(source)]
    except PeerUnavailable as problem:
        return [KernelRow(label, "tokenise + 128 min-hashes", failure=str(problem))]
    return _timed(label, command, repeats, timeout)


def _timed(label: str, command: list[str], repeats: int, timeout: float) -> list[KernelRow]:
    """Run a timing command in a process of its own and read the JSON on its last line."""
    what = "tokenise + 128 min-hashes"
    with tempfile.TemporaryDirectory(prefix="kernel-") as name:
        path = f"{ROOT / 'src'}:{ROOT}"
        environment = {**ONE_THREAD, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
        done = run([*command, str(repeats)], folder=Path(name), environment=environment, timeout=timeout)
    if done.failure is not None:
        return [KernelRow(label, what, failure=done.failure)]
    found = json.loads(done.output.strip().splitlines()[-1])
    if "seconds" in found:
        return [KernelRow(label, what, found["bytes"] / 1e6 / found["seconds"])]
    return [KernelRow(label, step, speed) for step, speed in found.items()]


def batches_of(texts: list[str]) -> Iterator[pa.Array]:
    """Arrow columns of about 1 MB of text."""
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size >= BATCH_BYTES:
            yield pa.array(part, pa.large_string())
            part, size = [], 0
    if part:
        yield pa.array(part, pa.large_string())


def _fastest(step: Callable[[pa.Array], object], batches: list[pa.Array], repeats: int) -> float:
    step(batches[0])  # compiles, or loads what was compiled before
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        for batch in batches:
            step(batch)
        times.append(time.perf_counter() - started)
    return min(times)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=20, help="of documentation pages")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tools", default=",".join(["roughly", *(peer.name for peer in PEERS)]))
    parser.add_argument("--timeout", type=float, default=1800)
    parser.add_argument("--time-roughly", nargs=2, metavar=("FILE", "REPEATS"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.time_roughly:
        print(json.dumps(time_roughly(Path(chosen.time_roughly[0]), int(chosen.time_roughly[1]))))
        return 0
    try:
        collection = corpora.documentation(chosen.corpora, chosen.megabytes * 1_000_000)
    except corpora.CorpusMissing as problem:
        print(problem, file=sys.stderr)
        return 1
    print(table(compare(collection, chosen.tools.split(","), chosen.repeats, chosen.timeout)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
