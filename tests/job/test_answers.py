"""The answers of every method on three corpora are those that were recorded: a change that moves one has to say so.

After a change that is meant to alter answers (CHANGELOG says which), `python tests/job/test_answers.py` records them
anew.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import roughly
from roughly.options import METHODS

RECORDED = Path(__file__).with_name("answers.json")
CORPORA = ("reuters21578", "newsgroups20", "licence_texts")
OPTIONS: dict[str, dict[str, object]] = {"imatch": {"lexicons": 4}}
TABLES = ("documents", "pairs", "clusters")


def digests(run: Path) -> dict[str, str]:
    """A digest of each table of a run: of its rows, since another version of Arrow may write other bytes."""
    found = {}
    for table in TABLES:
        rows = json.dumps(pq.read_table(run / f"{table}.parquet").to_pylist(), ensure_ascii=False)
        found[table] = hashlib.sha256(rows.encode()).hexdigest()[:16]
    return found


def answer(corpora: Path, corpus: str, method: str, folder: Path) -> dict[str, str]:
    roughly.dedupe(
        str(corpora / f"{corpus}.parquet"), output=folder, method=method, memory="2GB", **OPTIONS.get(method, {})
    )
    return digests(folder)


@pytest.mark.corpora
@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("method", METHODS)
def test_the_answer_is_the_recorded_one(corpora: Path, tmp_path: Path, corpus: str, method: str) -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert answer(corpora, corpus, method, tmp_path / "out") == recorded[corpus][method]


if __name__ == "__main__":
    where = Path(__file__).resolve().parents[3] / "shared" / "corpora"
    with tempfile.TemporaryDirectory() as scratch:
        every = {
            corpus: {method: answer(where, corpus, method, Path(scratch) / f"{corpus}-{method}") for method in METHODS}
            for corpus in CORPORA
        }
    RECORDED.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    sys.exit(0)
