"""Measures again what pages of the docs say about samples, methods and versions, and writes it into them.

    python docs/make_measured.py CORPORA [NAME …]

CORPORA is the folder of the collections. Each block of a page has a digest of what the code answers
(`roughly.papers.answer_digests`), of what the block says of small made collections, and of its text, so that none is
replaced without measuring; a test names the blocks that a change has made stale. The measuring is in
`benchmarks/shingling.py`, ten seeds where samples decide.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from benchmarks import shingling  # noqa: E402
from roughly.features.sampling import Sampling  # noqa: E402
from roughly.papers.answer_digests import answers_digest, trial_rows  # noqa: E402
from roughly.tools.tune.adaptive import LEAST, check, study  # noqa: E402

BLOCK = re.compile(r"<!-- measured: (\S+), digest ([0-9a-f]{16}) -->\n(.*?)<!-- end of \1 -->", re.DOTALL)


def table(measure: Callable[[Path], object]) -> Callable[[Path], str]:
    """A block that is one table of a benchmark."""
    return lambda folder: shingling.table(list(measure(folder))) + "\n"  # type: ignore[call-overload]


def quality(folder: Path) -> str:
    """Both collections side by side."""
    found = {(row["corpus"], row["method"]): row for row in shingling.methods(folder)}
    lines = [
        "| method | Reuters: pairs | right | recall | Newsgroups: pairs | right | recall |",
        "|---|---|---|---|---|---|---|",
    ]
    for method in dict.fromkeys(method for _, method in found):
        cells = [
            found[corpus, method][name]
            for corpus in ("reuters21578", "newsgroups20") for name in ("pairs", "of them ≥ 0.8", "recall")
        ]  # fmt: skip
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def news(folder: Path) -> str:
    """What sampling does to news, in sentences; figures are over all samples of a ratio together."""
    short, long, shares, documents = "", "", {}, {}
    for name in ("newsgroups20", "reuters21578"):
        sample, bounds = shingling._sample(folder, name, 10)
        found = study(sample, bounds)
        documents[name] = len(sample.tokens)
        at = found.at(0.85)
        if name == "newsgroups20":
            short = f"{found.precision[0, 4, at]:.2f}"
            long = f"{found.precision[found.names.index('1601–3200'), 4, at]:.2f}"
        for precision in (0.8, 0.95):
            levels = found.choose(0.85, precision, 0.6)
            uniform = found.ratios[found.uniform(0.85, precision, 0.6)]
            done = check(sample, Sampling("adaptive", 0, found.groups(levels)), bounds, 0.85)
            enough = found.true[:, at] >= LEAST
            worst = float(np.nanmin(done.precision[enough]))
            shares[name, precision] = (found.share(levels), uniform, worst)
    ours, other = (shares["newsgroups20", 0.8], shares["reuters21578", 0.8])
    higher = (shares["newsgroups20", 0.95], shares["reuters21578", 0.95])
    return (
        f"20 Newsgroups ({documents['newsgroups20']:,} documents after exact duplicates) and Reuters-21578 "
        f"({documents['reuters21578']:,}), shingles of 10 words. As in the paper, sampling ruins the precision of "
        "short documents and barely touches long ones: at threshold 0.85 and ratio 1/16, Newsgroups messages of up to "
        f"100 words have a precision of {short}, those of 1,601 to 3,200 words {long}. For a precision of 0.8 in every "
        f"group and a recall of 0.6 at threshold 0.85, ratios by length sample {ours[0]:.0%} of the shingles of "
        f"Newsgroups and {other[0]:.0%} of Reuters, one ratio for all {ours[1]:.0%} and {other[1]:.0%}; for 0.95, "
        f"ratios by length sample {higher[0][0]:.0%} and {higher[1][0]:.0%}. In the one sample that a run draws, the "
        f"worst group then has a precision of {ours[2]:.2f} and {other[2]:.2f} for 0.8, and of {higher[0][2]:.2f} and "
        f"{higher[1][2]:.2f} for 0.95.\n"
    )


BLOCKS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "news": ("sampling.md", news),
    "excerpts": ("sketches.md", table(shingling.excerpts)),
    "copied-passages": ("sketches.md", table(shingling.pan)),
    "versions": ("sketches.md", table(shingling.revisions)),
    "quality": ("methods/index.md", quality),
}


def write_trial(folder: Path) -> None:
    """Small collections under the names of the real ones."""
    rows = [(row["id"], row["text"]) for row in trial_rows()]
    long = [(f"long{i}", " ".join(text for _, text in rows[i::3])) for i in range(2)]
    suspicious = [(f"suspicious-{i}", rows[i][1] + " " + rows[-i][1]) for i in range(1, 9)]
    sources = [(f"source-{i}", rows[-i][1]) for i in range(1, 9)]
    words = long[0][1].split()
    versions = [(f"n{i}-{j}", " ".join(words[900 * i : 900 * i + 2000 - 60 * j])) for i in range(6) for j in range(6)]
    versions += long[:1]
    for name, own in (("newsgroups20", rows + versions), ("reuters21578", rows + versions), ("rfc_revisions", rows)):
        _write(folder / f"{name}.parquet", own)
    _write(folder / "terms_versions.parquet", rows + long)
    _write(folder / "pan13_no_obfuscation.parquet", suspicious + sources)
    passages = [{"suspicious_id": f"suspicious-{i}", "source_id": f"source-{i}"} for i in range(1, 9)]
    families = [{"id_a": a, "id_b": b} for (a, _), (b, _) in itertools.pairwise(rows) if a[:2] == b[:2]]
    pairs = {"pan13_no_obfuscation_passages": passages}
    pairs |= {"rfc_revisions_pairs": families, "terms_versions_pairs": families}
    for name, listed in pairs.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(listed[0]))
            writer.writeheader()
            writer.writerows(listed)


def _write(path: Path, rows: list[tuple[str, str]]) -> None:
    pq.write_table(pa.table({"id": [row[0] for row in rows], "text": [row[1] for row in rows]}), path)


def trials(chosen: list[str]) -> dict[str, str]:
    """What each block says of the small collections."""
    with tempfile.TemporaryDirectory() as name:
        write_trial(Path(name))
        return {own: BLOCKS[own][1](Path(name)) for own in chosen}


def digest(trial: str, body: str) -> str:
    """Sixteen hex digits of what a block was made from, and of the block."""
    return hashlib.sha256("\n".join((answers_digest(), trial, body)).encode()).hexdigest()[:16]


def main(folder: Path, chosen: list[str]) -> None:
    """Measure the blocks, and put each into its page."""
    for name, trial in trials(chosen or list(BLOCKS)).items():
        print(name, file=sys.stderr, flush=True)
        page, measure = BLOCKS[name]
        body = f"\n{measure(folder)}\n"
        made = f"<!-- measured: {name}, digest {digest(trial, body)} -->\n{body}<!-- end of {name} -->"
        text = (DOCS / page).read_text(encoding="utf-8")
        found = [match for match in BLOCK.finditer(text) if match[1] == name]
        (DOCS / page).write_text(text.replace(found[0][0], made), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("python docs/make_measured.py CORPORA [NAME …]")
    main(Path(sys.argv[1]), sys.argv[2:])
