"""The measurements of the shingling family: what they count, on a few documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import shingling
from roughly.methods.method import Keys
from roughly.text.canonical import Tokens


def test_pairs_that_share_a_key() -> None:
    ragged = Keys(np.array([1, 2, 2, 3, 9], np.uint64), np.array([0, 2, 4, 5]))
    assert np.concatenate(list(shingling._pairs(ragged))).tolist() == [[1, 0]]
    bands = Keys(np.array([[5, 0], [0, 7], [5, 7]], np.uint64))
    assert sorted(np.concatenate(list(shingling._pairs(bands))).tolist()) == [[2, 0], [2, 1]]


def test_lexically_equal_documents_are_taken_once() -> None:
    tokens = Tokens(np.array([1, 2, 1, 2, 3], np.uint64), np.array([0, 2, 4, 4, 5]))
    assert shingling._distinct(tokens).offsets.tolist() == [0, 2, 3]


def test_families_follow_chains() -> None:
    family = shingling._families(["a", "b", "c", "d"], {("b", "c"), ("a", "b")})
    assert family == {"a": "a", "b": "a", "c": "a", "d": "d"}


def test_a_passage_is_sought_by_its_inner_words() -> None:
    words = [f"w{i}" for i in range(40)]
    document = "Before. " + " ".join(words) + " after!"
    start, end = shingling._sought(document, "x x x x x x " + " ".join(words[6:30]) + " y y y y y y") or (0, 0)
    assert document[start:end] == " ".join(words[6:30])
    assert shingling._sought(document, "not there at all " * 10) is None


def test_pairs_of_a_suspicious_and_a_source_document() -> None:
    assert shingling._suspicious_first("source-document1", "suspicious-document2") == (
        "suspicious-document2", "source-document1",
    )  # fmt: skip
    assert shingling._suspicious_first("source-document1", "source-document2") is None


def test_rows_become_a_table() -> None:
    assert shingling.table([{"a": 1234, "b": None}, {"a": 1, "b": 0.5}]).splitlines() == [
        "| a | b |", "|---|---|", "| 1,234 | – |", "| 1 | 0.5 |",
    ]  # fmt: skip


def test_the_command_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shingling.main(["--only", "weather"]) == 2
    assert shingling.main(["--only", "pan", "--corpora", str(tmp_path)]) == 1
    assert "say where the corpora are" in capsys.readouterr().err
