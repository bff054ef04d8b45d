"""Audits find all that was planted, and nothing in clean data."""

from __future__ import annotations

import csv
import itertools
import json
import random
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly.errors import InputError, InputMissing, OutputExists, SettingsError, TooManyPairs

VOCABULARY = [a + b + c + d for a in "bdfgkp" for b in "aeiou" for c in "lmnrs" for d in ("ton", "ia", "ver", "sk")]


def text_of(dice: random.Random, words: int = 120) -> str:
    return " ".join(dice.choices(VOCABULARY, k=words))


def edited(text: str, dice: random.Random, words: int = 1) -> str:
    listed = text.split()
    for at in dice.sample(range(len(listed)), words):
        listed[at] = "edited"
    return " ".join(listed)


def write(path: Path, **columns: list[object]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def collection() -> dict[str, str]:
    """Sixty different documents, and a near-copy of each of the first twenty."""
    dice = random.Random(8)
    texts = {f"d{i:02}": text_of(dice) for i in range(60)}
    return texts | {f"d{i:02}+": edited(texts[f"d{i:02}"], dice) for i in range(20)} | {"e1": "", "e2": ""}


def test_judgments_that_disagree(collection: dict[str, str], tmp_path: Path) -> None:
    documents = write(tmp_path / "docs.parquet", id=list(collection), text=list(collection.values()))
    judged = {
        ("301", "d00"): 1, ("301", "d00+"): 0,  # differs
        ("301", "d01"): 1, ("301", "d01+"): 1,  # agree
        ("301", "d02+"): 2,  # its duplicate was not judged
        ("302", "d02"): 0,  # not relevant, not judged: nothing is lost
        ("302", "d03"): 1, ("302", "d03+"): 2,  # grade
        ("302", "d04"): 0, ("302", "d04+"): 1,  # differs
        ("302", "d05"): 0, ("302", "d05+"): -1,  # both are not relevant
        ("303", "d00"): 1,  # unjudged
        ("303", "d40"): 1, ("303", "d41"): 0,  # different documents
        ("303", "e1"): 1, ("303", "e2"): 0, ("303", "elsewhere"): 1,
    }  # fmt: skip
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{topic} 0 {doc} {value}\n" for (topic, doc), value in judged.items()))
    found = roughly.audit_qrels(qrels, documents)
    rows = [tuple(row.values())[:6] for row in found.findings.to_pylist()]
    assert rows == [
        ("301", "differs", "d00", 1, "d00+", 0), ("301", "unjudged", "d02", None, "d02+", 2),
        ("302", "grade", "d03", 1, "d03+", 2), ("302", "differs", "d04", 0, "d04+", 1),
        ("303", "unjudged", "d00", 1, "d00+", None),
    ]  # fmt: skip
    assert found.unknown == ["elsewhere"] and found.counts["differs"] == 2 and found.counts["topics_touched"] == 3
    assert all(row["resemblance"] >= 0.9 for row in found.findings.to_pylist())


def test_planted_judgments_all_found_and_none_in_clean_data(tmp_path: Path) -> None:
    dice = random.Random(21)
    texts = {f"d{i:03}": text_of(dice) for i in range(300)}
    copies = {f"{name}x": edited(text, dice) for name, text in list(texts.items())[:100]}
    documents = write(tmp_path / "docs.parquet", id=[*texts, *copies], text=[*texts.values(), *copies.values()])
    planted, lines = set(), []
    for topic, name in itertools.product(range(5), texts):
        if dice.random() < 0.5:
            continue
        value = dice.choice([0, 0, 1])
        lines.append(f"{topic} 0 {name} {value}\n")
        if f"{name}x" in copies:
            other = dice.choice([0, 1])
            lines.append(f"{topic} 0 {name}x {other}\n")
            if other != value:
                planted.add((str(topic), name, f"{name}x"))
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(lines))
    found = roughly.audit_qrels(qrels, documents).findings.to_pylist()
    assert {(row["topic"], row["left_id"], row["right_id"]) for row in found} == planted and len(planted) > 50
    assert {row["kind"] for row in found} == {"differs"}
    clean = write(tmp_path / "clean.parquet", id=list(texts), text=list(texts.values()))
    assert len(roughly.audit_qrels(qrels, clean)) == 0


def test_labels_that_disagree(collection: dict[str, str], tmp_path: Path) -> None:
    labels: list[object] = ["spam" if name.endswith("+") else "ham" for name in collection]
    wrong = {f"d{i:02}" for i in range(20)}
    names = list(collection)
    labels[names.index("d03+")] = None
    labels[names.index("d04")] = "spam"
    source = write(tmp_path / "in.parquet", id=names, text=list(collection.values()), label=labels)
    found = roughly.audit_labels(source, "label")
    seen = {(row["left_id"], row["right_id"]) for row in found.findings.to_pylist()}
    assert seen == {(name, f"{name}+") for name in wrong - {"d03", "d04"}}
    assert found.counts["labels_that_meet"] == {"ham / spam": 18} and found.counts["unlabelled"] == 1
    clean = write(tmp_path / "clean.parquet", id=names, text=list(collection.values()), label=["ham"] * len(names))
    assert len(roughly.audit_labels(clean, "label")) == 0
    with pytest.raises(InputError, match="colour"):
        roughly.audit_labels(source, "colour")
    (tmp_path / "a.txt").write_text("one")
    with pytest.raises(InputError, match="is text, which has no columns"):
        roughly.audit_labels(tmp_path / "a.txt", "label")


def test_leaks_whole_and_in_part(tmp_path: Path) -> None:
    dice = random.Random(5)
    train = {f"n{i}": text_of(dice, 300) for i in range(80)}
    test = {f"n{i}": text_of(dice, 200) for i in range(40)}  # the same ids: other documents
    train["copied"] = test["n0"]  # whole, word for word
    train["near"] = edited(test["n1"], dice, 3)  # whole, edited
    train["long"] = f"{text_of(dice, 400)} {test['n2']} {text_of(dice, 300)}"  # whole, inside a longer one
    passage = text_of(dice, 90)
    test["quotes"] = f"{text_of(dice, 200)} {passage} {text_of(dice, 200)}"
    train["short"] = passage  # a training document inside a test document
    train["empty"], test["empty"] = "", ""
    test["brief"] = train["n7"][:20]
    paths = [
        write(tmp_path / f"{name}.parquet", id=list(texts), text=list(texts.values()))
        for name, texts in (("train", train), ("test", test))
    ]
    found = roughly.audit_leaks(*paths)
    rows = {(row["test_id"], row["train_id"]): row for row in found.findings.to_pylist()}
    assert {pair: row["kind"] for pair, row in rows.items()} == {
        ("n0", "copied"): "whole", ("n1", "near"): "whole", ("n2", "long"): "whole", ("quotes", "short"): "part",
    }  # fmt: skip
    assert rows["n0", "copied"]["resemblance"] == 1.0
    (quoted,) = rows["quotes", "short"]["passages"]
    assert quoted["words"] == 90 and test["quotes"][quoted["test_start"] : quoted["test_end"]] == passage
    assert train["short"][quoted["train_start"] : quoted["train_end"]] == passage
    assert passage.startswith(quoted["text"]) and found.counts["test_documents_touched"] == 4
    assert found.counts["train_documents"] == 85 and found.counts["test_documents"] == 43
    few = roughly.audit_leaks(*paths, passages=1).findings["passages"].to_pylist()
    assert few[0] is not None and few[1:] == [None] * 3
    clean = write(tmp_path / "clean.parquet", id=["x", "y"], text=[text_of(dice), text_of(dice)])
    assert len(roughly.audit_leaks(paths[0], clean)) == 0


def test_duplicates_within_one_side_are_no_leaks(tmp_path: Path) -> None:
    dice = random.Random(6)
    same = text_of(dice)
    train = write(tmp_path / "train.parquet", id=["a", "b", "c"], text=[same, same, edited(same, dice)])
    test = write(tmp_path / "test.parquet", id=["t", "u", "v"], text=[text_of(dice), same, text_of(dice)])
    found = roughly.audit_leaks(train, test).findings.to_pylist()
    assert [(row["test_id"], row["train_id"]) for row in found] == [("u", "a"), ("u", "b"), ("u", "c")]


def test_judgments_by_the_groups_of_any_run(collection: dict[str, str], tmp_path: Path) -> None:
    documents = write(tmp_path / "docs.parquet", id=list(collection), text=list(collection.values()))
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("301 0 d00 1\n301 0 d00+ 0\n302 0 d01+ 1\n303 0 d40 1\n303 0 d41 0\n")
    exact = roughly.audit_qrels(qrels, documents)
    for options in ({}, {"preset": "imatch-2002"}, {"method": "super-shingles"}):
        roughly.dedupe(documents, output=tmp_path / "run", overwrite=True, **options)
        grouped = roughly.audit_qrels(qrels, run=tmp_path / "run")
        table = pq.read_table(tmp_path / "run" / "documents.parquet").to_pylist()
        owners: dict[str, set[str]] = {}
        for row in table:
            owners.setdefault(row["cluster_id"], set()).add(row["doc_id"])
        together = [pair for pair in (("d00", "d00+"), ("d01", "d01+")) if any(set(pair) <= o for o in owners.values())]
        assert [(row["left_id"], row["right_id"]) for row in grouped.findings.to_pylist()] == together
        assert all(row["resemblance"] is None for row in grouped.findings.to_pylist())
    roughly.dedupe(documents, output=tmp_path / "run", overwrite=True)
    grouped = roughly.audit_qrels(qrels, run=tmp_path / "run")
    names = ("topic", "kind", "left_id", "right_id")
    assert grouped.findings.select(names) == exact.findings.select(names) and len(exact) == 2
    pairs = write(tmp_path / "pairs.parquet", left_id=["d00", "d40"], right_id=["d00+", "d41"], same=["yes", "no"])
    assert roughly.audit_qrels(qrels, run=pairs).findings["kind"].to_pylist() == ["differs"]
    done = run_roughly("audit", "qrels", str(qrels), "--run", str(tmp_path / "run"))
    assert done.returncode == 0 and "differs: 1" in done.stdout and "unjudged: 1" in done.stdout
    with pytest.raises(SettingsError, match="give either the documents"):
        roughly.audit_qrels(qrels)
    with pytest.raises(TooManyPairs, match="make more than 1 pairs with judged documents"):
        roughly.audit_qrels(qrels, run=tmp_path / "run", pairs_limit=1)


def test_files_and_what_is_refused(collection: dict[str, str], tmp_path: Path) -> None:
    documents = write(tmp_path / "docs.parquet", id=list(collection), text=list(collection.values()))
    qrels = tmp_path / "qrels.txt"
    for text, says in (
        ("301 0 d00\n", "line 1: 3 fields"),
        ("301 0 d00 1\n301 0 d01 yes\n", "line 2: relevance 'yes'"),
        ("301 0 d00 1\n301 0 d00 0\n", "line 2: d00 was judged 1 for topic 301 before, and 0 here"),
        ("301 0 zz 1\n", "judges none of the documents"),
    ):
        qrels.write_text(text)
        with pytest.raises(InputError, match=says):
            roughly.audit_qrels(qrels, documents)
    qrels.write_text("\n")
    with pytest.raises(InputMissing, match="has no judgment"):
        roughly.audit_qrels(qrels, documents)
    with pytest.raises(InputMissing, match="does not exist"):
        roughly.audit_qrels(tmp_path / "none.txt", documents)
    qrels.write_text("301 0 d00 1\n301 0 d00+ 0\n")
    found = roughly.audit_qrels(qrels, documents)
    found.write(tmp_path / "out")
    with (tmp_path / "out" / "findings.csv").open() as stream:
        assert [row["kind"] for row in csv.DictReader(stream)] == ["differs"]
    assert json.loads((tmp_path / "out" / "findings.json").read_text())["found"] == found.findings.to_pylist()
    with pytest.raises(OutputExists, match="exists; name another"):
        found.write(tmp_path / "out")


def test_the_commands(collection: dict[str, str], tmp_path: Path) -> None:
    documents = write(
        tmp_path / "docs.parquet", id=list(collection), text=list(collection.values()),
        label=["x" if name.endswith("+") else "y" for name in collection],
    )  # fmt: skip
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("301 0 d00 1\n301 0 d00+ 0\n")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_roughly("audit", *arguments)

    done = run("qrels", str(qrels), "--documents", str(documents), "-o", str(tmp_path / "q"))
    assert done.returncode == 0 and "differs: 1" in done.stdout and (tmp_path / "q" / "findings.csv").exists()
    done = run("labels", str(documents), "--label", "label", "--json", "--fail")
    assert done.returncode == 3 and json.loads(done.stdout)["findings"] == 20
    done = run("leaks", "--train", str(documents), "--test", str(documents))
    assert done.returncode == 0 and "test documents whole: 80" in done.stdout
