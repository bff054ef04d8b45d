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
from roughly import methods, pipeline
from roughly.cli import main
from roughly.engines.local.engine import LocalEngine
from roughly.errors import RoughlyError
from roughly.sources import jsonl as json_lines
from roughly.sources import mail, mbox, text_folder
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
    done = roughly("dedupe", tmp_path / "d.parquet", "-o", tmp_path / "out", "--memory", "1GB", "--method", "identical")
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


# ---------------------------------------------------------------- what nobody expected

STRANGE = [
    ValueError("strange"),
    KeyError("strange"),
    RecursionError("strange"),
    AssertionError("strange"),
    TypeError("strange"),
]


def fail(error: Exception) -> Callable[..., object]:
    def raises(*_: object, **__: object) -> object:
        raise error

    return raises


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> object:
    monkeypatch.setattr(sys, "argv", ["roughly", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.parametrize("error", STRANGE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    ("name", "content", "owner", "attribute"),
    [
        ("a.jsonl", b'{"text": "a"}\n', json_lines.LineParser, "parse"),
        ("a.mbox", messages(b"Subject: a\n\nb"), mbox, "read_mail"),
        ("a.eml", b"Subject: a\n\nb", mail, "decode_text"),
        ("a.txt", b"a", text_folder, "decode_text"),
    ],
)
def test_an_unexpected_error_in_a_reader_has_a_place(
    error: Exception, name: str, content: bytes, owner: object, attribute: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / name).write_bytes(content)
    monkeypatch.setattr(owner, attribute, fail(error))
    code = run_main(monkeypatch, "dedupe", tmp_path / name, "-o", tmp_path / "out", "--quiet")
    printed = capsys.readouterr().err
    assert "Traceback" not in printed
    if code == 3:  # a record that cannot be read is rejected
        (reject,) = quarantine(tmp_path / "out")
        assert name in reject["file"] and type(error).__name__ in reject["reason"]
        return
    assert code == 1 and len(printed.strip().splitlines()) == 1
    assert printed.startswith("error: ") and name in printed and "line 1" in printed and "--debug" in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("owner", "attribute"),
    [
        (pipeline, "sign"), (LocalEngine, "check_ids"), (LocalEngine, "rank"), (LocalEngine, "group"),
        (LocalEngine, "load_contents"), (LocalEngine, "resolve"), (LocalEngine, "give_verdicts"),
        (LocalEngine, "write"), (LocalEngine, "copy_kept"), (methods, "make"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_unexpected_error_in_a_stage_is_one_sentence(
    owner: object, attribute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.setattr(owner, attribute, fail(LookupError("strange\nindeed")))
    assert run_main(monkeypatch, "dedupe", tmp_path / "a.jsonl", "-o", tmp_path / "out", "--quiet") == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("error: ") and "strange indeed" in line and "--debug" in line
    assert not (tmp_path / "out").exists()
    run_main(monkeypatch, "dedupe", tmp_path / "a.jsonl", "-o", tmp_path / "out", "--quiet", "--overwrite", "--debug")
    assert "Traceback" in capsys.readouterr().err


def test_no_memory_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.setattr(pipeline, "sign", fail(MemoryError()))
    assert run_main(monkeypatch, "dedupe", tmp_path / "a.jsonl", "-o", tmp_path / "out", "--quiet") == 1
    assert "no more memory" in capsys.readouterr().err


def test_python_callers_get_one_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.setattr(json_lines.LineParser, "parse", fail(ValueError("strange")))
    with pytest.raises(RoughlyError, match=r"a.jsonl, at or after line 1: unexpected ValueError: strange") as found:
        roughly.dedupe(paths=[tmp_path / "a.jsonl"])
    assert isinstance(found.value.__cause__, ValueError)


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


def near_copies(last: str, form: str) -> str:
    """Three records that are near-copies; all words have five letters."""
    return "".join(form.format(f"{word} {prose(7, 120)}") for word in ("alpha", "bravo", last))


JSON_LINE = '{{"text": "{}"}}\n'
LINES = near_copies("delta", JSON_LINE)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("in.jsonl", LINES, near_copies("gamma", JSON_LINE)),
        ("in.jsonl", LINES, LINES.replace('{"text": "d', '["text": "d')),
        ("in.csv", "text\n" + near_copies("delta", "{}\n"), "text\n" + near_copies("gamma", "{}\n")),
    ],
    ids=["another word", "no longer a record", "csv"],
)  # fmt: skip
def test_an_edit_that_keeps_size_and_time_is_noticed(
    name: str, before: str, after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text(before)
    grouped = LocalEngine.group

    def edit(self: LocalEngine, *given: Any, **named: Any) -> None:
        grouped(self, *given, **named)
        changed = path.stat().st_mtime_ns
        path.write_text(after)
        os.utime(path, ns=(changed, changed))

    monkeypatch.setattr(LocalEngine, "group", edit)
    assert len(after) == len(before)
    with pytest.raises(RoughlyError, match=f"{name} (line|row|record) .*: changed while the run was reading it"):
        roughly.dedupe(path, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
