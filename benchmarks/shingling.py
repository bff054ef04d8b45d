"""The shingling family measured: speed, sampled against unsampled, methods side by side, passages, revisions.

    python -m benchmarks.shingling                     all sections as Markdown tables, some minutes
    python -m benchmarks.shingling --only speed,pan --json shingling.json

| section | what it measures |
|---|---|
| `speed` | text → tokens → sketch, one core |
| `adaptive` | Ye 2008: precision and recall by length and ratio; share of shingles, adaptive and uniform |
| `methods` | pairs that each method calls duplicates, against exact resemblance |
| `excerpts` | how short an excerpt of a long document may be to be found, by sampling |
| `pan` | PAN 2013: documents that hold a passage of another; characters of the passages located |
| `revisions` | RFCs and terms of service: versions of one document, by threshold |

Times are seconds of this process's CPU time, fastest of several; the machine may be shared.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import corpora
from benchmarks.corpora import CORPORA, CorpusMissing
from benchmarks.kernels import batches_of
from benchmarks.measure import machine
from roughly.cluster.common_keys import CommonLimit
from roughly.cluster.in_memory import candidates_of, work_of
from roughly.features.sampling import Sampling
from roughly.features.sketch import Sketch, estimate
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.method import Keys
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.word_lsh import WordLSH
from roughly.settings import Resources
from roughly.text.canonical import Tokens, spans, tokenise, words
from roughly.tools.tune.adaptive import LEAST, StudySample, check, default_bounds, study
from roughly.verify.passages import shared_passages

Row = dict[str, Any]
COMMON = 1000
SEEDS = range(10)
"""Draws of the sampled shingles; figures are means, with the least and the most in brackets."""


def speed(folder: Path) -> Iterator[Row]:
    """MB/s of tokenising alone and with each sketch."""
    texts = corpora.documentation(folder, 50_000_000).read()[1]
    batches = list(batches_of(texts))
    size = sum(len(text.encode()) for text in texts) / 1e6
    steps: dict[str, Callable[[pa.Array], object]] = {"tokenise only": tokenise}
    for written, width in (("mod:25", 10), ("adaptive", 10), ("min:400", 10), ("min:128", 5), ("all", 5)):
        sampling = Sampling.parse(written)
        steps[f"{written}, w = {width}"] = lambda b, s=sampling, w=width: s.apply(tokenise(b), w)  # type: ignore[misc]
    for what, step in steps.items():
        step(batches[0])
        times = []
        for _ in range(5):
            started = time.process_time()
            for batch in batches:
                step(batch)
            times.append(time.process_time() - started)
        yield {"sketch": what, "MB/s": round(size / min(times))}


def adaptive(folder: Path) -> Iterator[Row]:
    """Precision/recall at threshold 0.85 by length and ratio, w = 10."""
    for name in ("newsgroups20", "reuters21578"):
        sample, bounds = _sample(folder, name, 10)
        found = study(sample, bounds)
        at = found.at(0.85)
        for g, group in enumerate(found.names):
            row: Row = {"corpus": name, "tokens": group, "documents": int(found.documents[g])}
            row["true pairs"] = int(found.true[g, at])
            for level in (1, 2, 3, 4, 6):
                both = (_figure(values[g, level, at]) for values in (found.precision, found.recall))
                row[f"1/{2**level}"] = "/".join(both)
            yield row


def share(folder: Path) -> Iterator[Row]:
    """Share of shingles that a precision takes, w = 10, recall at least 0.6."""
    for name in ("newsgroups20", "reuters21578"):
        sample, bounds = _sample(folder, name, 10)
        found = study(sample, bounds)
        for threshold in (0.6, 0.85):
            for precision in (0.7, 0.8, 0.9, 0.95):
                enough = found.true[:, found.at(threshold)] >= LEAST
                levels = found.choose(threshold, precision, 0.6)
                done = check(sample, Sampling("adaptive", 0, found.groups(levels)), bounds, threshold)
                yield {
                    "corpus": name, "threshold": threshold, "precision asked": precision,
                    "adaptive: share": round(found.share(levels), 3),
                    "uniform: share": found.ratios[found.uniform(threshold, precision, 0.6)],
                    "as it runs: precision": round(done.overall_precision, 3),
                    "recall": round(done.overall_recall, 3),
                    "worst group": round(float(np.nanmin(done.precision[enough])), 3),
                }  # fmt: skip


def methods(folder: Path) -> Iterator[Row]:
    """What each method calls duplicates, against exact resemblance ≥ 0.8 (w = 5), exact duplicates collapsed."""
    for name, most in (("reuters21578", 8000), ("newsgroups20", 8000)):
        tokens = _distinct(tokenise(_texts(folder, name).slice(0, most)))
        sets = Sampling().apply(tokens, 5)
        truth = _reaching(sets, Keys(sets.values, sets.offsets), 0.8)
        draws: dict[str, list[tuple[int, float | None, float | None]]] = {}
        for seed in SEEDS:
            for label, method in _tried(seed).items():
                signature, judge = method.sign(tokens), method.judge()
                keys = signature.keys
                found = _reaching(signature.sketch, keys, judge.threshold) if judge.on == "sketch" else _all_of(keys)
                right = len(np.intersect1d(found, truth, assume_unique=True))
                row = (len(found), _ratio(right, len(found)), _ratio(right, len(truth)))
                draws.setdefault(label, []).append(row)
        for label, rows in draws.items():
            pairs, precise, recall = zip(*rows, strict=True)
            yield {
                "corpus": name, "method": label, "pairs": spread(pairs, ",.0f"), "of them ≥ 0.8": spread(precise),
                "recall": spread(recall),
            }  # fmt: skip


def _tried(seed: int) -> dict[str, Any]:
    """The methods compared, by the names that the docs give them."""
    return {
        "`shingles`, `mod:25`": Shingles(0.8, "resemblance", 5, Sampling.parse("mod:25", seed=seed)),
        "`shingles`, `adaptive`": Shingles(0.8, "resemblance", 5, Sampling.parse("adaptive", seed=seed)),
        "`shingles`, `min:400`": Shingles(0.8, "resemblance", 5, Sampling.parse("min:400", seed=seed)),
        "`super-shingles` of 4": SuperShingles(4, 5, Sampling.parse("mod:25", seed=seed)),
        "`mega-shingles`, 6 groups of 14": MegaShingles(seed=seed),
        "`mega-shingles`, 6 groups of 7": MegaShingles(samples=7, seed=seed),
        "`word-lsh`": WordLSH(3, 125, 0.8, seed=seed),
    }


def spread(values: Iterable[float | None], form: str = ".2f") -> str:
    """The mean of some draws, with the least and the most in brackets where these are written differently."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    least, most = format(min(known), form), format(max(known), form)
    mean = format(sum(known) / len(known), form)
    return mean if least == most else f"{mean} ({least}–{most})"


def excerpts(folder: Path) -> Iterator[Row]:
    """Excerpts of n tokens of documents of 8,000 tokens and more: found by a shingle in common."""
    tokens = tokenise(_texts(folder, "terms_versions"))
    sizes = np.diff(tokens.offsets)
    long = np.flatnonzero(sizes >= 8000)[:400]
    for length in (20, 50, 100, 200, 500):
        draws: dict[str, list[float]] = {}
        for seed in SEEDS:
            random = np.random.default_rng(seed + 1)
            hashes, offsets = [], [0]
            for d in long:
                start = int(tokens.offsets[d]) + int(random.integers(0, sizes[d] - length))
                whole = tokens.hashes[tokens.offsets[d] : tokens.offsets[d + 1]]
                hashes += [whole, tokens.hashes[start : start + length]]
                offsets += [offsets[-1] + len(whole), offsets[-1] + len(whole) + length]
            made = Tokens(np.concatenate(hashes), np.array(offsets))
            for written in ("mod:4", "mod:25", "adaptive", "min:400"):
                sketch = Sampling.parse(written, seed=seed).apply(made, 5)
                found = estimate(sketch, np.arange(1, 2 * len(long), 2), np.arange(0, 2 * len(long), 2))
                draws.setdefault(written, []).append(float((found.counts[:, 0] > 0).mean()))
        yield {"words of the excerpt": length, **{f"`{name}`": spread(own) for name, own in draws.items()}, "`all`": 1}


def pan(folder: Path) -> Iterator[Row]:
    """Suspicious documents with the sources that they copied from: containment, either way, of 5-shingles."""
    ids, texts = _documents(folder, "pan13_no_obfuscation")
    labelled = {(row["suspicious_id"], row["source_id"]) for row in _csv(folder, "pan13_no_obfuscation_passages")}
    tokens = tokenise(texts)
    thresholds = (0.01, 0.05)
    for written in ("all", "mod:4", "mod:25"):
        draws: dict[float, list[tuple[float | None, float | None]]] = {}
        for seed in SEEDS if written != "all" else (0,):
            sketch = Sampling.parse(written, seed=seed).apply(tokens, 5)
            pairs = np.concatenate(list(_pairs(Keys(sketch.values, sketch.offsets))))
            left, right = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
            found = estimate(sketch, left, right)
            best = np.fmax(found.containment, found.contained_in)
            for threshold in thresholds:
                names = {_suspicious_first(ids[a], ids[b]) for a, b in pairs[best >= threshold].tolist()}
                names.discard(None)
                both = len(names & labelled)
                draws.setdefault(threshold, []).append((_ratio(both, len(labelled)), _ratio(both, len(names))))
        for threshold, rows in draws.items():
            recall, precision = zip(*rows, strict=True)
            yield {
                "sketch": f"`{written}`", "containment from": threshold, "pairs found": spread(recall, ".3f"),
                "of these labelled": spread(precision),
            }  # fmt: skip


def passages(folder: Path) -> Iterator[Row]:
    """Characters of the labelled passages that `roughly compare` locates.

    In this copy of the corpus labels fit the sources; in the suspicious documents they stand some characters off, so
    there each passage is first sought by the words of its source (those that stand there once), and the labels as they
    are come last.
    """
    ids, texts = _documents(folder, "pan13_no_obfuscation")
    text = dict(zip(ids, texts.to_pylist(), strict=True))
    pairs: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in _csv(folder, "pan13_no_obfuscation_passages"):
        pairs.setdefault((row["suspicious_id"], row["source_id"]), []).append(row)
    for width in (5, 10):
        wanted, located, hit = np.zeros((3, 3), np.int64)
        sought = 0
        for (suspicious, source), rows in pairs.items():
            found = shared_passages(text[suspicious], text[source], shingle_size=width)
            here = _covered((p.left_start, p.left_end) for p in found)
            there = _covered((p.right_start, p.right_end) for p in found)
            at = [(int(r["source_offset"]), int(r["source_offset"]) + int(r["source_length"])) for r in rows]
            placed = [_sought(text[suspicious], text[source][a:b]) for a, b in at]
            sought += sum(place is not None for place in placed)
            labelled = [(int(r["susp_offset"]), int(r["susp_offset"]) + int(r["susp_length"])) for r in rows]
            sides = ((at, there), ([place for place in placed if place], here), (labelled, here))
            for side, (ranges, ours) in enumerate(sides):
                truth = _covered(ranges)
                wanted[side], located[side] = wanted[side] + len(truth), located[side] + len(ours)
                hit[side] += len(truth & ours)
        yield {
            "shingle size": width, "pairs": len(pairs), "source: recall": _ratio(hit[0], wanted[0]),
            "source: precision": _ratio(hit[0], located[0]), "passages sought": sought,
            "suspicious, sought: recall": _ratio(hit[1], wanted[1]),
            "suspicious, as labelled: recall": _ratio(hit[2], wanted[2]),
        }  # fmt: skip


def _sought(document: str, passage: str) -> tuple[int, int] | None:
    """Where the words of a passage, without the first and last six, stand in a document; None unless just once."""
    inner = words(passage)[6:-6]
    key, text = " " + " ".join(inner) + " ", " " + " ".join(words(document)) + " "
    if not inner or text.count(key) != 1:
        return None
    first = text[: text.index(key)].count(" ")
    places = spans(document)
    return places[first][0], places[first + len(inner) - 1][1]


def revisions(folder: Path) -> Iterator[Row]:
    """Versions of one document, by threshold; a pair is right when both belong to one document."""
    columns: dict[float, Row] = {threshold: {"resemblance from": threshold} for threshold in (0.1, 0.2, 0.5, 0.9)}
    for name, called in (("rfc_revisions", "RFCs"), ("terms_versions", "terms")):
        ids, texts = _documents(folder, name)
        labelled = {tuple(sorted((row["id_a"], row["id_b"]))) for row in _csv(folder, f"{name}_pairs")}
        family = _families(ids, labelled)
        tokens = tokenise(texts)
        draws: dict[float, list[tuple[float | None, float | None]]] = {}
        for seed in SEEDS:
            sketch = Sampling.parse("mod:25", seed=seed).apply(tokens, 5)
            pairs = np.concatenate(list(_pairs(Keys(sketch.values, sketch.offsets))))
            left, right = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
            value = estimate(sketch, left, right).resemblance
            for threshold in columns:
                names = {tuple(sorted((ids[a], ids[b]))) for a, b in pairs[value >= threshold].tolist()}
                precise = _ratio(sum(family[a] == family[b] for a, b in names), len(names))
                draws.setdefault(threshold, []).append((precise, _ratio(len(names & labelled), len(labelled))))
        for threshold, rows in draws.items():
            precise, recall = zip(*rows, strict=True)
            columns[threshold] |= {f"{called}: right": spread(precise), f"{called}: recall": spread(recall)}
    yield from columns.values()


SECTIONS: dict[str, list[Callable[[Path], Iterator[Row]]]] = {
    "speed": [speed],
    "adaptive": [adaptive, share],
    "methods": [methods],
    "excerpts": [excerpts],
    "pan": [pan, passages],
    "revisions": [revisions],
}


def _documents(folder: Path, name: str) -> tuple[list[str], pa.Array]:
    path = folder / f"{name}.parquet"
    if not path.is_file():
        raise CorpusMissing(f"{path} is missing: say where the corpora are with --corpora")
    table = pq.read_table(path, columns=["id", "text"])
    return table["id"].to_pylist(), _one(table["text"])


def _texts(folder: Path, name: str) -> pa.Array:
    return _documents(folder, name)[1]


def _one(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in column.fill_null("").chunks])


def _csv(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _sample(folder: Path, name: str, width: int) -> tuple[StudySample, tuple[int, ...]]:
    tokens = tokenise(_texts(folder, name))
    lengths = np.diff(tokens.offsets)
    return StudySample.of(Sampling().apply(tokens, width), lengths, COMMON), default_bounds(lengths)


def _distinct(tokens: Tokens) -> Tokens:
    """One document of each set of lexically equal ones; none without tokens."""
    from roughly.kernels.hashing import hash_sequences

    prints = hash_sequences(tokens.hashes, tokens.offsets)
    _, first = np.unique(prints, axis=0, return_index=True)
    first = np.sort(first[np.diff(tokens.offsets)[first] > 0])
    parts = [tokens.hashes[tokens.offsets[d] : tokens.offsets[d + 1]] for d in first]
    return Tokens(np.concatenate(parts), np.r_[0, np.cumsum([len(part) for part in parts])].astype(np.int64))


def _pairs(keys: Keys) -> Iterator[Any]:
    """Batches of pairs of documents that share a key held by at most `COMMON` documents."""
    count = len(keys.values) if keys.offsets is None else len(keys.offsets) - 1
    docs, candidates, _ = candidates_of(keys, np.arange(count), common=CommonLimit(COMMON), work=work_of(Resources()))
    yield np.empty((0, 2), np.int64)
    for found in candidates.pairs(2_000_000):
        yield docs[found]


def _reaching(sketch: Sketch, keys: Keys, threshold: float) -> Any:
    """The pairs that share a key and whose resemblance on the sketch reaches the threshold, as numbers."""
    kept = []
    for pairs in _pairs(keys):
        left, right = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        reached = np.nan_to_num(estimate(sketch, left, right).resemblance) >= threshold
        kept.append(left[reached] << 32 | right[reached])
    return np.concatenate(kept)


def _all_of(keys: Keys) -> Any:
    return np.concatenate([pairs[:, 0] << 32 | pairs[:, 1] for pairs in _pairs(keys)])


def _families(ids: list[str], pairs: set[Any]) -> dict[str, str]:
    """The first document of the chain of labelled versions that each belongs to."""
    parent = {name: name for name in ids}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for a, b in pairs:
        first, second = sorted((root(a), root(b)))
        parent[second] = first
    return {name: root(name) for name in ids}


def _suspicious_first(a: str, b: str) -> tuple[str, str] | None:
    """A pair of one suspicious and one source document; None for any other."""
    kinds = {name.split("-")[0]: name for name in (a, b)}
    return (kinds["suspicious"], kinds["source"]) if len(kinds) == 2 else None


def _covered(ranges: Any) -> set[int]:
    return {at for start, end in ranges for at in range(start, end)}


def _ratio(part: int, whole: int) -> float | None:
    return round(float(part / whole), 4) if whole else None


def _figure(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


def table(rows: list[Row]) -> str:
    """Rows as Markdown."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in rows:
        cells = (
            "–" if row[name] is None else f"{row[name]:,}" if isinstance(row[name], int) else str(row[name])
            for name in names
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shingling", description=__doc__.split("\n")[0])
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections with commas")
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--json", type=Path, help="file to write everything to")
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.only.split(",")) - set(SECTIONS))
    if unknown:
        print(f"no section {unknown[0]!r}; sections are {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    facts: dict[str, Any] = {"machine": machine()}
    try:
        for section in chosen.only.split(","):
            for measure in SECTIONS[section]:
                rows = list(measure(chosen.corpora))
                facts[measure.__name__] = rows
                print(
                    f"\n## {measure.__name__}: {(measure.__doc__ or '').strip().splitlines()[0]}\n\n{table(rows)}",
                    flush=True,
                )
    except CorpusMissing as problem:
        print(f"benchmarks: {problem}", file=sys.stderr)
        return 1
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
