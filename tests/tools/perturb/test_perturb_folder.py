"""`roughly perturb` writes what it says: documents, exact labels, the same bytes for the same seed."""

from __future__ import annotations

import csv
import hashlib
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly.errors import OutputExists, SettingsError
from roughly.tools.perturb.copy_kinds import KINDS


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dice = random.Random(3)
    listed = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("ton", "ris", "lum", "ver")]
    texts = [". ".join(" ".join(dice.choices(listed, k=9)) for _ in range(12)) + "." for _ in range(20)]
    path = tmp_path_factory.mktemp("source") / "in.parquet"
    pq.write_table(pa.table({"id": [f"d{i}" for i in range(20)], "text": texts}), path)
    return path


def digests(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


def test_documents_and_labels(source: Path, tmp_path: Path) -> None:
    done = roughly.perturb(source, output=tmp_path / "out", kinds="all", alpha=8, copies=2, documents=6)
    table = pq.read_table(tmp_path / "out" / "documents.parquet")
    texts = dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
    assert len(texts) == table.num_rows == 20 + 6 * 2 * len(KINDS) == done.originals + done.copies
    with (tmp_path / "out" / "pairs.csv").open(encoding="utf-8") as stream:
        labels = list(csv.DictReader(stream))
    assert len(labels) == done.copies
    for row in labels:
        scores = roughly.compare(texts[row["left_id"]], texts[row["right_id"]]).scores
        assert (float(row["resemblance"]), float(row["containment"]), float(row["contained_in"])) == (
            scores.resemblance, scores.containment, scores.contained_in
        )  # fmt: skip
        assert row["same"] == ("same" if KINDS[row["kind"]].same else "different")
    sets = dict(zip(table["id"].to_pylist(), table["cluster"].to_pylist(), strict=True))
    for name, source_id, kind, told in zip(
        *(table[n].to_pylist() for n in ("id", "source_id", "kind", "parameters")), strict=True
    ):
        duplicate = kind == "original" or KINDS[kind].same
        assert sets[name] == (source_id if duplicate else name)
        assert kind == "original" or json.loads(told)["alpha"] == 8


def test_the_same_seed_the_same_bytes(source: Path, tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        roughly.perturb(
            source, output=tmp_path / name, kinds=["ocr", "words"], seed=seed, format="jsonl", originals=False
        )
    assert digests(tmp_path / "a") == digests(tmp_path / "b") != digests(tmp_path / "c")
    first = json.loads((tmp_path / "a" / "documents.jsonl").read_text().splitlines()[0])
    assert first["id"] == "d0+ocr1" and first["source_id"] == "d0"
    with pytest.raises(OutputExists):
        roughly.perturb(source, output=tmp_path / "a")
    with pytest.raises(SettingsError, match="format must be one of parquet, jsonl"):
        roughly.perturb(source, output=tmp_path / "d", format="xml")


def test_what_was_made_is_found_again(source: Path, tmp_path: Path) -> None:
    """The whole road: perturb, dedupe, evaluate."""
    roughly.perturb(source, output=tmp_path / "made", kinds=["substituted", "template"], alpha=9.3)
    roughly.dedupe(paths=[tmp_path / "made" / "documents.parquet"], output=tmp_path / "run", threshold=0.75)
    figures = roughly.evaluate(tmp_path / "run", tmp_path / "made" / "documents.parquet").figures
    assert figures.pairs.true == 20 and figures.pairs.precision == 1.0 and (figures.pairs.recall or 0) > 0.9


def test_the_command(source: Path, tmp_path: Path) -> None:
    done = run_roughly("perturb", source, "-o", tmp_path / "out", "--kind", "ocr,copy", "--seed", 2)
    assert done.returncode == 0 and "mean resemblance" in done.stdout and "20 originals, 40 copies" in done.stdout
    wrong = run_roughly("perturb", source, "-o", tmp_path / "x", "--kind", "fog")
    assert wrong.returncode == 2 and "kind must be one of" in wrong.stderr
