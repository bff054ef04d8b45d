"""`roughly.Index` as Python has collections: in memory, of texts and frames, with a length, ids and a repr."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import roughly
from roughly import Index
from roughly.errors import InputError, InputMissing, SettingsError

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."
OTHER = "Something else entirely, with nothing in common but the language."
ROWS = [{"doc_id": "a", "text": ROSE}, {"doc_id": "b", "text": ROSE.upper()}, {"doc_id": "c", "text": OTHER}]


def test_an_index_in_memory() -> None:
    with Index(":memory:", threshold=0.7) as index:
        assert repr(index) == "<Index :memory:: 0 documents; minhash, threshold 0.7>" and len(index) == 0 and index
        index.add(ROWS)
        assert len(index) == 3 and list(index) == ["a", "b", "c"] and "a" in index and "z" not in index
        assert [match.doc_id for match in index.query(ROSE + " Once.")] == ["a", "b"]
        assert repr(index) == "<Index :memory:: 3 documents; minhash, threshold 0.7>"
        assert index.remove("a") == ["a"] and len(index) == 2
        assert index.verify().whole and index.stats().documents == 2
        other = Index()
        assert len(other) == 0  # one of its own
    with pytest.raises(InputMissing, match="cannot be opened again"):
        Index.open(":memory:")


def test_in_memory_answers_are_those_of_a_file(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    with Index(threshold=0.7) as held, Index.create(tmp_path / "a.db", threshold=0.7) as stored:
        assert held.add(rows) == stored.add(rows)
        assert held.pairs().equals(stored.pairs()) and held.queries(rows) == stored.queries(rows)
        assert list(held) == list(stored) == [row["doc_id"] for row in rows]


def test_threads_share_an_index_in_memory(rows: list[dict[str, Any]]) -> None:
    with Index(threshold=0.7) as index, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda row: index.add(row) and index.query(row), rows))
        assert len(index) == len(rows) and index.verify().whole


def test_created_with_options_and_opened_with_them(tmp_path: Path) -> None:
    where = tmp_path / "a.db"
    with Index.create(where, threshold=0.7, shingle_size=3) as index:
        assert index.settings.threshold == 0.7 and index.settings.shingle_size == 3
    with Index(where) as index, Index(where, threshold=0.7) as same:
        assert index.fingerprint == same.fingerprint
    with pytest.raises(SettingsError, match=r"was made with threshold 0\.7, not 0\.9"):
        Index(where, threshold=0.9)
    with pytest.raises(SettingsError, match="give settings, or options by name, not both: threshold"):
        Index.create(tmp_path / "b.db", roughly.Settings(), threshold=0.7)
    with pytest.raises(SettingsError, match=r"unknown setting 'treshold'. Did you mean threshold\?"):
        Index.create(tmp_path / "b.db", treshold=0.7)
    with pytest.raises(InputMissing, match="no index at"):
        Index(tmp_path / "none.db")
    assert not (tmp_path / "b.db").exists()


def test_texts_get_ids_from_their_content() -> None:
    with Index() as index:
        (first,) = index.add(ROSE)
        assert first.status == "added" and first.doc_id.startswith("sha256:")
        assert [added.status for added in index.add([ROSE, OTHER])] == ["unchanged", "added"]
        assert [added.status for added in index.add([{"text": OTHER}, {"text": "new", "title": "x"}])] == [
            "unchanged", "added",
        ]  # fmt: skip
        assert index.add(pa.table({"text": [ROSE]}))[0].doc_id == first.doc_id  # no row replaces another
        assert len(index) == 3
        with pytest.raises(InputError, match="its text must be a string"):
            index.add([{"text": None}])
        with pytest.raises(InputError, match="cannot be read from an object of type bytes"):
            index.add(b"bytes")


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, pa.Table.from_pylist, list, iter])
def test_frames_are_added_and_queried(form: Any) -> None:
    with Index(threshold=0.7) as index:
        assert [added.doc_id for added in index.add(form(ROWS))] == ["a", "b", "c"]
        found = index.queries(form(ROWS))
        assert [[match.doc_id for match in matches] for matches in found] == [["a", "b"], ["a", "b"], ["c"]]


def test_the_index_of_a_frame_is_an_id_where_it_is_more_than_a_count() -> None:
    texts = [row["text"] for row in ROWS]
    with Index() as index:
        assert [a.doc_id for a in index.add(pd.DataFrame({"text": texts}, index=list("xyz")))] == ["x", "y", "z"]
        assert all(a.doc_id.startswith("sha256:") for a in index.add(pd.DataFrame({"text": texts})))
        assert len(index) == 6
