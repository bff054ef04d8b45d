"""Repeated passages beside other tools, in one run: CPU seconds, what is removed, and what is lost.

    python -m benchmarks.passage_peers newsgroups20.parquet --out results.json

A removed token is *lost* if no run of ten tokens of what was removed around it is in any text that is kept. Every tool
is a process of its own, on two cores, timed from its start to its end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import machine, run
from benchmarks.peers import PASSAGE_PEERS
from benchmarks.peers.venvs import PeerUnavailable, python_of
from benchmarks.tables import markdown, write_json
from roughly.text.canonical import tokenise

Hashes = npt.NDArray[np.uint64]
GRAM = 10
GOOGLE = "deduplicate-text-datasets"
OURS = {"roughly, window 50": ["--least", "50"], "roughly, sentences": ["--unit", "sentence", "--least", "10"]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.passage_peers", description=__doc__.split("\n\n")[0])
    parser.add_argument("input", type=Path, help="Parquet with id and text")
    parser.add_argument("--text-column", default="text")
    parser.add_argument("--timeout", type=float, default=3600)
    parser.add_argument("--exact", action="store_true", help="only windows and what finds all; losses are not counted")
    parser.add_argument("--losses", action="store_true", help="with --exact: count them all the same")
    parser.add_argument("--suffix-array", type=Path, metavar="BINARY", help="dedup_dataset, Google's program")
    parser.add_argument("--out", type=Path, help="JSON to write")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = pq.read_table(given.input, columns=[given.text_column])[given.text_column].to_pylist()
        source = folder / "input.jsonl"
        with source.open("w", encoding="utf-8") as out:
            out.writelines(json.dumps({"id": str(at), "text": text}) + "\n" for at, text in enumerate(texts))
        before = {} if given.exact and not given.losses else tokens_of(dict(enumerate(texts)))
        for tool, options in list(OURS.items())[: 1 if given.exact else None]:
            result = folder / tool
            command = [sys.executable, "-m", "roughly", "passages", str(source), "-o", str(result), "--do", "remove"]
            rows.append(measured(tool, [*command, "--threads", "2", *options], result, before, given.timeout))
        for peer in PASSAGE_PEERS[-1:] if given.exact else PASSAGE_PEERS:
            result = folder / peer.module
            try:
                command = [str(python_of(peer)), "-m", f"benchmarks.peers.{peer.module}", str(source), str(result)]
                rows.append(measured(f"{peer.name} {peer.version}", command, result, before, given.timeout))
            except PeerUnavailable as problem:
                rows.append({"tool": peer.name, "failure": str(problem)})
        if given.suffix_array:
            result = folder / "google"
            module = "benchmarks.peers.deduplicate_text_datasets"
            command = [sys.executable, "-m", module, str(source), str(result), str(given.suffix_array.resolve())]
            rows.append(measured(GOOGLE, command, result, before, given.timeout))
        else:
            rows.append({"tool": GOOGLE, "failure": "not run; name its binary with --suffix-array"})
    size = sum(len(text.encode()) for text in texts) / 1e6
    found = {"machine": machine(), "input": given.input.stem, "megabytes": round(size, 1), "tools": rows}
    print("\n".join(table(found)))
    if given.out:
        write_json(given.out, found)


def table(found: dict[str, Any]) -> list[str]:
    """The result as Markdown."""
    names = ("cpu_seconds", "peak_megabytes", "removed_tokens", "lost_tokens")
    rows = [[row["tool"], *(f"{row[name]:,}" if name in row else "" for name in names)] for row in found["tools"]]
    failed = [f"{row['tool']}: {row['failure']}" for row in found["tools"] if "failure" in row]
    return [markdown(("tool", "CPU seconds", "peak MB", "removed tokens", "lost"), rows), *failed]


def measured(tool: str, command: list[str], result: Path, before: dict[int, Hashes], timeout: float) -> dict[str, Any]:
    """Run a tool, and compare what it kept with its input."""
    logs = result.with_name(f"{result.name}-log")
    logs.mkdir()
    done = run(command, folder=logs, environment={}, timeout=timeout)
    row: dict[str, Any] = {
        "tool": tool,
        "cpu_seconds": round(done.cpu_seconds, 1),
        "peak_megabytes": round(done.peak_bytes / 1e6),
    }
    if done.failure is not None:
        return row | {"failure": done.failure}
    kept: dict[int, str] = {}
    for path in sorted((result / "kept").glob("*.jsonl")) if before and (result / "kept").exists() else ():
        with path.open("rb") as lines:
            kept |= {int(record["id"]): record["text"] for record in map(json.loads, lines)}
    return row | (losses(before, tokens_of(kept)) if kept else {})


def tokens_of(texts: dict[int, str]) -> dict[int, Hashes]:
    """The tokens of every document."""
    found = tokenise(pa.array(texts.values(), pa.large_string()))
    edges = found.offsets.tolist()
    return {key: found.hashes[edges[at] : edges[at + 1]] for at, key in enumerate(texts)}


def grams(tokens: Hashes) -> Hashes:
    """Hashes of all runs of ten tokens."""
    count = max(0, len(tokens) - GRAM + 1)
    hashes = np.zeros(count, np.uint64)
    for at in range(GRAM):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + tokens[at : at + count]
    return hashes


def losses(before: dict[int, Hashes], after: dict[int, Hashes]) -> dict[str, int]:
    """How many tokens were removed in runs of at least ten, and how many of these stand nowhere any more."""
    kept = np.unique(np.concatenate([np.full(1, 0, np.uint64), *map(grams, after.values())]))
    removed = lost = 0
    for key, tokens in before.items():
        for begin, end in removed_runs(tokens, after.get(key, tokens[:0])):
            if end - begin >= GRAM:
                removed += end - begin
                lost += least_lost(tokens, begin, end, kept)
    return {"removed_tokens": removed, "lost_tokens": lost}


def removed_runs(tokens: Hashes, left: Hashes) -> list[tuple[int, int]]:
    """The runs of a document that are missing in what is left of it."""
    if len(tokens) == len(left):
        return []
    steps = SequenceMatcher(None, tokens.tolist(), left.tolist(), autojunk=False).get_opcodes()
    return [(begin, end) for kind, begin, end, *_ in steps if kind in ("delete", "replace")]


def least_lost(tokens: Hashes, begin: int, end: int, kept: Hashes) -> int:
    """Tokens of a removed run that no kept run of ten holds; it may lie further left or right."""
    while begin > 0 and tokens[begin - 1] == tokens[end - 1]:
        begin, end = begin - 1, end - 1
    least = end - begin
    while True:
        own = grams(tokens[begin:end])
        covered = np.zeros(end - begin, np.bool_)
        for at in np.flatnonzero(kept[np.minimum(np.searchsorted(kept, own), len(kept) - 1)] == own).tolist():
            covered[at : at + GRAM] = True
        least = min(least, int(np.count_nonzero(~covered)))
        if not least or end == len(tokens) or tokens[begin] != tokens[end]:
            return least
        begin, end = begin + 1, end + 1


if __name__ == "__main__":
    main()
