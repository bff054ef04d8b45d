"""A text of several columns, from the outside: the answers are those for documents whose text was joined before."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import roughly
from roughly.cli.app import app
from roughly.errors import InputError, SettingsError
from roughly.job.document_texts import Place
from roughly.job.rereading import Input

JOINED = {"text_column": "title,text"}


def rows() -> list[dict[str, Any]]:
    """Bodies of few words and titles of many: pairs are near-duplicates by both together."""
    chance = random.Random(5)
    made: list[dict[str, Any]] = []
    for number in range(60):
        title, body = ([chance.choice("abcdefghijkl") + str(chance.randrange(99)) for _ in range(n)] for n in (12, 20))
        for copy in range(chance.choice([1, 2, 3])):
            words = [*body]
            words[chance.randrange(20)] = f"new{copy}"
            made.append({"id": f"{number}-{copy}", "title": " ".join(title), "text": " ".join(words), "set": number})
    made[3]["title"] = None
    del made[8]["text"]
    return made


def before(listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**row, "text": "\n".join(part for part in (row["title"], row.get("text")) if part)} for row in listed
    ]  # fmt: skip


def written(path: Path, listed: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")
    return path


def answer(folder: Path) -> list[dict[str, Any]]:
    return pq.read_table(folder / "documents.parquet").to_pylist()


def invoke(*arguments: object) -> str:
    found = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """(Documents of two columns, the same with joined texts)."""
    return written(tmp_path / "two.jsonl", rows()), written(tmp_path / "one.jsonl", before(rows()))


def test_a_run_answers_as_for_texts_that_were_joined_before(files: tuple[Path, Path], tmp_path: Path) -> None:
    two, one = files
    invoke("dedupe", two, "-o", tmp_path / "a", "--text-column", "title,text", "--threshold", 0.6)
    invoke("dedupe", one, "-o", tmp_path / "b", "--threshold", 0.6)
    assert answer(tmp_path / "a") == answer(tmp_path / "b")
    pairs = [pq.read_table(tmp_path / name / "pairs.parquet") for name in "ab"]
    assert pairs[0].equals(pairs[1]) and len(pairs[0]) > 20
    kept = [json.loads(line) for line in (tmp_path / "a" / "kept" / "two.jsonl").read_text().splitlines()]
    assert all(row in rows() for row in kept)  # the columns are as they were


def test_every_object_gives_the_same_answer(files: tuple[Path, Path]) -> None:
    wanted = roughly.dedupe(files[1], threshold=0.6).kept_ids
    listed = rows()
    for data in (files[0], listed, iter(listed), pa.Table.from_pylist(listed)):
        assert roughly.dedupe(data, threshold=0.6, **JOINED).kept_ids == wanted


def test_texts_are_joined_when_they_are_read_again(files: tuple[Path, Path], tmp_path: Path) -> None:
    roughly.dedupe(files[0], output=tmp_path / "a", threshold=0.6, **JOINED)
    run = json.loads((tmp_path / "a" / "run.json").read_text())
    source = Input(tmp_path / "a", run, None)
    places: list[Place] = [(0, 0), (0, 3), (0, 8)]
    found = source.records(places)
    source.close()
    assert [found[place].text for place in places] == [before(rows())[row]["text"] for row in (0, 3, 8)]


def test_an_index_stores_the_joined_text(files: tuple[Path, Path], tmp_path: Path) -> None:
    index = tmp_path / "a.idx"
    invoke("index", "create", index, "--threshold", 0.6)
    invoke("index", "add", index, files[0], "--text-column", "title,text")
    first = before(rows())[0]["text"]
    with roughly.Index.open(index) as opened:
        assert opened.query(first)[0].resemblance == 1


def test_results_are_grouped_by_the_joined_text(files: tuple[Path, Path], tmp_path: Path) -> None:
    def groups(*arguments: object) -> list[tuple[str, list[str]]]:
        found = json.loads(invoke("group", *arguments, "--threshold", 0.6, "--json"))["groups"]
        return [(one["shown"]["doc_id"], [other["doc_id"] for other in one["duplicates"]]) for one in found]

    two, one = files
    wanted = groups(one)
    assert groups(two, "--text-column", "title,text") == wanted
    assert sum(len(duplicates) for _, duplicates in wanted) > 20
    assert groups(written(tmp_path / "text.jsonl", [row | {"title": ""} for row in before(rows())])) == wanted
    alone = groups(written(tmp_path / "alone.jsonl", [row for row in rows() if "text" in row]))
    assert sum(len(duplicates) for _, duplicates in alone) < 10  # titles make the difference
    best = tmp_path / "best.toml"
    best.write_text('threshold = 0.6\ntext_column = "title,text"\n')
    found = json.loads(invoke("group", two, "--settings", best, "--json"))["groups"]
    assert [group["shown"]["doc_id"] for group in found] == [shown for shown, _ in wanted]


def test_texts_that_are_changed_in_place_need_one_column(files: tuple[Path, Path], tmp_path: Path) -> None:
    assert len(roughly.passages(files[0], least=8, **JOINED).spans) > 0
    for do in ("remove", "mark"):
        with pytest.raises(InputError, match=r"two\.jsonl: the text is joined from the columns title and text, so it"):
            roughly.passages(files[0], output=tmp_path / do, do=do, least=8, **JOINED)


def test_settings_files_name_the_columns(files: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "best.toml"
    file.write_text('threshold = 0.6\ntext_column = "title,text"\n')
    wanted = roughly.dedupe(files[1], threshold=0.6).kept_ids
    assert roughly.dedupe(files[0], settings=file).kept_ids == wanted
    invoke("dedupe", files[0], "-o", tmp_path / "a", "--settings", file)
    assert [row["doc_id"] for row in answer(tmp_path / "a") if row["kept"]] == wanted
    typed = roughly.dedupe(files[0], settings=file, text_column="id").kept_ids
    assert typed == roughly.dedupe(files[0], threshold=0.6, text_column="id").kept_ids != wanted
    invoke("sign", files[0], "--settings", file, "-o", tmp_path / "a.parquet")
    invoke("sign", files[1], "--threshold", 0.6, "--method", "minhash", "-o", tmp_path / "b.parquet")
    signed = [pq.read_table(tmp_path / f"{name}.parquet") for name in "ab"]
    assert signed[0].equals(signed[1])
    for wrong, said in (
        ("text_column = 5", "text_column must be the name of a column, not 5"),
        ('features = "title"\ntext_column = "text"', "features are compared instead of a text; leave text_column out"),
        ('verdict = "probability=0.5 prior=1 colour=1/0"', "verdict: unknown comparison 'colour'"),
    ):
        file.write_text(wrong)
        with pytest.raises(SettingsError, match=rf"best\.toml: {said}"):
            invoke("dedupe", files[0], "-o", tmp_path / "b", "--settings", file)


def test_tune_tries_titles_and_says_so(tmp_path: Path) -> None:
    chance = random.Random(3)
    listed = []
    for number in range(40):
        title = [f"t{chance.randrange(3000)}" for _ in range(5)]
        for copy in range(3):  # only titles tell the sets apart
            body = [f"w{chance.randrange(40)}" for _ in range(15)]
            listed.append({"id": f"{number}-{copy}", "title": " ".join(title), "text": " ".join(body), "set": number})
    path = written(tmp_path / "in.jsonl", listed)
    out = invoke("tune", path, "--label-column", "set", "--methods", "minhash", "-o", tmp_path / "best.toml")
    assert "text_column=title,text" in out.split("recommended")[-1]
    assert 'text_column = "title,text"' in (tmp_path / "best.toml").read_text()
    found = roughly.dedupe(path, settings=tmp_path / "best.toml")
    assert len(found.kept_ids) < 60
    learned = roughly.tune(paths=[path], label_column="set", methods=["minhash"], learn=True).learned
    assert learned is not None and learned.tried.trial.values["text_column"] == "title,text"


@pytest.mark.parametrize("change", ["no title", "label", "number", "html", "named"])
def test_tune_leaves_titles_out_where_they_cannot_be_joined(change: str, tmp_path: Path) -> None:
    listed = [row | {"set": f"s{row['set']}"} for row in before(rows())]
    options: dict[str, Any] = {}
    for row in listed:
        if change == "no title":
            del row["title"]
        elif change == "label":
            row["title"], options["label_column"] = row["set"], "title"
        elif change == "number":
            row["title"] = 5
        elif change == "html":
            options["markup"] = "html"
        else:
            options["text_column"] = "text"
    found = roughly.tune(listed, **({"label_column": "set", "methods": ["minhash"]} | options))
    assert not any(one.trial.is_titled for one in found.tried)
