"""Real texts in the report: newswire, Chinese law, Arabic books."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from filled_report import filled, read_page

from roughly.report import PairSample
from roughly.report.visible import flow
from roughly.verify import word_diff


def texts(path: Path) -> dict[str, str]:
    table = pq.read_table(path, columns=["id", "text"])
    return dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))


@pytest.mark.corpora
def test_newswire_on_both_sides_of_the_threshold(corpora: Path) -> None:
    documents = texts(corpora / "reuters21578.parquet")
    with (corpora / "reuters21578_pairs_w4.csv").open(newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: float(row["jaccard_w4"]))
    samples = [
        PairSample(
            row["id_a"],
            row["id_b"],
            documents[row["id_a"]],
            documents[row["id_b"]],
            float(row["jaccard_w4"]),
            float(row["containment_w4"]),
            float(row["containment_w4"]),
        )
        for row in rows
    ]
    above = [pair for pair in samples if pair.resemblance >= 0.8][:10]
    below = [pair for pair in samples if pair.resemblance < 0.8][-10:]
    page = read_page(filled(above=above, below=below))
    for pair in above:
        assert pair.left_id in page.sections["above"]
    shown = "".join(page.elements["del"] + page.elements["ins"])
    first = word_diff(below[-1].left_text, below[-1].right_text, None)
    changed = [segment.text.split()[0] for segment in first if segment.kind in ("delete", "insert")]
    assert changed and all(word in shown for word in changed)


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["laws_zh", "openiti_ar", "aozora_ja"])
def test_other_scripts_are_shown_as_they_are(name: str, corpora: Path) -> None:
    (doc_id, text), *_ = texts(corpora / "multilingual" / f"{name}.parquet").items()
    changed = text[:300] + text[340:]
    page = read_page(
        filled(largest=[(doc_id, 3, 0.9, 0.9, text)], above=[PairSample(doc_id, "b", text, changed, 0.9, 0.9, 1.0)])
    )
    opening = " ".join(text.split())[:20]
    assert opening.split()[0] in page.sections["clusters"]
    assert any(part.strip() and part.strip() in flow(text) for part in page.elements["del"][1:])
