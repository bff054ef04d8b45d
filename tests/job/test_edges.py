"""The edges of a run: odd paths, dates, changed inputs, other runs at work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import roughly as library

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."


@pytest.mark.parametrize("name", ["doc=7", "source=web", "part=3", "o*t", "o[X]t", "wh?t", "it's", "with space", "ünï"])
def test_the_name_of_the_output_does_not_change_the_answer(
    name: str, tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    source = jsonl([{"id": f"d{i}", "text": ROSE, "source": f"s{i % 2}"} for i in range(4)])
    for measure in ("resemblance", "containment"):
        out = tmp_path / name / measure
        done = roughly("dedupe", source, "-o", out, "--measure", measure)
        assert done.returncode == 0, done.stderr
        assert pq.read_table(out / "documents.parquet")["kept_id"].to_pylist() == ["d0"] * 4
        assert pq.read_table(out / "clusters.parquet")["sources"].to_pylist() == [2]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_the_newest_is_the_newest_wherever_the_machine_stands(
    zone: str, tmp_path: Path, jsonl: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    dates = [
        "2020-01-15 12:00:00", "Wed, 15 Jan 2020 14:00:00 GMT", "2020-01-15T12:00:00-05:00", "infinity", None,
        "Wed, 15 Jan 2020 12:00:00 -0400 (AST)", "1579086000", "15.01.2020", "soon",
    ]  # fmt: skip
    source = jsonl([{"id": f"d{i}", "text": ROSE, "date": date} for i, date in enumerate(dates)])
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert library.dedupe(source, keep="newest").kept_ids == ["d2"]
        assert library.dedupe(source, keep="oldest").kept_ids == ["d7"]
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


def test_a_result_outlives_the_one_it_came_from() -> None:
    rows = [{"id": "a", "text": ROSE}, {"id": "b", "text": ROSE + " Twice."}]
    again = library.dedupe(rows, threshold=0.5).rethreshold(0.6).rethreshold(0.99)
    assert again.kept_ids == ["a", "b"]
    assert again.summary["settings"]["threshold"] == again.summary["s_curve"]["threshold"] == 0.99


DOCUMENTS = 250_000
"""More than a segment holds."""


def killed_half_way(tmp_path: Path, source: str | Path, stdin: Path | None = None) -> Path:
    """Start a run, kill it once its first segment is complete on disk; returns the output it was to have."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "roughly", "dedupe", str(source), "-o", str(out)]
    with stdin.open() if stdin else open(os.devnull) as stream:  # noqa: PTH123
        process = subprocess.Popen(command, stdin=stream, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        segment = tmp_path / "out.partial" / "work" / "segment-00000.done"
        while not segment.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        process.kill()
        process.wait()
    assert segment.exists() and not out.exists(), "the run was to be killed while there was something to resume"
    return out


def resumed(out: Path) -> bool:
    """Whether the run took over what an interrupted one had read."""
    run = json.loads((out / "run.json").read_text())
    return any(stage["name"] == "read" and stage["reused"] for stage in run["stages"])


def many(path: Path, text: str = ROSE) -> Path:
    path.write_text("".join(json.dumps({"id": f"d{i}", "text": f"{text} {i}"}) + "\n" for i in range(DOCUMENTS)))
    return path


@pytest.mark.slow
def test_resuming_takes_standard_input_from_what_was_stored(tmp_path: Path, roughly: Callable) -> None:
    out = killed_half_way(tmp_path, "-", many(tmp_path / "docs.jsonl"))
    done = roughly("dedupe", "-", "-o", out, "--resume", stdin="")
    assert done.returncode == 0, done.stderr
    assert pq.read_metadata(out / "documents.parquet").num_rows == DOCUMENTS and resumed(out)


@pytest.mark.slow
def test_resuming_with_a_changed_input_is_refused(tmp_path: Path, roughly: Callable) -> None:
    source = many(tmp_path / "docs.jsonl")
    out = killed_half_way(tmp_path, source)
    many(source, ROSE.swapcase())
    done = roughly("dedupe", source, "-o", out, "--resume")
    assert done.returncode == 1 and f"since it was started, the input {source} changed;" in done.stderr, done.stderr


def test_a_refused_resumption_names_the_setting_that_changed(tmp_path: Path, roughly: Callable) -> None:
    source = many(tmp_path / "docs.jsonl")
    out = killed_half_way(tmp_path, source)
    done = roughly("dedupe", source, "-o", out, "--resume", "--threshold", "0.9", "--keep", "newest,longest")
    assert done.returncode == 1
    assert "since it was started, keep was longest and is newest,longest, threshold was 0.8 and is 0.9;" in done.stderr
    other = tmp_path / "more.jsonl"
    other.write_text('{"id": "more", "text": "a b c"}\n')
    done = roughly("dedupe", source, other, "-o", out, "--resume", "--method", "imatch", "--min-terms", "3")
    assert f"the input {other} is new" in done.stderr
    assert "min_terms was not given and is 3" in done.stderr
    assert "method was minhash and is imatch" in done.stderr


def test_two_runs_do_not_share_a_folder(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    from roughly.job.output_folder import OutputFolder

    source = jsonl([{"id": "a", "text": ROSE}])
    place = OutputFolder(tmp_path / "out", resumable=True)
    try:
        for option in ("--resume", "--overwrite"):
            done = roughly("dedupe", source, "-o", tmp_path / "out", option)
            assert done.returncode == 1 and "another run is at work" in done.stderr, done.stderr
        assert place.result.is_dir()
    finally:
        place.release()


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["-o", "."], 1, "not a run of roughly"),
        (["-o", "/"], 1, "cannot be the output"),
        (["-o", "out", "--batch-size", "0"], 2, "--batch-size must be"),
        (["-o", "out", "--temp", "nowhere"], 1, "not a folder to spill to"),
        (["--plan", "--memory", "100MB"], 1, "640MB"),
    ],
)
def test_arguments_that_cannot_work(
    options: list[str], code: int, says: str, tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    done = roughly("dedupe", jsonl([{"id": "a", "text": ROSE}]), *options, cwd=tmp_path)
    assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr, done.stderr
