"""One question, two engines, one answer: every method on Spark, byte for byte what it is on one machine."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from benchmarks.application_pages import pages

import first_words
from roughly.options import METHODS, register, unregister

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Both = Callable[..., Any]

ASKED: dict[str, dict[str, Any]] = {
    "identical": {"method": "identical"},
    "lexical": {"method": "lexical"},
    "minhash": {"method": "minhash"},
    "minhash, all pairs": {"method": "minhash", "threshold": 0.6, "pairs": "all"},
    "containment": {"method": "minhash", "measure": "containment", "threshold": 0.7},
    "characters": {"method": "minhash", "threshold": 0.6, "shingle_size": 6, "shingle_unit": "character"},
    "learned": {
        "method": "minhash",
        "threshold": 0.2,
        "shingle_size": 2,
        "verdict": "probability=0.5 prior=-6 words=5/0 shingles=4/0 numbers=2/0",
    },
    "learned with fields": {
        "method": "minhash",
        "threshold": 0.2,
        "shingle_size": 2,
        "verdict": "probability=0.5 prior=-6 words=4/0 title=1/0 same_host=1/0 other_source=1/0 days=3/0",
    },
    "shingles": {"method": "shingles", "sketch": "mod:8", "threshold": 0.6, "common": 9},
    "shingles ignoring common ones": {
        "method": "shingles",
        "sketch": "mod:8",
        "threshold": 0.6,
        "common": 9,
        "ignore_common": True,
    },
    "shingles by length": {"method": "shingles", "sketch": "adaptive", "groups": [[400, 0.25], [900, 0.125]]},
    "shingles of fixed size": {"method": "shingles", "sketch": "min:50"},
    "super-shingles": {"method": "super-shingles", "super_size": 3},
    "super-shingles estimated": {"method": "super-shingles", "judge": "sketch", "short": "keep"},
    "mega-shingles": {"method": "mega-shingles"},
    "mega-shingles verified": {"method": "mega-shingles", "verify": True},
    "word-lsh": {"method": "word-lsh", "lsh_signatures": 20, "filter": "sw"},
    "syntactic": {"method": "syntactic", "filter": "sw,stem"},
    "imatch": {"method": "imatch", "filter": "IDF-L-10", "lexicons": 10},
    "rare-terms": {"method": "rare-terms", "bin": 5, "lexicon": "collection"},
    "term-vector": {"method": "term-vector", "dates": "none"},
    "term-vector with dates": {"method": "term-vector", "dates": 200, "shared": 30},
}
FEW = {
    "minhash": {"keep": ["newest", "source:B>A's", "first"], "cluster": "components"},
    "containment": {"cluster": "components"},
    "shingles": {"cluster": "components", "pairs": "all"},
    "rare-terms": {},
    "identical": {"keep": ["url", "last"]},
    "learned": {"pairs": "all"},
    "learned with fields": {"pairs": "all"},
}
"""For every run of the tests: each way of judging, each kind of keys, both clusterings."""
MATRIX = pytest.mark.skipif(
    not os.environ.get("ROUGHLY_SPARK_MATRIX"),
    reason="every method × both clusterings × three corpora takes long; ROUGHLY_SPARK_MATRIX=1 runs it",
)
CORPORA = {"reuters21578": 400, "terms_versions": 250, "spamassassin": 300}


def test_every_method_is_here() -> None:
    assert {asked["method"] for asked in ASKED.values()} == set(METHODS)


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Bundled documents in three files of three formats, with copies, empty ones and lines that are broken."""
    folder = tmp_path_factory.mktemp("policies")
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    rows = [row for row in rows if row["source"] < "D"][:150]
    rows += [{**rows[0], "id": "copy"}, {**rows[3], "id": "Copy", "url": "http://a.example/"}]
    rows += [{"id": name, "text": text} for name, text in (("little", "Terms"), ("e1", " "), ("e2", "…"), ("é", "été"))]
    random.Random(5).shuffle(rows)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows[:60]]
    (folder / "a.jsonl").write_text("\n".join([*lines[:20], "{broken", *lines[20:]]) + "\n", encoding="utf-8")
    names = ["id", "text", "url", "date", "source"]
    table = pa.table({name: pa.array([row.get(name) for row in rows[60:130]], pa.string()) for name in names})
    pq.write_table(table, folder / "b.parquet", row_group_size=11)
    with gzip.open(folder / "c.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows[130:])
    return [folder / "a.jsonl", folder / "b.parquet", folder / "c.jsonl.gz"]


@pytest.mark.parametrize(("place", "name"), list(enumerate(FEW)))
def test_the_same_answer(place: int, name: str, policies: list[Path], both: Both) -> None:
    summary, found = both(
        policies, {**ASKED[name], **FEW[name]}, partitions=1 + 3 * place, batch=(None, 7)[place % 2],
        one_task=(2_000_000, 0)[place % 2],
    )  # fmt: skip
    assert summary["counts"]["removed"] >= 2 and summary["counts"]["rejected"] == 1
    quarantine = [
        json.loads(row["value"]) for row in found.spark.read.text(str(found.folder / "quarantine.jsonl")).collect()
    ]
    assert [reject["record"] for reject in quarantine] == ["line 21"]
    report = json.loads((found.folder / "report.json").read_text(encoding="utf-8"))
    assert report and (found.folder / "report.html").stat().st_size > 10_000


def test_a_new_method_gives_the_same_answer(policies: list[Path], both: Both) -> None:
    register(first_words.SPEC)
    try:
        summary, _ = both(policies, {"method": "first-words", "first_words": 2})
    finally:
        unregister("first-words")
    assert summary["counts"]["removed"] >= 20


@MATRIX
@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize(("place", "name"), list(enumerate(ASKED)))
def test_every_method_on_every_corpus(
    place: int, name: str, corpus: str, cluster: str, corpora: Path, both: Both, tmp_path: Path
) -> None:
    table = pq.read_table(corpora / f"{corpus}.parquet")
    texts = table[next(n for n in ("text", "content", "body") if n in table.column_names)]
    table = table.filter(pc.is_valid(texts)).slice(0, CORPORA[corpus])
    cut = table.num_rows // 3
    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    pq.write_table(table.slice(0, cut), paths[0], row_group_size=50)
    pq.write_table(table.slice(cut), paths[1], row_group_size=37)
    asked = {**ASKED[name], "on_duplicate_id": "number"}
    both(paths, {**asked, "cluster": cluster}, partitions=1 + place % 5, one_task=(2_000_000, 0)[place % 2])


def test_pages_are_compared_by_their_dom(both: Both, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for page in pages(views=6, states=4):
        (folder / f"{page['id']}.html").write_text(page["text"], encoding="utf-8")
    summary, _ = both([folder], {"tokens": "dom", "threshold": 0.4, "shingle_size": 3})
    assert summary["counts"]["removed"] > 0 and summary["counts"]["not_html"] == 0
