"""Keys that many texts share: packed and loose, with a limit and without, the answers are the same."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import roughly
from roughly import Index, Settings
from roughly.index.storage import hot_keys
from roughly.settings import ReadOptions

Row = dict[str, Any]
BOILER = [f"boiler{n}" for n in range(120)]
METHOD = Settings(threshold=0.7, bands=32, rows=2)


def pages(count: int, seed: int = 1) -> list[Row]:
    """Pages with much boilerplate, and near-copies of some of them with one to eight words changed."""
    drawn = random.Random(seed)
    rows = []
    for n in range(count):
        if n % 3 and rows:
            words = rows[drawn.randrange(len(rows))]["text"].split()
            for _ in range(drawn.randrange(1, 9)):
                words[drawn.randrange(len(words))] = f"changed{drawn.randrange(50)}"
        else:
            words = [*BOILER, *(f"own{drawn.randrange(10**6)}" for _ in range(40))]
        rows.append({"doc_id": f"d{n}", "text": " ".join(words)})
    return rows


def blocks(index: Index) -> int:
    """Blocks that count."""
    with index.read_transaction() as connection:
        if not hot_keys.trusted(index.transactions.store, connection):
            return 0
        return int(connection.exec_driver_sql("SELECT count(*) FROM crowds").scalar_one())


def scored(table: Any) -> set[tuple[Any, ...]]:
    names = ("left_id", "right_id", "resemblance")
    return set(zip(*(table[name].to_pylist() for name in names), strict=True))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot_keys, "BLOCK_MEMBERS", 5)


def test_packed_or_not_the_pairs_are_those_of_a_batch_run(place: str, small_blocks: None) -> None:
    """Added in pieces, some taken out, some changed: blocks follow, and `verify` finds them right."""
    rows = pages(90)
    with Index.create(place, METHOD) as index:
        for at in range(0, 90, 17):
            index.add(rows[at : at + 17])
        made = blocks(index)
        assert made > 3
        gone = [row["doc_id"] for row in rows[::7]]
        assert sorted(index.remove(gone)) == sorted(gone)
        index.add({**rows[1], "text": rows[1]["text"] + " and more"})
        rest = [row for row in rows if row["doc_id"] not in gone]
        rest = [{**row, "text": row["text"] + " and more"} if row["doc_id"] == "d1" else row for row in rest]
        assert blocks(index) and index.verify().whole
        batch = roughly.dedupe(rest, threshold=0.7, bands=32, rows=2, pairs="all").pairs
        assert scored(index.pairs()) == scored(batch)
        index.remove([row["doc_id"] for row in rest])
        assert blocks(index) == 0 and index.verify().whole and index.query(rows[0]["text"]) == []


def test_a_block_that_is_wrong_is_found(tmp_path: Path, small_blocks: None) -> None:
    """A member that its key does not have."""
    with Index.create(tmp_path / "a.db", METHOD) as index:
        index.add(pages(40))
        assert index.verify().whole
        with index.transactions.store.write_transaction() as connection:
            key, last, body = connection.exec_driver_sql("SELECT key, last, body FROM crowds LIMIT 1").one()
            entries = np.frombuffer(body, hot_keys.ENTRY).copy()
            entries["member"][0] -= 2
            connection.exec_driver_sql(
                "UPDATE crowds SET body = ? WHERE key = ? AND last = ?", (entries.tobytes(), key, last)
            )
        assert index.verify().problems == ["1 keys that many contents share are packed wrongly"]


def test_blocks_that_another_version_has_not_kept_are_not_used(tmp_path: Path, small_blocks: None) -> None:
    """It took a text out and does not know the table: the blocks are passed over, and begun anew."""
    rows = pages(60)
    with Index.create(tmp_path / "a.db", METHOD) as index:
        index.add(rows[:50])
        stale = blocks(index)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hot_keys, "trusted", lambda store, connection: False)
            index.remove([row["doc_id"] for row in rows[:20]])
        assert stale and blocks(index) == 0
        batch = roughly.dedupe(rows[20:50], threshold=0.7, bands=32, rows=2, pairs="all").pairs
        assert scored(index.pairs()) == scored(batch)
        index.add(rows[50:])
        assert blocks(index) and index.verify().whole


def test_an_index_without_the_table_gets_it(tmp_path: Path, small_blocks: None) -> None:
    """As one that an earlier version has made."""
    rows = pages(60)
    with Index.create(tmp_path / "a.db", METHOD) as index:
        index.add(rows[:5])
        with index.transactions.store.write_transaction() as connection:
            connection.exec_driver_sql("DROP TABLE crowds")
            connection.exec_driver_sql("DELETE FROM meta WHERE name = 'crowds'")
        assert index.query(rows[0]["text"]) and index.stats().bytes
        index.add(rows[5:])
        assert blocks(index) and index.verify().whole


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("packed", [True, False])
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**6), limit=st.integers(1, 12))
@pytest.mark.slow
def test_the_first_of_all_are_those_with_a_limit(
    tmp_path_factory: pytest.TempPathFactory, packed: bool, measure: str, seed: int, limit: int
) -> None:
    """With a limit most texts are not judged; the answer is the beginning of the whole one, in the same order."""
    rows = pages(40, seed)
    bands = {"bands": 32, "rows": 2} if measure == "resemblance" else {}
    method = Settings(threshold=0.6, measure=measure, **bands)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hot_keys, "BLOCK_MEMBERS", 5 if packed else 10**6)
        with Index.create(tmp_path_factory.mktemp("i") / "a.db", method) as index:
            added = index.add(rows, at_once=25)
            assert index.verify().whole and bool(blocks(index)) == packed
            for asked in (rows[seed % 40]["text"], rows[seed % 40]["text"] + " and a little more"):
                whole = index.query(asked, limit=None)
                assert index.query(asked, limit=limit) == whole[:limit]
                assert index.queries([asked, rows[3]["text"]], limit=limit)[0] == whole[:limit]
                least = index.query(asked, limit=None, minimum=0.8)
                assert index.query(asked, limit=limit, minimum=0.8) == least[:limit]
            for row, told in zip(rows, added, strict=True):
                if told.match is not None and measure == "resemblance":
                    before = {r["doc_id"] for r in rows[: rows.index(row)]}
                    found = [m for m in index.query(row["text"], limit=None) if m.doc_id in before]
                    assert told.match.resemblance == found[0].resemblance


def test_with_hot_keys_a_batch_run_finds_what_the_index_finds_and_perhaps_more(tmp_path: Path) -> None:
    """What is promised where more than 200 kept documents share a key.

    Every pair of the index is a pair of the batch run, with the same score. What the batch run has beyond it reaches
    the threshold and shares no key: it was found among the documents of hot keys, by their rarest shingles.
    """
    drawn = random.Random(5)
    rows: list[Row] = []
    for n in range(400):
        words = [*BOILER, *(f"own{drawn.randrange(10**6)}" for _ in range(30))]
        rows.append({"doc_id": f"d{n}", "text": " ".join(words)})
        for _ in range(3):
            words[drawn.randrange(150)] = f"changed{n}"
        rows.append({"doc_id": f"c{n}", "text": " ".join(words)})
    few = {"threshold": 0.7, "bands": 3, "rows": 2}
    batch = scored(roughly.dedupe(rows, pairs="all", **few).pairs)
    with Index.create(tmp_path / "a.db", Settings(**few)) as index:  # type: ignore[arg-type]
        index.add(rows)
        found = scored(index.pairs())
        with index.read_transaction() as connection:
            shared = "SELECT count(*) FROM keys GROUP BY key ORDER BY 1 DESC LIMIT 1"
            assert connection.exec_driver_sql(shared).scalar_one() > 200
        assert found and found < batch
        met = {frozenset(pair[:2]) for pair in found}
        keys = {row["doc_id"]: keys_of(index, row["text"]) for row in rows}
        for left, right, resemblance in batch - found:
            assert frozenset((left, right)) not in met and resemblance >= 0.7
            assert not keys[left] & keys[right]


def keys_of(index: Index, text: str) -> set[int]:
    """The keys of a text, as the index has them."""
    from roughly.index.incoming import one
    from roughly.index.matching.signed_batch import sign

    return set(sign(one(text, ReadOptions()), index.config.method, index.settings).keys.keys.tolist())
