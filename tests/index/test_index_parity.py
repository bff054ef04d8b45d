"""Documents added in any order give the pairs of a batch run, for every method and everything that may be stored."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import roughly
from roughly import Index, Settings, lexicon, methods
from roughly.text.canonical import words

ASKED: dict[str, dict[str, Any]] = {
    "identical": {"method": "identical"},
    "lexical": {"method": "lexical"},
    "minhash": {"method": "minhash"},
    "minhash contained": {"method": "minhash", "measure": "containment", "threshold": 0.7},
    "minhash of characters": {"method": "minhash", "threshold": 0.6, "shingle_size": 6, "shingle_unit": "character"},
    "learned": {
        "method": "minhash", "threshold": 0.2, "shingle_size": 2,
        "verdict": "probability=0.5 prior=-6 words=5/0 shingles=4/0 numbers=2/0",
    },
    "shingles": {"method": "shingles", "sketch": "mod:8", "threshold": 0.6, "common": 9},
    "shingles of characters": {"method": "shingles", "sketch": "mod:8", "shingle_unit": "character"},
    "shingles contained": {"method": "shingles", "sketch": "mod:8", "measure": "containment"},
    "shingles by length": {"method": "shingles", "sketch": "adaptive", "groups": [[400, 0.25], [900, 0.125]]},
    "shingles of fixed size": {"method": "shingles", "sketch": "min:50"},
    "super-shingles": {"method": "super-shingles", "super_size": 3},
    "super-shingles estimated": {"method": "super-shingles", "judge": "sketch", "short": "keep"},
    "mega-shingles": {"method": "mega-shingles"},
    "word-lsh": {"method": "word-lsh", "lsh_signatures": 20, "filter": "sw"},
    "syntactic": {"method": "syntactic", "filter": "sw,stem"},
    "imatch": {"method": "imatch", "filter": "IDF-L-10", "lexicons": 10},
    "imatch verified": {"method": "imatch", "filter": "IDF-L-10", "lexicons": 10, "verify": True},
    "rare-terms": {"method": "rare-terms", "bin": 5, "lexicon": "collection"},
    "term-vector": {"method": "term-vector", "dates": "none"},
    "term-vector with dates": {"method": "term-vector", "dates": 200, "shared": 30},
    "term-vector contained": {"method": "term-vector", "verify": True, "measure": "containment", "dates": 900},
}  # fmt: skip
EVERY = pytest.mark.parametrize("name", ASKED)
Scored = dict[tuple[str, str], tuple[float | None, ...]]


def scored(table: pa.Table) -> Scored:
    names = ("resemblance", "containment", "contained_in")
    return {(r["left_id"], r["right_id"]): tuple(r[name] for name in names) for r in table.to_pylist()}


def made(
    where: str | Path, name: str, rows: list[dict[str, Any]], folder: Path, store: str = "text", **more: Any
) -> Index:
    settings, counted = Settings.gather(ASKED[name], more), None
    if methods.needs_count(settings):
        path = folder / "collection.lexicon"
        path.unlink(missing_ok=True)
        counted = lexicon.build(rows, filters=methods.counted_with(settings), output=path)
    return Index.create(where, settings, store=store, lexicon=counted)


@EVERY
def test_random_order_gives_the_pairs_of_the_batch_run(name: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    expected = scored(roughly.dedupe(rows, **{**ASKED[name], "pairs": "all"}).pairs)
    assert len(expected) >= (1 if name == "identical" else 10)
    shuffled = random.Random(name).sample(rows, len(rows))
    with made(tmp_path / "a.db", name, rows, tmp_path) as index:
        index.add(shuffled, at_once=37)
        assert scored(index.pairs()) == expected
        # and asking with each document gives the same partners
        partners: dict[str, set[str]] = {row["id"]: set() for row in rows}
        for left, right in expected:
            partners[left].add(right)
            partners[right].add(left)
        for row, found in zip(rows, index.queries(rows, limit=None, match_empty=True), strict=True):
            told = {match.doc_id for match in found} - {row["id"]}
            assert told == partners[row["id"]], row["id"]
    with Index.open(tmp_path / "a.db") as index:
        assert scored(index.pairs()) == expected


@pytest.mark.parametrize("name", ["minhash", "minhash contained", "shingles", "imatch", "imatch verified"])
def test_one_by_one_and_many_at_once_end_alike(name: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    one, many = (made(tmp_path / f"{n}.db", name, rows, tmp_path) for n in ("one", "many"))
    some = rows[:60] + rows[-4:]
    singly = [added for row in some for added in one.add(row)]
    assert many.add(some) == singly
    assert one.pairs().equals(many.pairs())
    one.close()
    many.close()


@pytest.mark.parametrize("name", ["minhash", "minhash contained", "imatch verified", "shingles", "word-lsh", "imatch"])
def test_shingle_sets_judge_as_texts_do(name: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    text, sets = (made(tmp_path / f"{s}.db", name, rows, tmp_path, s) for s in ("text", "shingles"))
    assert text.add(rows) == sets.add(rows)
    assert text.queries(rows) == sets.queries(rows)
    assert text.pairs().equals(sets.pairs())
    sets.remove([row["doc_id"] for row in rows[::2]])
    text.remove([row["doc_id"] for row in rows[::2]])
    assert text.pairs().equals(sets.pairs()) and text.stats().keys == sets.stats().keys > 0
    text.close()
    sets.close()


def test_sketches_estimate_and_say_so(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    canonical = {row["id"]: words(row["text"]) for row in rows}
    with made(tmp_path / "t.db", "minhash", rows, tmp_path) as exact:
        exact.add(rows)
        true = {row["id"]: {m.doc_id: m for m in exact.query(row, limit=None)} for row in rows}
    with made(tmp_path / "s.db", "minhash", rows, tmp_path, "sketch") as index:
        index.add(rows)
        off, compared = [], 0
        for row in rows:
            for match in index.query(row, limit=None):
                if match.doc_id in true[row["id"]]:
                    known = true[row["id"]][match.doc_id]
                    equal = canonical[row["id"]] == canonical[match.doc_id]
                    assert match.estimated != equal  # only equal texts need no estimate
                    assert not equal or match.resemblance == known.resemblance == 1.0
                    off.append(abs((match.resemblance or 0) - (known.resemblance or 0)))
                    compared += match.estimated
        assert compared > 100 and max(off) < 4 * (0.25 / 256) ** 0.5
        assert index.text(rows[0]["doc_id"]) is None


def test_keys_in_common_are_measured_where_texts_are(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    with made(tmp_path / "t.db", "imatch", rows, tmp_path) as index:
        index.add(rows)
        found = [m for row in rows for m in index.query(row)]
        assert found and all(m.resemblance is not None and not m.estimated for m in found)
    with made(tmp_path / "s.db", "imatch", rows, tmp_path, "sketch") as index:
        index.add(rows)
        found = [m for row in rows for m in index.query(row)]
        assert {m.resemblance for m in found} == {None, 1.0}


def test_many_who_share_a_key_are_told_apart_by_their_bitmaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Different pages with much boilerplate, a few near-copies among them: bitmaps save work and change nothing."""
    from roughly.index.index_config import IndexConfig
    from roughly.index.matching.content_sets import ContentSets

    drawn = random.Random(5)
    boilerplate = [f"boiler{n}" for n in range(120)]
    rows = [
        {"doc_id": f"d{n}", "text": " ".join([*boilerplate, *(f"own{drawn.randrange(10**6)}" for _ in range(60))])}
        for n in range(150)
    ]
    rows += [{"doc_id": f"c{n}", "text": f"{rows[n]['text']} changed"} for n in range(0, 150, 10)]
    loaded: list[int] = []
    own = ContentSets.load
    monkeypatch.setattr(
        ContentSets, "load", lambda self, contents: (loaded.append(len(contents)), own(self, contents))[1]
    )
    settings = Settings(threshold=0.8, bands=64, rows=2)
    found = []
    for marked in (True, False):
        monkeypatch.setattr(IndexConfig, "marked", marked)
        with Index.create(tmp_path / f"{marked}.db", settings) as index:
            index.add(rows)
            loaded.clear()
            told = index.queries(rows, limit=None)
            found.append(([[m.doc_id for m in some] for some in told], scored(index.pairs()), sum(loaded)))
    assert found[0][:2] == found[1][:2] and len(found[0][1]) == 15
    assert found[0][2] < found[1][2]
    assert found[0][1] == scored(roughly.dedupe(rows, threshold=0.8, bands=64, rows=2, pairs="all").pairs)
