"""`roughly lexicon …` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lexicon_twins import TEXTS, frequencies, write_texts

from commands import run_roughly as roughly
from roughly.lexicon import Lexicon


@pytest.fixture
def built(tmp_path: Path) -> Path:
    done = roughly("lexicon", "build", write_texts(tmp_path / "texts.jsonl", TEXTS), "-o", tmp_path / "texts.lexicon")
    assert done.returncode == 0, done.stderr
    assert f"documents   {len(TEXTS)}" in done.stdout
    return tmp_path / "texts.lexicon"


def test_build_show_prune(built: Path, tmp_path: Path) -> None:
    assert dict(Lexicon.open(built).terms()) == frequencies(TEXTS)
    shown = json.loads(roughly("lexicon", "show", built, "--term", "THE", "--term", "zzz", "--top", 1, "--json").stdout)
    assert shown["documents"] == len(TEXTS)
    assert shown["terms"] == len(frequencies(TEXTS))
    the, zzz, top = shown["listed"]
    assert the["df"] == frequencies(TEXTS)["the"] and the["imatch"] == 0 and 0 < the["conrad"] < 1
    assert zzz == {"term": "zzz", "df": 0, "conrad": None, "imatch": None}
    assert top == the | {"term": "the"}
    assert "the" in roughly("lexicon", "show", built, "--top", 3).stdout
    done = roughly("lexicon", "prune", built, "-o", tmp_path / "p.lexicon", "--min-df", 2, "--letters-only", "--json")
    assert json.loads(done.stdout)["thresholds"] == {"min_df": 2, "letters_only": True, "min_length": 1}
    wanted = {w: n for w, n in frequencies(TEXTS).items() if n > 1 and not any(c.isnumeric() for c in w)}
    assert dict(Lexicon.open(tmp_path / "p.lexicon").terms()) == wanted


def test_merge_and_compare(built: Path, tmp_path: Path) -> None:
    halves = []
    for name, part in (("a", TEXTS[:4]), ("b", TEXTS[4:])):
        halves.append(tmp_path / f"{name}.lexicon")
        done = roughly("lexicon", "build", write_texts(tmp_path / f"{name}.jsonl", part), "-o", halves[-1], "--quiet")
        assert (done.returncode, done.stdout) == (0, "")
    done = roughly("lexicon", "merge", *halves, "-o", tmp_path / "c.lexicon", "--json")
    assert json.loads(done.stdout)["documents"] == len(TEXTS)
    assert (tmp_path / "c.lexicon").read_bytes() == built.read_bytes()
    found = json.loads(roughly("lexicon", "compare", halves[0], built, "--json").stdout)
    assert (found["lost"], found["common"]) == (0, len(frequencies(TEXTS[:4])))
    assert found["spearman"] is not None
    assert "spearman    1.0000" in roughly("lexicon", "compare", built, tmp_path / "c.lexicon").stdout


def test_the_default_lexicon_by_name() -> None:
    shown = json.loads(roughly("lexicon", "show", "default", "--top", "1", "--json").stdout)
    assert shown["listed"][0]["term"] == "the"


def test_rejected_records_end_with_3(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "bad.jsonl", ["one two"])
    path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    done = roughly("lexicon", "build", path, "-o", tmp_path / "x.lexicon", "--json")
    assert done.returncode == 3
    assert "rejected: " in done.stderr and "line 2" in done.stderr
    told = json.loads(done.stdout)
    assert (told["documents"], told["rejected"], told["rejects"][0]["record"]) == (1, 1, "line 2")


def test_errors_are_one_line(built: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.lexicon").write_bytes(built.read_bytes()[:-9])
    (tmp_path / "none.jsonl").write_text("", encoding="utf-8")
    cases = [
        (1, "is cut short", ["show", tmp_path / "cut.lexicon"]),
        (1, "is not a lexicon", ["show", tmp_path / "texts.jsonl"]),
        (1, "no such file", ["compare", built, tmp_path / "other.lexicon"]),
        (1, "already exists", ["merge", built, "-o", built]),
        (1, "is not a folder", ["prune", built, "-o", built / "x"]),
        (1, "no documents", ["build", tmp_path / "none.jsonl", "-o", tmp_path / "x.lexicon"]),
        (1, "is 2 tokens", ["show", built, "--term", "don't"]),
        (2, "unknown filter", ["build", tmp_path / "texts.jsonl", "-o", tmp_path / "x.lexicon", "--filter", "sww"]),
        (2, "--min-df must be", ["show", built, "--min-df", "0"]),
        (2, "--markup must be", ["build", tmp_path / "texts.jsonl", "-o", tmp_path / "x.lexicon", "--markup", "x"]),
    ]
    for code, message, args in cases:
        done = roughly("lexicon", *args)
        assert (done.returncode, done.stdout) == (code, ""), (args, done)
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert message in done.stderr
    assert not (tmp_path / "x.lexicon").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are another matter there")
def test_stopping_it_leaves_nothing(tmp_path: Path) -> None:
    """It waits for the end of standard input, and is told to stop instead."""
    spill = tmp_path / "spill"
    spill.mkdir()
    command = [sys.executable, "-m", "roughly", "lexicon", "build", "-", "-o", tmp_path / "x.lexicon", "--temp", spill]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        for _ in range(600):
            if any(spill.iterdir()):
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing was written" in told
    assert not (tmp_path / "x.lexicon").exists()
    assert not any(spill.iterdir())
