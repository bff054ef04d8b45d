"""Real text: copied passages and versions of one document are found from sketches alone."""

from __future__ import annotations

import csv
from pathlib import Path

import roughly


def labelled(path: Path, *columns: str) -> set[tuple[str, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {tuple(sorted(row[column] for column in columns)) for row in csv.DictReader(file)}


def found_pairs(folder: Path, **options: object) -> set[tuple[str, ...]]:
    pairs = roughly.recluster(folder, pairs="all", **options).pairs  # type: ignore[arg-type]
    return {tuple(sorted(ids)) for ids in zip(pairs["left_id"].to_pylist(), pairs["right_id"].to_pylist(), strict=True)}


def test_documents_with_a_copied_passage_are_found(corpora: Path, tmp_path: Path) -> None:
    """PAN 2013: all shingles find every pair; one in four of them does nearly as well."""
    true = labelled(corpora / "pan13_no_obfuscation_passages.csv", "suspicious_id", "source_id")
    assert len(true) == 500
    for sketch, least in (("all", 0.99), ("mod:4", 0.98)):
        folder = tmp_path / sketch.replace(":", "")
        roughly.sketch(corpora / "pan13_no_obfuscation.parquet", output=folder, sketch=sketch, shingle_size=5)
        found = found_pairs(folder, threshold=0.01, measure="containment")
        assert len(found & true) / len(true) >= least


def test_versions_of_one_document_are_found(corpora: Path, tmp_path: Path) -> None:
    """Terms of service at resemblance 0.2, estimated from one shingle in 25."""
    true = labelled(corpora / "terms_versions_pairs.csv", "id_a", "id_b")
    roughly.sketch(corpora / "terms_versions.parquet", output=tmp_path / "s", shingle_size=5)
    found = found_pairs(tmp_path / "s", threshold=0.2)
    document = {name: name.rsplit("#", 1)[0] for pair in found for name in pair}
    assert sum(document[a] == document[b] for a, b in found) / len(found) >= 0.75
    # documents with equal sketches are listed once, so a pair is also found through its equals
    same = roughly.recluster(tmp_path / "s", threshold=0.2, cluster="components")
    cluster = dict(zip(same.documents["doc_id"].to_pylist(), same.documents["cluster_id"].to_pylist(), strict=True))
    assert sum(cluster[a] == cluster[b] for a, b in true) / len(true) >= 0.9
