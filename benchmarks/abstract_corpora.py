"""Labelled abstracts, which `benchmarks.verdict_presets` fits the preset `abstracts` to: a package of PyPI has them.

`bib-dedupe` 0.6.0 (MIT) holds what searches for systematic reviews found in several databases, whose noise differs:
copyright lines, headings, entities, cut ends. People marked what is the same publication. Of three searches (ASySD,
Hair et al. 2023) they named it; of the others (Rathbone et al. 2015, and digital work) the package's authors named what
a marked record is most similar to by title, authors and year, so these are used to score only. A document is an
abstract alone; records without one are left out.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.corpora import DATA
from benchmarks.record_corpora import download, write_documents
from benchmarks.tuning import Labelled

PACKAGE = "bib-dedupe==0.6.0"
NAMED = ("cardiac", "diabetes", "neuroimaging")
SCORED = {
    "stroke": "Stroke.xml", "cytology_screening": "Cytology screening.xml", "haematology": "Haematology.xml",
    "digital_work": None,
}  # fmt: skip
"""Searches, and where their abstracts are if not in the table of records."""
FOLDER = DATA / "abstracts"
ABSTRACTS = tuple(
    Labelled(name.replace("_", " "), str(FOLDER / f"{name}.parquet"), column="cluster", sample=10_000)
    for name in (*NAMED, *SCORED)
)


def prepare_abstracts() -> None:
    """Fetch and write these corpora, the first time."""
    if not (FOLDER / "digital_work.parquet").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        download(FOLDER, PACKAGE)
        with zipfile.ZipFile(next(FOLDER.glob("bib_dedupe-*.whl"))) as wheel:
            for name in (*NAMED, *SCORED):
                search_of(wheel, name, FOLDER)


def search_of(wheel: zipfile.ZipFile, name: str, folder: Path) -> None:
    """Write the abstracts of one search, with their sets."""
    rows = list(_rows(wheel, f"data/{name}/records_pre_merged.csv"))
    texts = [row.get("abstract", "") for row in rows]
    if (beside := SCORED.get(name)) is not None:
        records = ElementTree.fromstring(wheel.read(f"data/{name}/{beside}")).iterfind(".//record")
        texts = [
            "".join(text for one in record.iterfind(".//abstract") for text in one.itertext()) for record in records
        ]
    sets = {
        record: f"set {number}"
        for number, row in enumerate(_rows(wheel, f"data/{name}/merged_record_ids.csv"))
        for record in row["merged_ids"].split(";")
    }
    ids = [row["ID"] for row in rows]
    kept = [(i, text, sets.get(i, i)) for i, text in zip(ids, texts, strict=True) if text.strip()]
    own, texts, named = (list(column) for column in zip(*kept, strict=True))
    write_documents(folder / f"{name}.parquet", own, texts, named)


def _rows(wheel: zipfile.ZipFile, name: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(wheel.read(name).decode("utf-8"), newline=""))
