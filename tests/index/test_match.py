"""`roughly match` and `roughly.match`: verdicts, learning, taking back, windows, exit codes, an open pipe."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import roughly
from commands import run_roughly
from roughly import Index, Settings
from roughly.cli.app import app
from roughly.errors import SettingsError
from roughly.index.stream import MatchRequest, answer
from stream_texts import edited, mail, mbox, prose

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def index(tmp_path: Path) -> Index:
    index = Index.create(tmp_path / "known.db", Settings(threshold=0.7))
    index.add([{"doc_id": f"k{n}", "text": prose(n), "date": f"2024-0{n + 1}-01"} for n in range(3)])
    return index


def document(doc_id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"doc_id": doc_id, "text": text, **more}


def test_verdict_match_and_score(index: Index) -> None:
    like = edited(prose(1), 1)
    known, new = roughly.match(index, [document("a", like), document("b", prose(9))])
    assert (known.verdict, known.match and known.match.doc_id) == ("known", "k1")
    assert known.score == pytest.approx(roughly.resemblance(like, prose(1)))
    assert (new.verdict, new.match, new.score) == ("new", None, None)
    assert index.stats().documents == 3, "asking changes nothing"
    (one,) = roughly.match(index, document("x", prose(2)))
    assert one.verdict == "known" and one.score == 1


def test_each_is_answered_before_the_next_is_asked_for(index: Index) -> None:
    asked: list[int] = []

    def documents() -> Any:
        for number in range(3):
            asked.append(number)
            yield document(str(number), prose(number))

    for number, _ in enumerate(roughly.match(index, documents())):
        assert asked == list(range(number + 1))


def test_what_is_learnt_is_known_from_then_on(index: Index) -> None:
    stream = [
        document("a", prose(9)),
        document("b", edited(prose(9), 1)),
        document("a", prose(9)),
        document("c", prose(8)),
    ]
    answers = list(roughly.match(index, stream, add=True))
    assert [(a.verdict, a.match and a.match.doc_id, a.status) for a in answers] == [
        ("new", None, "added"), ("known", "a", "added"), ("known", "a", "unchanged"), ("new", None, "added")
    ]  # fmt: skip
    assert index.stats().documents == 6


def test_a_document_that_changes_is_known_by_what_it_was(index: Index) -> None:
    told = [("r", document("k1", prose(1), source="elsewhere")), ("r", document("k1", edited(prose(1), 1)))]
    answers = answer(index, [*told, ("r", document("k1", prose(30)))], MatchRequest(add=True))
    assert [(one.verdict, one.status) for one in answers] == [
        ("known", "updated"),
        ("known", "updated"),
        ("new", "updated"),
    ]


def test_those_that_come_together_are_answered_as_one_by_one(tmp_path: Path) -> None:
    texts = [prose(n % 4) if n % 3 else edited(prose(n % 4), n) for n in range(24)]
    stream = [document(f"d{n % 20}", text) for n, text in enumerate(texts)]
    found = []
    for name, step in (("one", 1), ("all", len(stream))):
        with Index.create(tmp_path / f"{name}.db", Settings(threshold=0.7)) as index:
            told = [
                one
                for at in range(0, len(stream), step)
                for one in answer(index, [("r", row) for row in stream[at : at + step]], MatchRequest(add=True))
            ]
            found.append([(one.verdict, one.status, one.match and one.match.resemblance) for one in told])
    assert found[0] == found[1]
    assert {verdict for verdict, *_ in found[0]} == {"known", "new"}


def test_where_dates_decide_a_later_copy_does_not_hide_an_earlier_one(tmp_path: Path) -> None:
    """In the bundled news a story of March is printed again in June: then its text has two dates."""
    rows = [json.loads(line) for line in (EXAMPLES / "news.jsonl").read_text(encoding="utf-8").splitlines()]
    with Index.create(tmp_path / "news.db", Settings(method="term-vector")) as index:
        assert index.config.judge.dates == 42
        told = answer(index, [(row["id"], row) for row in rows], MatchRequest(add=True))
    known = {one.doc_id: one.match.doc_id for one in told if one.match}
    assert known == {"times-1": "wire-1", "herald-1": "wire-2", "mail-1": "wire-3", "times-2": "wire-1"}
    with Index.create(tmp_path / "window.db", Settings(method="term-vector", options={"dates": "none"})) as index:
        told = answer(index, [(row["id"], row) for row in rows], MatchRequest(add=True, window=42))
        assert {one.doc_id: one.match.doc_id for one in told if one.match} == {
            name: match for name, match in known.items() if name != "times-2"
        }
        again = {**rows[2], "id": "again", "date": "2024-03-20"}
        assert next(roughly.match(index, again, window=42)).verdict == "known", (
            "a window is one of documents, not texts"
        )


def test_revoking_takes_back_all_that_makes_a_document_known_for_good(index: Index) -> None:
    index.add([document("k1b", edited(prose(1), 5))])
    mistake = document("m", edited(prose(1), 6))
    (taken,) = roughly.match(index, mistake, revoke=True)
    assert (taken.verdict, taken.revoked) == ("revoked", ("k1", "k1b"))
    assert next(roughly.match(index, mistake)).verdict == "new"
    assert next(roughly.match(index, document("again", prose(1)), add=True)).verdict == "new", (
        "learnt again, it stays revoked"
    )
    assert next(roughly.match(index, mistake)).verdict == "new"
    assert next(roughly.match(index, mistake, revoke=True)).verdict == "new", "there is nothing left to take back"
    assert next(roughly.match(index, document("o", prose(2)))).verdict == "known"


def test_windows_minimum_and_measure(index: Index) -> None:
    def verdict(date: str | None, **asked: Any) -> str:
        return next(roughly.match(index, document("a", edited(prose(1), 1), date=date), **asked)).verdict

    assert verdict("2024-02-20", window=42) == "known" and verdict("2024-06-01", window=42) == "new"
    assert verdict("2023-12-25", window=42) == "known", "a window has two sides"
    assert verdict(None, window=42) == "new", "without a date a document is of today"
    assert verdict(None, minimum=0.5) == "known" and verdict(None, minimum=0.99) == "new"
    assert verdict(None, minimum=0.5, measure="containment") == "known"
    assert verdict("2024-06-01", window=42, add=True) == "new" and index.get("a") is not None
    longer = document("a", f"{prose(2)} {prose(7, 20)}")
    (one,) = roughly.match(index, longer, measure="contained_in")
    assert one.score == one.match.contained_in == 1  # type: ignore[union-attr]
    with pytest.raises(SettingsError) as problem:
        roughly.match(index, [], add=True, revoke=True, window=-1, minimum=3, measure="cosine")
    assert len(problem.value.problems) == 4


def test_bad_documents_never_stop_a_stream(index: Index) -> None:
    stream: list[Any] = [
        {"text": prose(1)},
        {"doc_id": "a"},
        7,
        document("b", "half \ud800"),
        document("x" * 9999, "y"),
    ]
    answers = list(roughly.match(index, [*stream, document("a\0b", "y"), document("c", prose(1))], add=True))
    assert [one.verdict for one in answers] == ["rejected"] * 6 + ["known"]
    assert all(one.reason for one in answers[:6]) and answers[6].record == "document 7"
    assert next(roughly.match(index, {"text": prose(1)})).verdict == "known", "only what is learnt needs an id"


# ---------------------------------------------------------------------- the command


def run(index: Index, data: bytes, *options: str) -> Result:
    return CliRunner().invoke(app, ["match", index.name, *options], input=data)


def lines(*documents: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in documents)


def test_exit_codes(index: Index, tmp_path: Path) -> None:
    known, new = mail(1, prose(1)), mail(2, prose(9))
    assert run(index, known).exit_code == 0 and run(index, new).exit_code == 1
    assert run(index, mbox(new, known)).exit_code == 0, "one of them is known"
    assert run(index, b'{"id": 1}\n').exit_code == 3 and run(index, b"").exit_code == 2
    assert run(index, b"words\n").exit_code == 2 and run(index, known, "--window", "x").exit_code == 2
    missing = CliRunner().invoke(app, ["match", str(tmp_path / "none.db")], input=known)
    assert missing.exit_code == 2 and "no index at" in missing.output, "1 would say that it is not known"
    quiet = run(index, known, "--quiet")
    assert quiet.exit_code == 0 and not quiet.output


def test_a_line_each_as_text_and_as_json(index: Index) -> None:
    data = lines(document("a\tb", prose(1)), document("n", prose(9))) + b"broken\n"
    done = run(index, data)
    assert done.stdout.splitlines() == [
        "known\ta b\tk1\t1.000", "new\tn\t-\t-",
        "rejected\tline 3\tbroken JSON: unexpected character, expected a JSON value\t-",
    ]  # fmt: skip
    assert "rejected: standard input, line 3" in done.stderr and "1 record was rejected" in done.stderr
    told = [json.loads(line) for line in run(index, data, "--json").stdout.splitlines()]
    assert [one["verdict"] for one in told] == ["known", "new", "rejected"]
    assert told[0]["match"]["resemblance"] == told[0]["score"] == 1 and told[2]["record"] == "line 3"


def test_an_open_pipe_is_answered_line_by_line(index: Index) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "roughly", "match", index.name, "--add"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    try:
        for doc_id, text, verdict in (("a", prose(1), b"known"), ("b", prose(9), b"new"), ("c", prose(9), b"known")):
            process.stdin.write(lines(document(doc_id, text)))
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], 120)
            assert ready, "no answer while the pipe is open"
            assert os.read(process.stdout.fileno(), 1000).startswith(verdict)
            assert index.get(doc_id) is not None, "what is answered is stored"
    finally:
        process.stdin.close()
        process.stdout.close()
        code = process.wait(60)
    assert code == 0


def test_documents_without_words_match_nothing_unless_asked(tmp_path: Path) -> None:
    """After one empty message is indexed, the next is not known spam."""
    asked = {"method": "imatch", "min_terms": 5, "lexicon": "default"}
    with Index.create(tmp_path / "spam.db", Settings.gather(asked)) as index:
        assert index.add([document("spam", " ")])[0].match is None
        assert index.add([document("more spam", "…")])[0].match is None
        (new,) = roughly.match(index, document("letter", ""))
        assert (new.verdict, new.match) == ("new", None)
        assert index.query("") == [] and index.queries(["", "."]) == [[], []]
        (known,) = roughly.match(index, document("letter", ""), match_empty=True)
        assert known.verdict == "known" and known.score == 1
        assert [match.doc_id for match in index.query("", match_empty=True)] == ["spam", "more spam"]
        added = list(roughly.match(index, [document("third", "-"), document("fourth", "")], add=True))
        assert [(one.verdict, one.status) for one in added] == [("new", "added"), ("new", "added")]
        (added,) = roughly.match(index, document("fifth", ""), add=True, match_empty=True)
        assert (added.verdict, added.status) == ("known", "added")
        (kept,) = roughly.match(index, document("letter", ""), revoke=True)
        assert kept.verdict == "new" and index.stats().documents == 5
    line = json.dumps({"id": "x", "text": " "})
    told = run_roughly("match", tmp_path / "spam.db", "--format", "jsonl", stdin=line + "\n")
    assert told.returncode == 1 and told.stdout.startswith("new\t")
    told = run_roughly("match", tmp_path / "spam.db", "--format", "jsonl", "--match-empty", stdin=line + "\n")
    assert told.returncode == 0 and told.stdout.startswith("known\t")


def test_a_minimum_below_the_threshold_is_said_to_change_nothing(index: Index, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "x", "text": prose(1)}) + "\n")
    place = tmp_path / "known.db"
    told = run_roughly("index", "query", place, tmp_path / "q.jsonl", "--minimum", "0.2")
    assert told.returncode == 0 and "resemblance of at least 0.7; a minimum of 0.2 does not find more" in told.stderr
    for fine in (["--minimum", "0.9"], ["--minimum", "0.2", "--measure", "containment"]):
        assert "note:" not in run_roughly("index", "query", place, tmp_path / "q.jsonl", *fine).stderr
    told = run_roughly("match", place, "--minimum", "0.2", stdin=(tmp_path / "q.jsonl").read_text())
    assert "a minimum of 0.2 does not find more" in told.stderr
