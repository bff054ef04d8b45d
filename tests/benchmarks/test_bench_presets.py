"""The corpora that presets are fitted to are read from what packages hold."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow.parquet as pq
from benchmarks.abstract_corpora import search_of


def test_abstracts_are_in_the_table_or_in_a_file_beside_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "made.whl", "w") as wheel:
        wheel.writestr("data/cardiac/records_pre_merged.csv", 'ID,abstract\na,One.\nb,"Two,\nthree."\nc,\nd,Four.\n')
        wheel.writestr("data/cardiac/merged_record_ids.csv", 'merged_ids\n"a;b"\n"c;d"\n')
        wheel.writestr("data/stroke/records_pre_merged.csv", "ID,title\na,A\nb,B\n")
        wheel.writestr("data/stroke/merged_record_ids.csv", 'merged_ids\n"a;b"\n')
        record = "<record><titles/><abstract><style>{}</style>{}</abstract></record>"
        records = record.format("One", ", two.") + "<record><titles/></record>"
        wheel.writestr("data/stroke/Stroke.xml", f"<xml><records>{records}</records></xml>")
    with zipfile.ZipFile(tmp_path / "made.whl") as wheel:
        for name in ("cardiac", "stroke"):
            search_of(wheel, name, tmp_path)
    assert pq.read_table(tmp_path / "cardiac.parquet").to_pydict() == {
        "id": ["a", "b", "d"], "text": ["One.", "Two,\nthree.", "Four."], "cluster": ["set 0", "set 0", "set 1"],
    }  # fmt: skip
    assert pq.read_table(tmp_path / "stroke.parquet")["text"].to_pylist() == ["One, two."]
