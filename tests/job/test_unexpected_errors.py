"""Errors that nobody expected, in every registered reader and in every stage: one sentence, no traceback, no output.

Readers are those of `sources.formats.TABLE`; stages are the methods of the engine's protocol and what the search for
passages imports. So a new one is tried without a line here (a reader needs a sample in `every_format`).
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import roughly
from every_format import EVERY, texts, write
from roughly import methods, pipeline
from roughly.cli import main
from roughly.engines.local.engine import LocalEngine
from roughly.errors import RoughlyError
from roughly.sources import jsonl, mail, mbox, text_folder
from roughly.sources.formats import TABLE
from roughly.tools.passages import passage_search
from stream_texts import mbox as messages
from stream_texts import prose

STRANGE = [ValueError, KeyError, RecursionError, AssertionError, TypeError, LookupError, UnicodeError]
READER_STEPS = ("__init__", "chunks", "parse", "copy")
ENGINE_STAGES = sorted(
    name for name, one in vars(pipeline.Engine).items() if inspect.isfunction(one) and not name.startswith("_")
)
WRITING_STAGES = ["copy_kept", "write", "write_rejects", "summary", "describe"]
PASSAGE_STAGES = sorted(
    name
    for name, one in vars(passage_search).items()
    if inspect.isfunction(one) and one.__module__.startswith("roughly.tools.passages") and not name.startswith("_")
)


def fail(error: Exception) -> Callable[..., object]:
    def raises(*_: object, **__: object) -> object:
        raise error

    return raises


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> object:
    monkeypatch.setattr(sys, "argv", ["roughly", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def refuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, command: str, *inputs: object
) -> str:
    """What a command says that ends with exit code 1, one line and no output."""
    assert run_main(monkeypatch, command, *inputs, "-o", folder / "out", "--quiet") == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("error: ") and "Traceback" not in line
    assert not (folder / "out").exists()
    return line


@pytest.mark.parametrize("step", READER_STEPS)
@pytest.mark.parametrize("format", EVERY)
def test_in_every_step_of_every_reader(
    format: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = write(format, tmp_path, texts("alpha", "bravo", "delta"))
    reader = getattr(importlib.import_module(TABLE[format].module), TABLE[format].reader)
    error = STRANGE[(EVERY.index(format) + READER_STEPS.index(step)) % len(STRANGE)]("strange\nindeed")
    for name in ("chunks", "groups") if step == "chunks" else (step,):
        if hasattr(reader, name):
            monkeypatch.setattr(reader, name, fail(error))
    line = refuses(monkeypatch, capsys, tmp_path, "dedupe", given)
    assert "strange" in line and type(error).__name__ in line and "--debug" in line
    if step in ("chunks", "parse"):
        assert str(given) in line  # with its place


@pytest.mark.parametrize("stage", [*ENGINE_STAGES, *WRITING_STAGES])
def test_in_every_stage_of_a_run(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "{prose(1)} {n}"}}\n' for n in range(3)))
    monkeypatch.setattr(LocalEngine, stage, fail(LookupError("strange\nindeed")))
    line = refuses(monkeypatch, capsys, tmp_path, "dedupe", tmp_path / "a.jsonl", "--pairs", "all")
    assert "strange indeed" in line and "--debug" in line


@pytest.mark.parametrize("stage", PASSAGE_STAGES)
def test_in_every_stage_of_passages(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f'{{"id": "{n}", "text": "{prose(1)} {n}"}}\n' for n in range(3)))
    against = ["--against", str(tmp_path / "b.jsonl")] if stage == "items_table" else []
    (tmp_path / "b.jsonl").write_text(f'{{"id": "b", "text": "{prose(1)}"}}\n')
    monkeypatch.setattr(passage_search, stage, fail(LookupError("strange\nindeed")))
    line = refuses(monkeypatch, capsys, tmp_path, "passages", tmp_path / "a.jsonl", *against)
    assert "strange indeed" in line and "--debug" in line


@pytest.mark.parametrize(
    ("name", "content", "owner", "attribute", "error"),
    [
        ("a.jsonl", b'{"text": "a"}\n', jsonl.LineParser, "parse", ValueError),
        ("a.mbox", messages(b"Subject: a\n\nb"), mbox, "read_mail", RecursionError),
        ("a.eml", b"Subject: a\n\nb", mail, "decode_text", KeyError),
        ("a.txt", b"a", text_folder, "decode_text", AssertionError),
    ],
    ids=["jsonl", "mbox", "eml", "text"],
)
def test_within_a_record(
    name: str, content: bytes, owner: object, attribute: str, error: type[Exception], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(owner, attribute, fail(error("strange")))
    code = run_main(monkeypatch, "dedupe", tmp_path / name, "-o", tmp_path / "out", "--quiet")
    printed = capsys.readouterr().err
    assert "Traceback" not in printed
    if code == 3:  # a record that cannot be read is rejected
        (reject,) = map(json.loads, (tmp_path / "out" / "quarantine.jsonl").read_text().splitlines())
        assert name in reject["file"] and error.__name__ in reject["reason"]
        return
    assert code == 1 and len(printed.strip().splitlines()) == 1
    assert printed.startswith("error: ") and name in printed and "line 1" in printed and "--debug" in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("owner", "attribute"), [(pipeline, "sign"), (methods, "make")], ids=["sign", "make"])
def test_with_debug_there_is_a_traceback(
    owner: object, attribute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.setattr(owner, attribute, fail(LookupError("strange\nindeed")))
    assert "strange indeed" in refuses(monkeypatch, capsys, tmp_path, "dedupe", tmp_path / "a.jsonl")
    run_main(monkeypatch, "dedupe", tmp_path / "a.jsonl", "-o", tmp_path / "out", "--quiet", "--overwrite", "--debug")
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("problem", [MemoryError(), RuntimeError("can't start new thread")])
def test_no_memory_is_a_sentence(
    problem: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.setattr(pipeline, "sign", fail(problem))
    assert "no more memory" in refuses(monkeypatch, capsys, tmp_path, "dedupe", tmp_path / "a.jsonl")


def test_python_callers_get_one_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.setattr(jsonl.LineParser, "parse", fail(ValueError("strange")))
    with pytest.raises(RoughlyError, match=r"a.jsonl, at or after line 1: unexpected ValueError: strange") as found:
        roughly.dedupe(paths=[tmp_path / "a.jsonl"])
    assert isinstance(found.value.__cause__, ValueError)
