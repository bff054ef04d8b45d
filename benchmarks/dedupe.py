"""The whole job, file in → clusters out, for Roughly and every peer on the same documents, with recall beside speed.

    python -m benchmarks.dedupe --set mail --share 0.2 --tools roughly,gaoya

Each tool runs in a fresh process and a fresh folder, one after another, and is timed from start to end: starting
up, reading, tokenising, writing what stays. Cheap runs are repeated and the fastest counts, since times on a shared
machine only ever come out too long; compare figures of one table, not of two. Roughly's kernels are compiled
once beforehand, as they are once after an install.

Roughly has two rows. The first is the default, whose star clusters part a pair when each is closer to another document
that stays. `roughly-pairs` also writes every pair it verified, and its recall is that of the pairs: what the promise
of `--recall` is about.
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
from benchmarks.measure import Measured, machine, run
from benchmarks.peers import PEERS, THRESHOLD, WORKERS
from benchmarks.peers.venvs import PeerUnavailable, python_of
from benchmarks.scores import Listed, Result, Scores, score
from benchmarks.tables import dedupe_table, write_json
from benchmarks.tokens import tokens_of
from benchmarks.truth import Truth, truth_of

ROOT = Path(__file__).resolve().parents[1]
ROUGHLY = {"roughly": "recall 0.99, verified, star", "roughly-pairs": "the same with --pairs all"}
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
    cpu_seconds: float | None = None
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
    def mb_per_cpu_second(self) -> float | None:
        """Megabytes of text per second of CPU, which hardly depends on who else uses the machine."""
        return self.text_bytes / 1e6 / self.cpu_seconds if self.cpu_seconds else None

    @property
    def documents_per_second(self) -> float | None:
        """Documents a second."""
        return self.documents / self.seconds if self.seconds else None

    def as_json(self) -> dict[str, object]:
        """All fields, and the rates."""
        names = ("mb_per_second", "mb_per_cpu_second", "documents_per_second")
        rates = {name: getattr(self, name) for name in names}
        return {**asdict(self), **rates}


def compare(collection: Collection, tools: Sequence[str], timeout: float) -> list[Row]:
    """Run the named tools on one set and score them by its exact truth."""
    say(f"{collection.name}: {collection.documents:,} documents, {collection.text_bytes / 1e6:.0f} MB; truth …")
    truth = truth_of(collection.read()[1], corpora.DATA)
    rows = []
    for tool in tools:
        say(f"  {tool} …")
        rows.append(measure(tool, collection, truth, timeout))
        say(f"  {tool}: {rows[-1].failure or f'{rows[-1].seconds:.1f} s'}")
    return rows


def measure(tool: str, collection: Collection, truth: Truth, timeout: float) -> Row:
    """Run one tool until it has been repeated enough; a failure of any sort becomes a row that says why."""
    peer = next((peer for peer in PEERS if peer.name == tool), None)
    label = tool if peer is None else f"{tool} {peer.version}"
    setting = ROUGHLY[tool] if peer is None else peer.setting
    row = Row(label, setting, collection.documents, collection.text_bytes)
    runs: list[Measured] = []
    with tempfile.TemporaryDirectory(prefix=f"{tool}-", dir=corpora.DATA) as name:
        folder = Path(name)
        try:
            command = command_of(tool, collection.path, folder / "out")
        except PeerUnavailable as problem:
            return replace(row, failure=str(problem))
        if peer is None and (failure := warm_up(timeout)):
            return replace(row, failure=failure)
        while _worth_repeating(runs):
            shutil.rmtree(folder / "out", ignore_errors=True)
            runs.append(run(command, folder=folder, environment=_environment(folder), timeout=timeout))
            if runs[-1].failure is not None:
                return replace(row, failure=runs[-1].failure)
        try:
            read = read_clusters if peer else read_pairs if tool == "roughly-pairs" else read_roughly
            scores = score(truth, read(folder / "out", collection))
        except (OSError, ValueError, KeyError) as problem:
            return replace(row, failure=f"its output cannot be read: {problem}")
    best = min(runs, key=lambda measured: measured.seconds)
    return replace(
        row,
        seconds=best.seconds,
        cpu_seconds=min(measured.cpu_seconds for measured in runs),
        repeats=len(runs),
        peak_bytes=max(measured.peak_bytes for measured in runs),
        written_bytes=best.written_bytes,
        scores=scores,
    )


def _worth_repeating(runs: list[Measured]) -> bool:
    spent = sum(measured.seconds for measured in runs)
    return not runs or (len(runs) < _MOST_REPEATS and spent + runs[-1].seconds < _CHEAP_SECONDS)


def command_of(tool: str, source: Path, out: Path) -> list[str]:
    """The command line of a tool."""
    for peer in PEERS:
        if peer.name == tool:
            return [str(python_of(peer)), "-m", f"benchmarks.peers.{peer.module}", str(source), str(out)]
    options = (
        f"--threshold {THRESHOLD} --recall 0.99 --memory 4GB --threads {WORKERS} "
        f"--text-column text --id-column id --markup none --quiet {'--pairs all' if tool == 'roughly-pairs' else ''}"
    )
    return [sys.executable, "-m", "roughly", "dedupe", str(source), "-o", str(out), *options.split()]


def tools_named(names: str) -> list[str]:
    """Tools from a list with commas; all of them for an empty one."""
    known = [*ROUGHLY, *(peer.name for peer in PEERS)]
    chosen = [name.strip() for name in names.split(",") if name.strip()] or known
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise ValueError(f"no such tool: {', '.join(unknown)}; there are {', '.join(known)}")
    return chosen


def warm_up(timeout: float) -> str | None:
    """Run Roughly once on a few near-duplicates, so that its files are in memory; what went wrong, if anything did."""
    words = [f"word{n}" for n in range(80)]
    with tempfile.TemporaryDirectory(prefix="warm-") as name:
        source = Path(name) / "few.jsonl"
        texts = [" ".join([*words[:n], "changed", *words[n:]]) for n in range(0, 80, 8)]
        source.write_text("".join(f'{{"id": "{n}", "text": "{text}"}}\n' for n, text in enumerate([*texts, *texts])))
        command = [word for word in command_of("roughly", source, Path(name) / "out") if word != "--quiet"]
        return run(command, folder=Path(name), environment=_environment(Path(name)), timeout=timeout).failure


def read_clusters(out: Path, collection: Collection) -> Result:
    """The `clusters.tsv` of a peer, in the order of the input."""
    found = {}
    with (out / "clusters.tsv").open(encoding="utf-8") as lines:
        for line in lines:
            doc_id, cluster, kept = line.rstrip("\n").split("\t")
            found[doc_id] = (int(cluster), kept == "1")
    rows = [found[doc_id] for doc_id in collection.read()[0]]
    return Result(np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], bool))


def read_roughly(out: Path, collection: Collection) -> Result:
    """The `documents.parquet` of Roughly, in the order of the input."""
    table = pq.read_table(out / "documents.parquet", columns=["doc_id", "cluster_id", "kept"])
    place = {doc_id: number for number, doc_id in enumerate(table["doc_id"].to_pylist())}
    order = np.array([place[doc_id] for doc_id in collection.read()[0]], np.int64)
    clusters = table["cluster_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    return Result(clusters.astype(np.int64)[order], table["kept"].to_numpy()[order])


def read_pairs(out: Path, collection: Collection) -> Result:
    """As `read_roughly`, with the pairs of `pairs.parquet`; of copies word for word it lists one for all."""
    ids, texts = collection.read()
    result = read_roughly(out, collection)
    first: dict[str, int] = {}
    same_as = np.array([first.setdefault(" ".join(tokens_of(t)), n) for n, t in enumerate(texts)], np.int64)
    place = {doc_id: same_as[number] for number, doc_id in enumerate(ids)}
    table = pq.read_table(out / "pairs.parquet", columns=["left_id", "right_id"])
    one, other = (np.array([place[i] for i in table[side].to_pylist()], np.int64) for side in ("left_id", "right_id"))
    pairs = np.minimum(one, other) * len(ids) + np.maximum(one, other)
    return Result(result.cluster, result.kept, Listed(same_as, pairs))


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
    parser.add_argument("--tools", default="", help="names with commas; all of them if not given")
    parser.add_argument("--timeout", type=float, default=3600)
    parser.add_argument("--out", type=Path, help="also write the result here, as JSON")
    chosen = parser.parse_args(arguments)
    try:
        tools = tools_named(chosen.tools)
        if chosen.set == "mail":
            collection = corpora.mail(chosen.corpora, chosen.share)
        else:
            collection = corpora.documentation(chosen.corpora, chosen.megabytes * 1_000_000)
    except (corpora.CorpusMissing, ValueError) as problem:
        say(str(problem))
        return 1
    rows = compare(collection, tools, chosen.timeout)
    print(dedupe_table(rows))
    if chosen.out:
        write_json(chosen.out, {"machine": machine(), "set": chosen.set, "rows": [row.as_json() for row in rows]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
