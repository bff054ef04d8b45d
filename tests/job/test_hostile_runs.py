"""Whole runs on input that is made to hurt, and errors that nobody expected: one sentence, no traceback."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from every_format import EVERY, WRITERS, rewrite, texts, write
from roughly.engines.local.engine import LocalEngine
from roughly.errors import RoughlyError
from stream_texts import mail as message
from stream_texts import mbox as messages
from stream_texts import prose

TEXT = "a document with a few words in it, so that it is not empty"


def quarantine(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "quarantine.jsonl").read_text().splitlines()]


def test_linked_folders_and_dangling_links_are_in_the_summary(tmp_path: Path, roughly: Callable) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "linked").symlink_to(tmp_path)
    (folder / "b.txt").symlink_to(tmp_path / "none")
    done = roughly("dedupe", folder, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "links to folders: 1" in done.stdout + done.stderr
    assert "links that lead nowhere: 1" in done.stdout + done.stderr


def test_a_pipe_as_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    command = f"{sys.executable} -m roughly dedupe <(cat {tmp_path}/a.txt) --format text -o {tmp_path}/out"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "is a pipe, not a file. Give - for standard input" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_bomb_among_texts_is_rejected_within_the_memory(tmp_path: Path, roughly: Callable) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    packer = zlib.compressobj(9, wbits=31)
    with (folder / "bomb.txt.gz").open("wb") as out:
        for _ in range(2000):
            out.write(packer.compress(b"word " * 200_000))
        out.write(packer.flush())
    done = roughly("dedupe", folder, "-o", tmp_path / "out", "--memory", "640MB", "--threads", 2)
    assert done.returncode == 3, done.stderr
    (reject,) = quarantine(tmp_path / "out")
    assert reject["file"].endswith("bomb.txt.gz") and "unpacks to more than 10 MB" in reject["reason"]
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert max(stage["peak_memory"] for stage in run["stages"]) < 1.1 * (640 << 20)


def test_the_largest_record_can_be_set(tmp_path: Path, roughly: Callable) -> None:
    rows = [{"id": "a", "text": TEXT}, {"id": "b", "text": "word " * 1000}, {"id": "c", "text": TEXT + " too"}]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    for name, data in (("plain.jsonl", lines), ("packed.jsonl.gz", gzip.compress(lines))):
        (tmp_path / name).write_bytes(data)
        out = tmp_path / f"{name}-out"
        done = roughly("dedupe", tmp_path / name, "-o", out, "--largest-record", "2KB")
        assert done.returncode == 3, done.stderr
        assert [(one["record"], "longer than 2 KB" in one["reason"]) for one in quarantine(out)] == [("line 2", True)]
        assert pq.read_table(out / "documents.parquet")["doc_id"].to_pylist() == ["a", "c"]


def test_a_threshold_near_zero_is_refused_in_a_sentence(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    done = roughly("dedupe", jsonl([{"text": TEXT}]), "-o", tmp_path / "out", "--threshold", "1e-300")
    assert done.returncode == 2 and done.stderr.startswith("error: no banding") and "Traceback" not in done.stderr


def test_a_dictionary_that_unfolds_to_gigabytes(tmp_path: Path, roughly: Callable) -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["word " * 200_000]))
    pq.write_table(pa.table({"text": values}), tmp_path / "d.parquet")
    command = ("dedupe", tmp_path / "d.parquet", "-o", tmp_path / "out", "--memory", "1GB", "--method", "identical")
    done = roughly(*command)
    assert done.returncode == 3 and "rejected    1 record" in done.stdout, done.stderr
    done = roughly(*command, "--overwrite", "--largest-ratio", "1000000")
    assert done.returncode == 0, done.stderr
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["counts"]["documents"] == 3000 and run["counts"]["kept"] == 1
    assert max(stage["peak_memory"] for stage in run["stages"]) < 1.1 * (1 << 30)


def test_mail_that_cannot_be_read_is_no_answer_and_the_others_are_answered(tmp_path: Path, roughly: Callable) -> None:
    import roughly as package

    with package.Index.create(tmp_path / "known.db") as index:
        index.add([{"doc_id": "k", "text": f"Hello\n\n{prose(1)}\n"}])
    bad = b'Subject: x\nMessage-ID: <bad@x>\nContent-Type: text/plain; charset="a\0b"\n\nspam \xff\n'
    stream = messages(
        message(1, prose(1)), bad, message(2, prose(2)), b"Subject: y\n" + b"Content-Type: message/rfc822\n\n" * 99
    )
    done = roughly("match", tmp_path / "known.db", stdin=stream)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["known", "new", "new", "rejected"]
    assert done.returncode == 3 and "Traceback" not in done.stderr
    done = roughly("match", tmp_path / "known.db", stdin=bad)
    assert done.returncode == 1 and done.stdout.startswith("new\tbad@x")


def test_names_of_250_bytes(tmp_path: Path, roughly: Callable) -> None:
    name = "n" * 244 + ".jsonl"
    (tmp_path / name).write_text(json.dumps({"text": TEXT}) + "\n")
    done = roughly("dedupe", tmp_path / name, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "out" / "kept").iterdir()] == [name]


def test_the_folder_for_temporary_files_may_hold_a_link_of_the_usual_name(
    tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    temp, precious = tmp_path / "temp", tmp_path / "precious"
    temp.mkdir()
    precious.mkdir()
    (temp / "spill").symlink_to(precious)
    rows = [{"id": str(n), "text": f"{TEXT} {n % 7}"} for n in range(100)]
    done = roughly("dedupe", jsonl(rows), "-o", tmp_path / "out", "--temp", temp)
    assert done.returncode == 0, done.stderr
    assert not list(precious.iterdir()) and list(temp.iterdir()) == [temp / "spill"]


def test_every_format_has_a_sample() -> None:
    assert sorted(WRITERS) == EVERY


@pytest.mark.parametrize("stage", ["load_contents", "copy_kept"])
@pytest.mark.parametrize("format", EVERY)
def test_an_edit_that_keeps_size_and_time_is_noticed(
    format: str, stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the edited document is read again to be compared, or only to be copied."""
    folder = tmp_path / "given"
    folder.mkdir()
    copies = ("alpha", "bravo") if stage == "load_contents" else ()
    before, after = (texts("delta", "bravo", word) + near_copies(*copies) for word in ("alpha", "gamma"))
    if copies:
        after = [*before[:-1], before[-1].replace("bravo", "gamma")]
    path = write(format, folder, before)
    original = getattr(LocalEngine, stage)

    def edit(self: LocalEngine, *given: Any, **named: Any) -> None:
        rewrite(format, folder, after)
        original(self, *given, **named)

    monkeypatch.setattr(LocalEngine, stage, edit)
    with pytest.raises(RoughlyError, match="changed while the run was reading it; run again"):
        roughly.dedupe(path, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def near_copies(*words: str) -> list[str]:
    return [f"{word} {prose(7, 120)}" for word in words]


def test_a_record_that_is_none_any_longer_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("jsonl", tmp_path, texts("alpha", "bravo"))
    copied = LocalEngine.copy_kept

    def edit(self: LocalEngine, *given: Any, **named: Any) -> None:
        path = tmp_path / "in.jsonl"
        old = path.stat()
        path.write_bytes(path.read_bytes().replace(b'{"text": "b', b'["text": "b'))
        os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))
        copied(self, *given, **named)

    monkeypatch.setattr(LocalEngine, "copy_kept", edit)
    with pytest.raises(RoughlyError, match=r"in.jsonl line 2: changed while the run was reading it"):
        roughly.dedupe(tmp_path / "in.jsonl", output=tmp_path / "out")
