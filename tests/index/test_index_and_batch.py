"""From batch to online and back: the two roads agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_index_parity import ASKED, made, scored

import roughly
from roughly import Index, Settings
from roughly.errors import InputError, InputMissing, OutputExists, SettingsError

METHODS = ["minhash", "minhash contained", "imatch", "rare-terms", "term-vector with dates", "identical"]


def clusters(index: Index, rows: list[dict[str, Any]]) -> set[frozenset[str]]:
    groups: dict[int, set[str]] = {}
    for row in rows:
        entry = index.get(row["id"])
        assert entry is not None
        groups.setdefault(entry.cluster_id, set()).add(row["id"])
    return {frozenset(group) for group in groups.values()}


def write(rows: list[dict[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.slow
def test_a_run_leaves_an_index(name: str, rows: list[dict[str, Any]], place: str, tmp_path: Path) -> None:
    path = write(rows, tmp_path / "in.jsonl")
    options = {**ASKED[name], "pairs": "all"}
    result = roughly.dedupe(path, output=tmp_path / "out", index=place, **options)
    listed = {r["doc_id"]: r["cluster_id"] for r in result.documents.to_pylist()}
    grouped: dict[str, set[str]] = {}
    for doc_id, cluster in listed.items():
        grouped.setdefault(cluster, set()).add(doc_id)
    expected = {frozenset(group) for group in grouped.values()}
    with Index.open(place) as index:
        assert index.verify().whole and index.stats().documents == len(rows)
        assert scored(index.pairs()) == scored(result.pairs)
        assert clusters(index, rows) == expected
        fingerprint = index.fingerprint
        with made(tmp_path / "added.db", name, rows, tmp_path) as added:
            added.add(rows)
            assert added.fingerprint == fingerprint and added.pairs().equals(index.pairs())
            asked = [{**row, "id": "new", "doc_id": "new"} for row in rows[::9]]
            told = [[(m.doc_id, m.resemblance, m.shared_keys) for m in found] for found in index.queries(asked)]
            again = [[(m.doc_id, m.resemblance, m.shared_keys) for m in found] for found in added.queries(asked)]
            assert [sorted(map(str, t)) for t in told] == [sorted(map(str, t)) for t in again]
        more = index.add({"doc_id": "more", "text": rows[0]["text"]})[0]
        assert more.match is not None and index.verify().whole
    with Index.import_run(tmp_path / "out", tmp_path / "b.db") as loaded:
        assert loaded.verify().whole and scored(loaded.pairs()) == scored(result.pairs)
        assert loaded.fingerprint == fingerprint and clusters(loaded, rows) == expected


def test_what_cannot_be_imported(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    path = write(rows, tmp_path / "in.jsonl")
    roughly.dedupe(path, output=tmp_path / "out")
    with pytest.raises(InputMissing, match="is not a run of roughly"):
        Index.import_run(tmp_path, tmp_path / "a.db")
    write(rows[:-1], path)
    with pytest.raises(InputError, match=r"the run has (\d+) documents, and its input \d+; it has changed"):
        Index.import_run(tmp_path / "out", tmp_path / "a.db")
    write([*rows[:-1], {"id": "other", "doc_id": "other", "text": "x"}], path)
    with pytest.raises(InputError, match="the run knows no document 'other'"):
        Index.import_run(tmp_path / "out", tmp_path / "a.db")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "out"]  # nothing is left behind
    with pytest.raises(OutputExists):
        roughly.dedupe(path, output=tmp_path / "out2", index=path)
    assert not (tmp_path / "out2").exists()
    moved = write(rows, tmp_path / "moved.jsonl")
    path.unlink()
    with pytest.raises(InputMissing):
        Index.import_run(tmp_path / "out", tmp_path / "a.db")
    with Index.import_run(tmp_path / "out", tmp_path / "a.db", inputs=[moved], store="shingles") as index:
        assert index.verify().whole


@pytest.mark.parametrize("name", ["minhash", "minhash contained", "imatch", "rare-terms", "lexical"])
@pytest.mark.slow
def test_new_documents_against_an_archive(name: str, rows: list[dict[str, Any]], place: str, tmp_path: Path) -> None:
    old, new = rows[::2], rows[1::2]
    with made(place, name, rows, tmp_path) as index:
        index.add(old)
        expected = {row["id"]: index.query(row, limit=1, match_empty=True) for row in new}
    path = write(new, tmp_path / "new.jsonl")
    result = roughly.dedupe(path, output=tmp_path / "out", against=place, pairs="all")
    told = {r["doc_id"]: r for r in result.documents.to_pylist()}
    assert len(told) == len(new) and list(told) == sorted(told)
    gone = {doc_id for doc_id, found in expected.items() if found}
    assert 2 < len(gone) < len(new)
    assert {doc_id for doc_id, row in told.items() if row["in_archive"]} == gone
    for doc_id in gone:
        row, match = told[doc_id], expected[doc_id][0]
        assert not row["kept"] and row["kept_id"] == row["cluster_id"] == match.doc_id
        measured = (row["resemblance"], row["containment"], row["contained_in"])
        assert measured == (match.resemblance, match.containment, match.contained_in)
    # the rest is what a run of the rest alone says
    with Index.open(place) as index:
        rest = roughly.dedupe([r for r in new if r["id"] not in gone], **{**options_of(index), "pairs": "all"})
    alone = {r["doc_id"]: r for r in rest.documents.to_pylist()}
    assert {d: r for d, r in told.items() if d not in gone} == {d: {**r, "in_archive": False} for d, r in alone.items()}
    pairs = [r for r in result.pairs.to_pylist() if r["in_archive"]]
    assert {(r["left_id"], r["right_id"]) for r in pairs} == {(d, expected[d][0].doc_id) for d in gone}
    kept = [json.loads(line)["id"] for line in (tmp_path / "out" / "kept" / "new.jsonl").read_text().splitlines()]
    assert sorted(kept) == sorted(alone_id for alone_id, r in alone.items() if r["kept"])
    assert result.summary["against"] == {
        "archive": result.summary["against"]["archive"], "fingerprint": result.summary["against"]["fingerprint"],
        "documents": len(new), "removed": len(gone),
    }  # fmt: skip


def options_of(index: Index) -> dict[str, Any]:
    settings = index.settings
    values = {n: getattr(settings, n) for n in ("method", "threshold", "measure", "verify", "shingle_size")}
    return values | dict(settings.options)


def test_all_of_it_is_known(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    with Index.create(tmp_path / "a.db", Settings(threshold=0.7)) as index:
        index.add(rows)
    result = roughly.dedupe(rows, against=tmp_path / "a.db")
    assert result.kept_ids == [] and result.summary["against"]["removed"] == len(rows)
    with pytest.raises(SettingsError, match=r"was made with threshold 0.7, not 0.9; give the settings of the index"):
        roughly.dedupe(rows, against=tmp_path / "a.db", threshold=0.9)
    with pytest.raises(SettingsError, match="makes no index of its own"):
        roughly.dedupe(rows, against=tmp_path / "a.db", index=tmp_path / "b.db")
