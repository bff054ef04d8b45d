"""New keys wait in a small table, and whoever looks for a key finds it in either."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from test_index_parity import scored
from test_index_upkeep import run_sql

from roughly import Index, Settings, lexicon
from roughly.index.incoming import batches
from roughly.index.storage import stored_keys
from roughly.settings import ReadOptions

Row = dict[str, Any]


def news(count: int, first: int = 0) -> list[Row]:
    """Reports of their own, and every third a report before it with a word changed."""
    drawn = random.Random(first)
    rows: list[Row] = []
    for n in range(count):
        if n % 3 == 2:
            words = rows[drawn.randrange(len(rows))]["text"].split()
            for _ in range(1):
                words[drawn.randrange(len(words))] = f"changed{n}"
        else:
            words = [f"word{drawn.randrange(10**6)}" for _ in range(80)]
        rows.append({"doc_id": f"d{first + n}", "text": " ".join(words)})
    return rows


def counts(index: Index) -> tuple[int, int]:
    """How many keys are settled and how many are recent."""
    with index.read_transaction() as connection:
        settled, recent = (
            connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one() for name in ("keys", "recent")
        )
    return settled, recent


@pytest.mark.slow
def test_keys_wait_and_move_on_a_stretch_at_a_time(tmp_path: Path) -> None:
    rows, moved = news(600), []
    with Index.create(tmp_path / "one.db") as index:
        for at in range(0, len(rows), 3):
            index.add(rows[at : at + 3])
            moved.append(counts(index))
        settled, recent = moved[-1]
        assert index.stats().keys == settled + recent
        assert 0.02 < recent / (settled + recent) < 0.12  # about a sixteenth, when it is right
        steps = [b[0] - a[0] for a, b in pairwise(moved[100:])]
        assert max(steps) < 4 * recent and any(steps)  # never all of them at once
        assert index.verify().whole
        found = scored(index.pairs())
    with Index.create(tmp_path / "other.db") as index:
        index.add(rows)
        assert counts(index)[1] == 0  # all of it is new: there is nothing to spare
        assert scored(index.pairs()) == found and len(found) > 150


def test_documents_with_recent_keys_match_are_removed_and_signed_again(tmp_path: Path) -> None:
    rows = news(200)
    words = tmp_path / "one.lexicon", tmp_path / "other.lexicon"
    lexicon.build(rows, output=words[0])
    lexicon.build(rows[::2], output=words[1])
    settings = {"method": "imatch", "filter": "IDF-L-20", "lexicons": 3, "verify": True}
    with Index.create(tmp_path / "a.db", Settings.gather(settings, {"lexicon": words[0]})) as index:
        index.add(rows)
        for row in news(12, first=1000):
            index.add(row)
        assert counts(index)[1] > 0
        assert [m.doc_id for m in index.query(rows[3]["text"]) if m.resemblance == 1][:1] == ["d3"]
        late = news(12, first=1000)[-3]
        assert "d1009" in [m.doc_id for m in index.query(late["text"])]
        index.remove(["d1009"])
        assert "d1009" not in [m.doc_id for m in index.query(late["text"])]
        index.add(news(13, first=1000)[-1])
        assert counts(index)[1] > 0
        index.refresh(words[1])
        assert counts(index)[1] == 0 and index.verify().whole
        assert "d1008" in [m.doc_id for m in index.query(news(9, first=1000)[-1]["text"])]


@pytest.mark.parametrize("break_it", ["DELETE FROM recent WHERE key IN (SELECT min(key) FROM recent)",
                                      "INSERT INTO recent VALUES (1, 99999998)"])  # fmt: skip
def test_broken_recent_keys_are_found(break_it: str, tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db") as index:
        index.add(news(100))
        index.add(news(3, first=1000))
        assert counts(index)[1] > 0 and index.verify().whole
        run_sql(index, break_it)
        assert not index.verify().whole


def test_the_stretches_go_round(tmp_path: Path) -> None:
    """Whatever the keys are, after an eighth of the collection has come all that was there before is settled."""
    with Index.create(tmp_path / "a.db") as index:
        index.add(news(300))
        index.add(news(3, first=1000))
        with index.read_transaction() as connection:
            waiting = connection.exec_driver_sql("SELECT key, member FROM recent").all()
        for at in range(0, 48, 3):
            index.add(news(3, first=2000 + at))
        with index.read_transaction() as connection:
            wanted = np.array([row[0] for row in waiting], np.int64)
            left = stored_keys.find(index.transactions.store, connection, wanted)
            assert {tuple(row) for row in left.tolist()} >= {tuple(row) for row in waiting}
            still = connection.exec_driver_sql("SELECT key, member FROM recent").all()
        assert waiting and not set(waiting) & set(still)


def test_a_table_in_many_pieces_goes_in_as_few_transactions_as_asked() -> None:
    table = pa.concat_tables([pa.Table.from_pylist(news(7, first=10 * n)) for n in range(10)])
    assert [batch.num_rows for batch in batches(table, ReadOptions(), at_once=30)] == [30, 30, 10]
    assert [batch.num_rows for batch in batches(iter(table.to_batches()), ReadOptions(), at_once=30)] == [30, 30, 10]
