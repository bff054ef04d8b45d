"""The whole job, file in → clusters out, for Roughly and every peer on the same documents, with recall beside speed.

    python -m benchmarks.dedupe --set mail --share 0.2 --tools roughly,gaoya

Each tool runs in a fresh process and a fresh folder, one after another, and is timed from start to end: starting
up, reading, tokenising, writing what stays. Cheap runs are repeated and the fastest counts, since times on a shared
machine only ever come out too long; compare figures of one table, not of two. Roughly's kernels are compiled
once beforehand, as they are once after an install.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks import corpora
from benchmarks.corpora import Collection
from benchmarks.measure import Measured, run
from benchmarks.peers import PEERS, THRESHOLD, WORKERS, Peer
from benchmarks.peers.venvs import PeerUnavailable, python_of
from benchmarks.scores import Result, Scores, score
from benchmarks.tables import dedupe_table
from benchmarks.truth import Truth, truth_of

ROOT = Path(__file__).resolve().parents[1]
ROUGHLY = "roughly"
_CHEAP_SECONDS = 20.0
_MOST_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One tool on one set: what it took, how right it was, or why there is no figure."""

    tool: str
    setting: str
    documents: int
    text_bytes: int
    seconds: float | None = None
    repeats: int = 0
    peak_bytes: int | None = None
    written_bytes: int | None = None
    scores: Scores | None = None
    failure: str | None = None

    @property
    def mb_per_second(self) -> float | None:
        """Megabytes of text a second."""
        return self.text_bytes / 1e6 / self.seconds if self.seconds else None

    @property
    def documents_per_second(self) -> float | None:
        """Documents a second."""
        return self.documents / self.seconds if self.seconds else None

    def as_json(self) -> dict[str, object]:
        """All fields, and the rates."""
        rates = {"mb_per_second": self.mb_per_second, "documents_per_second": self.documents_per_second}
        return {**asdict(self), **rates}


def compare(collection: Collection, tools: Sequence[str], timeout: float) -> list[Row]:
    """Run the named tools on one set and score them by its exact truth."""
    ids, texts = collection.read()
    say(f"{collection.name}: {len(ids):,} documents, {collection.text_bytes / 1e6:.0f} MB; exact truth …")
    truth = truth_of(texts, corpora.DATA)
    del texts
    rows = []
    for tool in tools:
        say(f"  {tool} …")
        rows.append(measure(tool, collection, ids, truth, timeout))
        say(f"  {tool}: {rows[-1].failure or f'{rows[-1].seconds:.1f} s'}")
    return rows


def measure(tool: str, collection: Collection, ids: list[str], truth: Truth, timeout: float) -> Row:
    """Run one tool until it has been repeated enough; a failure of any sort becomes a row that says why."""
    peer = next((peer for peer in PEERS if peer.name == tool), None)
    label = tool if peer is None else f"{tool} {peer.version}"
    row = Row(label, setting_of(peer), collection.documents, collection.text_bytes)
    runs: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix=f"{tool}-", dir=corpora.DATA) as name:
        folder = Path(name)
        try:
            command = command_of(peer, collection.path, folder / "out")
        except PeerUnavailable as problem:
            return replace(row, failure=str(problem))
        while _worth_repeating(runs):
            shutil.rmtree(folder / "out", ignore_errors=True)
            runs.append(run(command, folder=folder, environment=_environment(folder), timeout=timeout))
            if runs[-1].failure is not None:
                return replace(row, failure=runs[-1].failure)
        try:
            read = read_roughly if peer is None else read_clusters
            scores = score(truth, read(folder / "out", ids))
        except (OSError, ValueError, KeyError) as problem:
            return replace(row, failure=f"its output cannot be read: {problem}")
    best = min(runs, key=lambda measured: measured.seconds)
    return replace(
        row,
        seconds=best.seconds,
        repeats=len(runs),
        peak_bytes=max(measured.peak_bytes for measured in runs),
        written_bytes=best.written_bytes,
        scores=scores,
    )


def _worth_repeating(runs: list[Measured]) -> bool:
    spent = sum(measured.seconds for measured in runs)
    return not runs or (len(runs) < _MOST_REPEATS and spent + runs[-1].seconds < _CHEAP_SECONDS)


def command_of(peer: Peer | None, source: Path, out: Path) -> list[str]:
    """The command line of a tool; no peer means Roughly."""
    if peer is not None:
        return [str(python_of(peer)), "-m", f"benchmarks.peers.{peer.module}", str(source), str(out)]
    options = (
        f"--threshold {THRESHOLD} --recall 0.99 --memory 4GB --threads {WORKERS} "
        "--text-column text --id-column id --markup none --quiet"
    )
    start = "from roughly.cli import main; main()"
    return [sys.executable, "-c", start, "dedupe", str(source), "-o", str(out), *options.split()]


def setting_of(peer: Peer | None) -> str:
    """The setting as the tables show it."""
    return "recall 0.99, verified, star" if peer is None else peer.setting


def warm_up(timeout: float) -> str | None:
    """Run Roughly on two small documents, so that its kernels are compiled; what went wrong, if anything did."""
    with tempfile.TemporaryDirectory(prefix="warm-") as name:
        source = Path(name) / "two.jsonl"
        source.write_text("".join(f'{{"id": "{n}", "text": "one two three four five six {n}"}}\n' for n in "ab"))
        command = command_of(None, source, Path(name) / "out")
        return run(command, folder=Path(name), environment=_environment(Path(name)), timeout=timeout).failure


def read_clusters(out: Path, ids: list[str]) -> Result:
    """The `clusters.tsv` of a peer, in the order of the ids."""
    found = {}
    with (out / "clusters.tsv").open(encoding="utf-8") as lines:
        for line in lines:
            doc_id, cluster, kept = line.rstrip("\n").split("\t")
            found[doc_id] = (int(cluster), kept == "1")
    rows = [found[doc_id] for doc_id in ids]
    return Result(np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], bool))


def read_roughly(out: Path, ids: list[str]) -> Result:
    """The `documents.parquet` of Roughly, in the order of the ids."""
    table = pq.read_table(out / "documents.parquet", columns=["doc_id", "cluster_id", "kept"])
    place = {doc_id: number for number, doc_id in enumerate(table["doc_id"].to_pylist())}
    order = np.array([place[doc_id] for doc_id in ids], np.int64)
    clusters = table["cluster_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    return Result(clusters.astype(np.int64)[order], table["kept"].to_numpy()[order])


def say(text: str) -> None:
    """Progress goes to standard error."""
    print(text, file=sys.stderr, flush=True)


def _environment(folder: Path) -> dict[str, str]:
    """Paths for the tool to find this package, and every cache and scratch file inside the folder measured."""
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    return {
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        "TMPDIR": str(scratch),
        "HF_HOME": str(scratch / "hf"),
        "RAYON_NUM_THREADS": str(WORKERS),
        "OMP_NUM_THREADS": str(WORKERS),
        "PYTHONWARNINGS": "ignore",
    }


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dedupe", description=__doc__.split("\n")[0])
    parser.add_argument("--set", choices=("documentation", "mail"), default="mail")
    parser.add_argument("--megabytes", type=int, default=200, help="of documentation")
    parser.add_argument("--share", type=float, default=1.0, help="of the mails")
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--tools", default=",".join([ROUGHLY, *(peer.name for peer in PEERS)]))
    parser.add_argument("--timeout", type=float, default=3600)
    chosen = parser.parse_args(arguments)
    try:
        if chosen.set == "mail":
            collection = corpora.mail(chosen.corpora, chosen.share)
        else:
            collection = corpora.documentation(chosen.corpora, chosen.megabytes * 1_000_000)
    except corpora.CorpusMissing as problem:
        say(str(problem))
        return 1
    if failure := warm_up(chosen.timeout):
        say(f"roughly does not run: {failure}")
    print(dedupe_table(compare(collection, chosen.tools.split(","), chosen.timeout)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
