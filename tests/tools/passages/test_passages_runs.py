"""Whole runs of `roughly passages`: the command, test sets, resuming, bad input."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Literal

import passage_twins as twins
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly.console.run_estimate import PASSAGES
from roughly.errors import InputError, InputMissing, MemoryTooSmall, OutputExists, SettingsError
from roughly.job.rereading import Input
from roughly.meter import Stage
from roughly.tools.passages.api import PassagesPlace, run_passages
from roughly.tools.passages.request import PassagesRequest, PassagesRun

QUESTION = "Which of the following rivers flows through the largest number of different countries on its way to the sea"


def write(path: Path, texts: list[str], **more: object) -> Path:
    lines = [json.dumps({"id": f"{path.stem}{at}", "text": text, **more}) for at, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_command_says_what_is_repeated(tmp_path: Path) -> None:
    texts = [f"Page {at}, one of many. {QUESTION.upper() if at % 2 else QUESTION}? Number {at}." for at in range(5)]
    done = run_roughly("passages", write(tmp_path / "in.jsonl", texts), "-o", tmp_path / "out", "--least", 10)
    assert done.returncode == 0, done.stderr
    assert "5 ×    23 tokens in 5 documents: one of many. Which" in done.stdout
    assert "4 spans" in done.stdout
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["counts"]["documents_with_copies"] == 4
    assert run["counts"]["repeated_tokens"] == 5 * 23
    assert run["lengths"] == [{"from": 16, "below": 32, "copies": 4, "tokens": 4 * 23}]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Which of the following" in page and "<script" not in page
    assert "16 to 31 tokens" in page
    assert not (tmp_path / "out" / "kept").exists()
    again = run_roughly("passages", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--least", 10)
    assert again.returncode == 1 and "--overwrite" in again.stderr
    as_json = run_roughly(
        "passages", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--least", 10, "--overwrite", "--json", "--verbose"
    )
    assert json.loads(as_json.stdout)["counts"] == run["counts"]
    assert [line.split(":")[0] for line in as_json.stderr.splitlines()] == [
        "reading and signing", "grouping keys", "verifying pairs", "reading candidates", "writing verdicts",
    ]  # fmt: skip
    with closing(Input(tmp_path / "out", run)) as source:
        assert source.parts[0].reads_in_parse, "a document is found without reading the file from its beginning"


@pytest.mark.parametrize("unit", ["window", "sentence"])
def test_progress_of_the_longest_stage(tmp_path: Path, unit: Literal["window", "sentence"]) -> None:
    seen: dict[str, Stage] = {}

    class Listener:
        def started(self, stage: Stage) -> None:
            seen[stage.name] = stage

        def advanced(self, stage: Stage) -> None: ...

        def finished(self, stage: Stage) -> None: ...

    source = write(tmp_path / "in.jsonl", [f"{at}. {QUESTION}." for at in range(9)])
    run = PassagesRun(request=PassagesRequest(unit=unit, least=10))
    run_passages(None, [source], run, PassagesPlace(output=tmp_path / "out"), listener=Listener())
    assert list(seen) == [name for name in PASSAGES if name != "copy"]
    assert seen["group"].done == seen["group"].total > 0


def test_a_test_set_that_leaked(tmp_path: Path) -> None:
    train = write(
        tmp_path / "train.jsonl",
        [
            f"Some quiz: {QUESTION.lower()}? The answer follows.",
            "Nothing of it is here.",
            "Twice. " * 30,
            "Twice. " * 30,
        ],
    )
    test = write(
        tmp_path / "test.jsonl", [f"{QUESTION}?", "A question that nobody has seen so far, we hope.", "Short one"]
    )
    done = run_roughly("passages", train, "--against", test, "-o", tmp_path / "out", "--preset", "ngram-13")
    assert done.returncode == 3, done.stderr
    assert "1 of 3 occur in the input" in done.stdout
    assert "1 have fewer than 13 tokens" not in done.stdout  # two have: the second has ten
    items = pq.read_table(tmp_path / "out" / "items.parquet").to_pylist()
    assert items == [json.loads(line) for line in (tmp_path / "out" / "items.jsonl").read_text().splitlines()]
    assert [row["seen_tokens"] for row in items] == [19, 0, 0]
    assert [row["share"] for row in items] == [1, 0, 0]
    assert [row["documents"] for row in items] == [1, 0, 0]
    spans = [row for row in pq.read_table(tmp_path / "out" / "spans.parquet").to_pylist() if not row["kept"]]
    assert [(row["doc_id"], row["witness_id"], row["tokens"]) for row in spans] == [("train0", "test0", 19)]
    clean = write(tmp_path / "clean.jsonl", ["Not in there at all, whatever the window, since nobody wrote it before."])
    assert run_roughly("passages", train, "--against", clean, "-o", tmp_path / "none", "--least", 8).returncode == 0
    removed = roughly.passages(train, against=test, output=tmp_path / "removed", least=8, do="remove")
    kept = [json.loads(line)["text"] for line in (removed.folder / "kept" / "train.jsonl").read_text().splitlines()]
    assert kept == ["Some quiz: The answer follows.", "Nothing of it is here.", "Twice. " * 30, "Twice. " * 30]
    assert removed.leaked
    assert repr(removed) == "<PassagesResult: 4 documents, 1 span in 1 document, 1 of 3 test items seen>"
    assert not list((removed.folder / "kept").glob("test*"))


@pytest.mark.parametrize("least", [8, 13])
def test_shares_of_test_items_as_counted_one_by_one(least: int) -> None:
    documents = twins.collection(21, 9_000, words=500)
    draw = random.Random(21)
    half = len(documents) // 2
    train, test = documents[:half], documents[half:]
    result = roughly.passages(
        [twins.text_of(document, draw) for document in train],
        against=[twins.text_of(document, draw) for document in test],
        least=least,
    )
    grams = {tuple(document[at : at + least]) for document in train for at in range(len(document) - least + 1)}
    assert result.items is not None
    for document, row in zip(test, result.items.to_pylist(), strict=True):
        seen = [False] * len(document)
        for at in range(len(document) - least + 1):
            if tuple(document[at : at + least]) in grams:
                seen[at : at + least] = [True] * least
        assert row["seen_tokens"] == sum(seen)


def files(folder: Path) -> dict[str, bytes]:
    """All files of a result but its clock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


@pytest.mark.parametrize("artefact", ["read.done", "places.done", "runs.done", "spans.done"])
def test_killed_and_resumed(tmp_path: Path, artefact: str) -> None:
    draw = random.Random(4)
    texts = [twins.text_of(document, draw) for document in twins.collection(4, 150_000)]
    source = write(tmp_path / "in.jsonl", texts)
    options = ["passages", str(source), "--least", "20", "--do", "remove"]
    whole = run_roughly(*options, "-o", tmp_path / "whole", "--threads", 1)
    assert whole.returncode == 0, whole.stderr
    out = tmp_path / "out"
    process = subprocess.Popen([sys.executable, "-m", "roughly", *options, "-o", str(out)], stdout=subprocess.DEVNULL)
    marker = tmp_path / "out.partial" / "work" / artefact
    while process.poll() is None and not marker.exists():
        time.sleep(0.002)
    process.kill()
    process.wait()
    if out.exists():
        pytest.skip("the run was faster than the test")
    if artefact == "read.done":
        refused = run_roughly(*options, "-o", out)
        assert refused.returncode == 1 and "--resume" in refused.stderr
        other = run_roughly(*options[:-4], "--least", 21, "-o", out, "--resume")
        assert other.returncode == 1 and "least was 20 and is 21" in other.stderr
    resumed = run_roughly(*options, "-o", out, "--resume", "--threads", 3)
    assert resumed.returncode == 0, resumed.stderr
    stages = {stage["name"]: stage for stage in json.loads((out / "run.json").read_text())["stages"]}
    assert stages["read"]["reused"]
    assert stages["fetch"]["reused"] or artefact != "spans.done"
    assert files(out) == files(tmp_path / "whole")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least": 3}, "least must be a whole number from 4"),
        ({"unit": "word"}, "unit must be one of"),
        ({"do": "delete"}, "do must be one of"),
        ({"times": 1}, "times must be a whole number from 2"),
        ({"site_share": 1.5}, "site_share"),
        ({"keep": "best"}, "unknown keep rule"),
        ({"preset": "ngram-13", "least": 8}, "leave unit=… and least=… out"),
        ({"preset": "ngram-9"}, "preset must be one of"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        roughly.passages(["some text"], **options)


@pytest.mark.parametrize("options", [{"spark": object()}, {"engine": "spark"}, {}], ids=["spark", "engine", "frame"])
def test_there_is_no_spark_engine_yet(options: dict[str, object]) -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})()
    with pytest.raises(SettingsError, match="no Spark engine for them yet"):
        roughly.passages(["some text"] if options else frame, **options)


def test_all_problems_at_once() -> None:
    with pytest.raises(SettingsError) as raised:
        roughly.passages(["some text"], least=0, unit="x", times=0)
    assert len(raised.value.problems) == 3


def test_bad_inputs(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", ["some text"])
    with pytest.raises(SettingsError, match="both the input and the test set"):
        roughly.passages(source, against=tmp_path / ".." / tmp_path.name / "in.jsonl")
    for given, against in ((tmp_path, source), (source, tmp_path), (tmp_path / "*.jsonl", tmp_path)):
        with pytest.raises(SettingsError, match="both the input and the test set"):
            roughly.passages(paths=[given], against=against)
    texts = ["some text"]
    with pytest.raises(SettingsError, match="against is the input itself"):
        roughly.passages(texts, against=texts)
    for name in ("kept.jsonl", "kept.csv.gz", "-"):
        with pytest.raises(SettingsError, match="writes a folder"):
            roughly.passages(source, output=name)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputMissing, match="test set"):
        roughly.passages(source, against=tmp_path / "empty.jsonl")
    with pytest.raises(InputMissing, match="no documents"):
        roughly.passages(tmp_path / "empty.jsonl")
    with pytest.raises(InputError, match="occur more than once, such as 'a'"):
        roughly.passages(pa.table({"id": ["a", "a"], "text": ["x", "y"]}))
    with pytest.raises(MemoryTooSmall):
        roughly.passages(["x"], memory="100MB")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(OutputExists, match="not a run of roughly"):
        roughly.passages(source, output=tmp_path / "out")
    assert not list(tmp_path.glob("out.partial"))


def test_a_memory_that_is_too_small_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.tools.passages import document_facts

    monkeypatch.setattr(document_facts, "_HELD", 1 << 30)
    with pytest.raises(MemoryTooSmall, match=r"3 documents or more take 3072MB of memory; 6529MB is the minimum"):
        roughly.passages(["one two three four five", "One two three four five!", "none of it"], least=5)


@pytest.mark.parametrize("unit", ["window", "line", "sentence", "paragraph"])
def test_texts_without_words(unit: str) -> None:
    result = roughly.passages(["", "  \n\n ", "...", "one", ""], unit=unit, do="remove")
    assert result.spans.num_rows == 0
    assert result.texts()["text"].to_pylist() == ["", "  \n\n ", "...", "one", ""]


def test_rejected_records_are_in_quarantine(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"id": "a", "text": "fine"}\n{"id": "b", "text": "\xff\xfe"}\n')
    done = run_roughly("passages", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--do", "remove")
    assert done.returncode == 3
    assert (tmp_path / "out" / "quarantine.jsonl").read_text().count("\n") == 1
    assert (tmp_path / "out" / "kept" / "in.jsonl").read_bytes() == b'{"id": "a", "text": "fine"}\n'


@pytest.mark.parametrize("unit", ["window", "line"])
def test_records_that_are_all_rejected(unit: str, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'{"id": "b", "text": "\xff\xfe"}\n')
    done = run_roughly("passages", tmp_path / "in.jsonl", "-o", tmp_path / "out", "--do", "remove", "--unit", unit)
    assert done.returncode == 3, done.stderr
    assert (tmp_path / "out" / "quarantine.jsonl").read_text().count("\n") == 1
    assert pq.read_table(tmp_path / "out" / "spans.parquet").num_rows == 0


def test_many_parts(tmp_path: Path) -> None:
    draw = random.Random(9)
    texts = [twins.text_of(document, draw) for document in twins.collection(9, 10_000)]
    one = write(tmp_path / "doc.jsonl", texts)
    folder = tmp_path / "many"
    folder.mkdir()
    for at, line in enumerate(one.read_text(encoding="utf-8").splitlines(keepends=True)):
        (folder / f"{at:04}.jsonl").write_text(line, encoding="utf-8")
    single, several = (roughly.passages(source, least=10, do="remove") for source in (one, folder))
    assert single.spans.equals(several.spans)
    assert single.texts().equals(several.texts())
    assert len(list((several.folder / "kept").rglob("*.jsonl"))) == len(texts)


def test_boilerplate_costs_linear_time() -> None:
    """A page of boilerplate in n documents: the number of places is linear, and so is the work."""
    boilerplate = " ".join(f"term{at}" for at in range(120))
    counted = []
    for count in (200, 2_000):
        result = roughly.passages([f"own{at} {boilerplate} end{at}" for at in range(count)], least=50)
        counted.append(result.summary["counts"]["spans"])
        assert result.passages.to_pylist()[0]["places"] == count
        assert result.passages.num_rows == 1
    assert counted == [199, 1_999]
