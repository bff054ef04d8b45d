"""The corpora that presets are fitted to are read from what packages hold."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
from benchmarks.abstract_corpora import search_of
from benchmarks.news_corpora import filed, revised, write_labelled


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


def test_stories_filed_again_are_the_same_and_those_of_other_weeks_are_not(tmp_path: Path) -> None:
    def story(name: str, headline: str | None, date: str, figure: int) -> dict[str, str]:
        text = f"The bank said it had given the money market a further {figure} mln stg of help this morning."
        return {"id": name, "title": headline, "date": date, "text": text}  # type: ignore[dict-item]

    stories = [
        story("a", "BANK GIVES <HELP>", " 8-APR-1987 09:31:10.55", 5),
        story("b", "Bank gives help", "9-APR-1987 08:00:00", 6),
        story("c", "BANK GIVES MORE", "20-APR-1987 09:00:00", 7), story("d", "WEEKLY", "2-APR-1987 08:00:00", 8),
        story("e", "WEEKLY", "9-APR-1987 09:00:00", 9), story("f", None, "9-APR-1987 09:00:00", 10),
    ]  # fmt: skip
    assert revised(stories) == [["a", "b"]]
    assert filed({"date": "31-MAR-1987 605:12:19"}) is None
    write_labelled(stories, tmp_path / "month")
    with (tmp_path / "month.csv").open(newline="", encoding="utf-8") as file:
        found = {(frozenset((row["left_id"], row["right_id"])), row["same"]) for row in csv.DictReader(file)}
    apart = {frozenset(pair) for pair in ("ac", "bc", "dc", "ec", "fc", "de", "df")}
    assert found == {(frozenset("ab"), "1")} | {(pair, "0") for pair in apart}
