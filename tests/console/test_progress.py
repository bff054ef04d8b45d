"""Progress: a line for the run and one for the stage in a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import roughly
from commands import run_roughly
from roughly.console import progress
from roughly.console.run_estimate import RunEstimate, dedupe_stages, times
from roughly.meter import Meter, Stage
from roughly.settings import Settings

SLOW = """
import sys, time
import roughly.engines.local.engine as engine
signed = engine.sign_all
def slowly(*given):
    for chunk in signed(*given):
        time.sleep(0.2)
        yield chunk
engine.sign_all = slowly
from roughly.cli import run
run()
"""
"""A run that takes a second and a half, mostly to read."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": f"words of number {i}"}) + "\n" for i in range(80)))
    return path


def slow_run(source: Path, **files: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, "dedupe", str(source), "-o", f"{source.parent}/out", "--batch-size", "10"],
        env=os.environ | {"PYTHONPATH": str(Path(roughly.__path__[0]).parent), "TERM": "xterm", "COLUMNS": "80"},
        stdout=subprocess.DEVNULL, **files,
    )  # fmt: skip


def test_a_terminal_shows_a_line_for_the_run_and_one_for_the_stage(source: Path) -> None:
    ours, theirs = pty.openpty()
    process = slow_run(source, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # the other side has closed
            break
        if not block:
            break
        shown += block
    os.close(ours)
    assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"stage 1 of 9 .*%  [\d,]+ documents/s  elapsed 0:00:0\d, left 0:00:\d\d", text)
    assert re.search(r"reading and signing .*%  elapsed 0:00:0\d, left 0:00:0\d", text)
    assert max(map(len, progress._SAYS.values())) <= progress._WIDEST, "nothing is cut off in 80 columns"


def test_without_a_terminal_there_is_a_line_now_and_then(
    source: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.05)
    meter = Meter()
    with progress.Progress(stages=["read", "verify"]) as shown:
        meter.listener = shown
        with meter.stage("read", 100, "documents") as stage:
            meter.advance(stage, 50)
            time.sleep(0.3)
    lines = capfd.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 7
    wanted = (
        "reading and signing 50 %, stage 1 of 2, 38 % of the run, [0-9,]+ documents/s; elapsed 0:00:00, left 0:00:0"
    )
    assert re.fullmatch(wanted + "[0-9]", lines[-1])
    assert progress.EVERY == 0.05
    quick = run_roughly("dedupe", source, "-o", source.parent / "quick")
    assert quick.stderr == "", "nothing of a short run"


def test_python_shows_it_on_demand(
    source: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    roughly.dedupe(source)
    assert capfd.readouterr().err == "", "no terminal, no notebook"
    roughly.dedupe(source, progress=True)
    assert "of the run" in capfd.readouterr().err
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    roughly.dedupe(source, progress=False)
    assert capfd.readouterr().err == ""


def test_verbose_names_every_stage(source: Path) -> None:
    done = run_roughly("dedupe", source, "-o", source.parent / "out", "--verbose")
    assert re.search(r"^reading and signing: \d+\.\d\d s, .* MB, peak memory \d+ MB$", done.stderr, re.MULTILINE)
    assert [line.split(":")[0] for line in done.stderr.splitlines()][-2:] == [
        "copying what is kept", "drawing the report",
    ]  # fmt: skip


def test_what_is_left_follows_from_the_stage_and_the_rest_of_the_run() -> None:
    now = 0.0
    run = RunEstimate(["read", "verify", "write"], lambda: now)  # weights 45, 14 and 5
    assert run.left() is None
    read = Stage("read", total=100, unit="bytes")
    run.start(read)
    now, read.done, read.documents = 9.0, 20, 900
    assert run.of == "stage 1 of 3"
    assert run.speed() == "100 documents/s"
    assert run.stage_left() == pytest.approx(36)
    assert run.share() == pytest.approx(9 / 64)
    assert run.left() == pytest.approx(36 + 19), "a second for each part of weight"
    now = 45.0
    run.start(Stage("verify"))
    assert (run.stage_share(), run.stage_left()) == (None, None)
    assert run.left() == pytest.approx(19)
    run.start(Stage("unforeseen"))
    assert run.of == "stage 3 of 4"
    assert times(3661, None) == "elapsed 1:01:01"


def test_the_stages_are_those_of_the_run(tmp_path: Path, source: Path) -> None:
    for options in ({}, {"method": "lexical"}, {"method": "imatch", "lexicon": "collection"}):
        result = roughly.dedupe(source, output=tmp_path / f"k{len(options)}.csv", **options)
        expected = dedupe_stages(Settings.gather(options), has_file=True)
        found = [stage["name"] for stage in result.summary["stages"]]
        assert [name for name in expected if name in found] == found
