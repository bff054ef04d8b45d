"""A run and an index looked at: lists against plain Python over the tables, texts, and what cannot be had."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roughly.errors import InputMissing, SettingsError
from roughly.index import Index
from roughly.model import WRITTEN, Column
from roughly.service.collection.collection_types import ClusterQuery, ClusterRow, DocumentRow, Edge
from roughly.service.collection.index_collection import IndexCollection
from roughly.service.collection.run_collection import CHANGED, RunCollection
from roughly.service.collection.served_collections import ServedCollections
from roughly.service.served_data import ServedData
from service.looked_at import LONG, ODD, looked_at_rows, write_rows

Row = dict[str, Any]


KINDS = {pa.string(): str, pa.int64(): int, pa.uint32(): int, pa.float64(): float, pa.bool_(): bool}


@pytest.mark.parametrize(
    ("kind", "columns", "more"),
    [
        (Edge, WRITTEN["pairs"].columns, set()),
        (ClusterRow, WRITTEN["clusters"].columns,
         {"pairs", "kinds", "title", "url", "source", "first", "last", "first_id", "empty", "warnings"}),
        (DocumentRow, (*WRITTEN["documents"].columns, *WRITTEN["known"].columns), {"revoked"}),
    ],
)  # fmt: skip
def test_rows_have_the_columns_that_are_written(kind: type, columns: tuple[Column, ...], more: set[str]) -> None:
    hints = get_type_hints(kind)
    written = {column.name: KINDS[column.type] for column in columns if column.name not in ("part", "row", "digest")}
    assert set(hints) == set(written) | more
    assert {name: hints[name] for name in written} == {
        name: hints[name] if hints[name] == (python | None) else python for name, python in written.items()
    }


@pytest.fixture(scope="module")
def run(looked_at_run: Path) -> Iterator[RunCollection]:
    looked = RunCollection(looked_at_run)
    yield looked
    looked.close()


@pytest.fixture(scope="module")
def index(looked_at_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexCollection]:
    with Index.import_run(looked_at_run, tmp_path_factory.mktemp("index") / "a.db") as opened:
        yield IndexCollection(opened)


@pytest.fixture(scope="module")
def clusters(looked_at_run: Path) -> list[Row]:
    """Clusters of two or more as plain Python makes them of the run's tables."""
    known = {row["doc_id"]: row for row in pq.read_table(looked_at_run / "known.parquet").to_pylist()}
    members = defaultdict(list)
    for row in pq.read_table(looked_at_run / "documents.parquet").to_pylist():
        members[row["cluster_id"]].append(row | known[row["doc_id"]])
    held = defaultdict(int)
    where = {one["doc_id"]: name for name, some in members.items() for one in some}
    for pair in pq.read_table(looked_at_run / "pairs.parquet").to_pylist():
        if where[pair["left_id"]] == where[pair["right_id"]]:
            held[where[pair["left_id"]]] += 1
    stored = {row["cluster_id"]: row for row in pq.read_table(looked_at_run / "clusters.parquet").to_pylist()}
    return [
        stored[name] | {
            "members": some, "kinds": {one["kind"] for one in some} - {None}, "pairs": held[name],
            "from": {one["source"] for one in some}, "last": max(one["date"] or "" for one in some),
        }
        for name, some in members.items()
        if len(some) > 1
    ]  # fmt: skip


def loose(row: Row) -> bool:
    low, mean = row["min_resemblance"], row["mean_resemblance"]
    return low is not None and (low < mean - 0.15 or low < 0.7)


def sparse(row: Row) -> bool:
    return row["size"] >= 4 and row["pairs"] < 0.3 * row["size"] * (row["size"] - 1) / 2


FILTERS: dict[str, tuple[dict[str, Any], Callable[[Row], bool]]] = {
    "all": ({}, lambda row: True),
    "size": ({"least": 3, "most": 4}, lambda row: 3 <= row["size"] <= 4),
    "low": ({"low": 0.9}, lambda row: row["min_resemblance"] is not None and row["min_resemblance"] >= 0.9),
    "high": ({"high": 0.9}, lambda row: row["min_resemblance"] is not None and row["min_resemblance"] <= 0.9),
    "kind": ({"kind": "revision"}, lambda row: "revision" in row["kinds"]),
    "source": ({"source": "source 3"}, lambda row: "source 3" in row["from"]),
    "title": ({"q": "fAmily 1,"}, lambda row: any("Family 1," in (one["title"] or "") for one in row["members"])),
    "url": ({"q": "site3.example"}, lambda row: any("site3.example" in (one["url"] or "") for one in row["members"])),
    "id": ({"q": ODD[3]}, lambda row: any(ODD[3] in one["doc_id"] for one in row["members"])),
    "percent": ({"q": "R%2f"}, lambda row: any("per%2Fcent" in one["doc_id"] for one in row["members"])),
    "letters": ({"q": "NAÏVE"}, lambda row: any("naïve" in one["doc_id"] for one in row["members"])),
    "loose": ({"suspicion": "loose"}, loose),
    "chained": ({"suspicion": "chained"}, lambda row: row["kept"] > 1),
    "sparse": ({"suspicion": "sparse"}, sparse),
    "sources": ({"suspicion": "sources"}, lambda row: row["sources"] >= 5),
    "odd": ({"suspicion": "any"}, lambda row: row["kept"] > 1 or row["sources"] >= 5 or loose(row) or sparse(row)),
    "two": ({"source": "source 1", "least": 5}, lambda row: "source 1" in row["from"] and row["size"] >= 5),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_leaves_what_it_says(run: RunCollection, clusters: list[Row], name: str) -> None:
    given, holds = FILTERS[name]
    wanted = {row["cluster_id"] for row in clusters if holds(row)}
    found = run.clusters(ClusterQuery(**given, limit=500))
    assert {row.cluster_id for row in found.rows} == wanted and found.total == len(wanted)
    assert wanted, "a filter that nothing passes shows nothing"
    assert name == "all" or len(wanted) < len(clusters), "nor does one that everything passes"


ORDERS: dict[str, Callable[[Row], Any]] = {
    "size": lambda row: (-row["size"], row["cluster_id"]),
    "smallest": lambda row: (row["size"], row["cluster_id"]),
    "lowest": lambda row: (row["min_resemblance"], row["cluster_id"]),
    "mean": lambda row: (row["mean_resemblance"], row["cluster_id"]),
    "bytes": lambda row: (-row["removed_bytes"], row["cluster_id"]),
    "sources": lambda row: (-row["sources"], -row["size"], row["cluster_id"]),
    "newest": lambda row: ([-ord(c) for c in row["last"]] or [0], row["cluster_id"]),
    "id": lambda row: row["cluster_id"],
}


@pytest.mark.parametrize("sort", ORDERS)
def test_an_order_and_its_pages(run: RunCollection, clusters: list[Row], sort: str) -> None:
    wanted = [row["cluster_id"] for row in sorted(clusters, key=ORDERS[sort])]
    pages = [
        run.clusters(ClusterQuery(sort=sort, offset=start, limit=10)).rows for start in range(0, len(wanted) + 10, 10)
    ]
    paged = [row.cluster_id for page in pages for row in page]
    assert paged == wanted


def test_warnings_say_what_the_filter_filters_by(run: RunCollection) -> None:
    for name in ("loose", "chained", "sparse", "sources"):
        listed = {row.cluster_id for row in run.clusters(ClusterQuery(suspicion=name, limit=500)).rows}
        warned = {
            row.cluster_id
            for row in run.clusters(ClusterQuery(limit=500)).rows
            if name in {one.name for one in row.warnings}
        }
        assert listed == warned, name


def test_everything_wrong_with_a_question_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as told:
        ClusterQuery(sort="best", suspicion="bad", low=2.0, least=0, limit=1_000_000)
    for name in ("sort", "suspicion", "low", "least", "limit"):
        assert name in str(told.value)


def test_an_index_says_what_it_cannot_filter_by(index: IndexCollection, run: RunCollection) -> None:
    for given in ({"kind": "exact"}, {"low": 0.5}, {"sort": "lowest"}, {"suspicion": "chained"}):
        with pytest.raises(SettingsError, match="look at the run"):
            index.clusters(ClusterQuery(**given))
    by_source = {row.first_id for row in index.clusters(ClusterQuery(source="source 3", limit=500)).rows}
    assert by_source and len(by_source) == run.clusters(ClusterQuery(source="source 3", limit=500)).total


def test_texts_are_those_of_the_input(run: RunCollection, index: IndexCollection) -> None:
    rows = {row["id"]: row["text"] for row in looked_at_rows()}
    for looked in (run, index):
        found = looked.texts([*rows, "nobody"])
        assert {name: one.text for name, one in found.items()} == {**rows, "nobody": None}
        assert found["nobody"].why


def test_steps_through_a_cluster_meet_every_pair_once(run: RunCollection, index: IndexCollection) -> None:
    for looked in (run, index):
        largest = looked.clusters(ClusterQuery(limit=1)).rows[0]
        members = looked.cluster(largest.cluster_id, 0, 500).members  # type: ignore[union-attr]
        first = next(one.doc_id for one in members if one.doc_id != one.kept_id and not one.kept)
        walked, pair = [first], looked.neighbours(largest.cluster_id, first)[1]
        while pair is not None:
            walked.append(pair[0])
            assert looked.neighbours(largest.cluster_id, pair[0])[0][0] == walked[-2]  # type: ignore[index]
            pair = looked.neighbours(largest.cluster_id, pair[0])[1]
        assert len(walked) == len(set(walked)) >= 3
        assert set(walked) <= {one.doc_id for one in members}


def test_a_run_whose_input_has_moved(looked_at_run: Path, tmp_path: Path) -> None:
    """The run is served from elsewhere, its input is gone, and then said to be somewhere else, or to be another."""
    folder = shutil.copytree(looked_at_run, tmp_path / "run")
    told = (folder / "run.json").read_text(encoding="utf-8")
    assert str(looked_at_run.parent) in told
    (folder / "run.json").write_text(told.replace(str(looked_at_run.parent), str(tmp_path / "gone")), encoding="utf-8")
    gone = ServedCollections(ServedData.open([folder]))
    assert gone.run is not None
    missing = gone.run.texts([LONG[0]])[LONG[0]]
    assert missing.text is None and "--input" in missing.why
    assert gone.run.clusters(ClusterQuery()).total and gone.run.document(LONG[0]) is not None
    gone.close()
    rows = looked_at_rows()
    moved = write_rows(rows, tmp_path / "moved.jsonl")
    here = ServedCollections(served_data := ServedData.open([folder], inputs=[moved]))
    assert here.require_run().texts([ODD[0]])[ODD[0]].text == next(row["text"] for row in rows if row["id"] == ODD[0])
    assert served_data.inputs == (str(moved),)
    here.close()
    other = write_rows([{**row, "text": row["text"] + " more"} for row in rows], tmp_path / "other.jsonl")
    changed = ServedCollections(ServedData.open([folder], inputs=[other]))
    assert changed.run is not None and changed.run.texts([ODD[0]])[ODD[0]].why == CHANGED
    changed.close()


def test_input_without_a_run_is_refused(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db"):
        pass
    with pytest.raises(SettingsError, match="no run is served"):
        ServedData.open([tmp_path / "a.db"], inputs=["x.jsonl"])


def test_which_collection_is_meant(looked_at_run: Path) -> None:
    served = ServedCollections(ServedData(run=looked_at_run))
    assert served.choose(None, "index") is served.run is served.choose("run")
    with pytest.raises(InputMissing, match="no index is served"):
        served.choose("index")
    with pytest.raises(SettingsError, match="run or index"):
        served.choose("all")
    served.close()


def test_a_count_of_an_index_is_kept_while_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.service.collection import index_collection

    monkeypatch.setattr(index_collection, "SLOW_SECONDS", 60.0)
    with Index.create(tmp_path / "a.db") as index:
        index.add([{"doc_id": name, "text": "one two three four five six seven"} for name in "abc"])
        looked = IndexCollection(index)
        first = looked.statistics()
        assert looked.statistics() is first and looked.clusters(ClusterQuery()).rows[0].size == 3
        assert first.cluster_sizes == [(3, 1)] and first.suspicious == 0
        index.add({"doc_id": "d", "text": "one two three four five six seven"})
        assert looked.statistics() is not first and looked.clusters(ClusterQuery()).rows[0].size == 4
        monkeypatch.setattr(index_collection, "SLOW_SECONDS", 0.0)
        monkeypatch.setattr(index_collection, "CACHE_FACTOR", 10**9)
        index.remove("d")  # counting took long: the last count is good enough
        assert looked.clusters(ClusterQuery()).rows[0].size == 4
