"""Bad input: every case gets a clear error that names the place and the remedy, and leaves nothing behind."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roughly import dedupe
from roughly.errors import RoughlyWarning

TEXT = "a document with a few words in it, so that it is not empty"


def fails(done: subprocess.CompletedProcess[str], *says: str, code: int = 1) -> None:
    assert done.returncode == code, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr
    for word in says:
        assert word in done.stderr, done.stderr


def test_missing_file(tmp_path: Path, roughly: Callable) -> None:
    fails(roughly("dedupe", tmp_path / "nothing.jsonl", "-o", tmp_path / "out"), "nothing.jsonl", "error:")
    assert not list(tmp_path.iterdir())


def test_empty_file(tmp_path: Path, roughly: Callable) -> None:
    (tmp_path / "empty.jsonl").touch()
    fails(roughly("dedupe", tmp_path / "empty.jsonl", "-o", tmp_path / "out"), "empty.jsonl", "no documents")
    assert not (tmp_path / "out").exists()


def test_empty_folder(tmp_path: Path, roughly: Callable) -> None:
    (tmp_path / "folder").mkdir()
    fails(roughly("dedupe", tmp_path / "folder", "-o", tmp_path / "out"), "folder")


def test_truncated_gzip_keeps_what_came_before(tmp_path: Path, roughly: Callable) -> None:
    lines = [json.dumps({"id": f"d{i}", "text": f"{TEXT} number {os.urandom(20).hex()}"}) for i in range(5000)]
    whole = gzip.compress("\n".join(lines).encode())
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    done = roughly("dedupe", path, "-o", tmp_path / "out")
    assert done.returncode == 3, done.stderr
    rejects = [json.loads(line) for line in (tmp_path / "out" / "quarantine.jsonl").read_text().splitlines()]
    assert "cut.jsonl.gz" in rejects[-1]["file"] and "truncated" in rejects[-1]["reason"]
    assert 1000 < pq.read_metadata(tmp_path / "out" / "documents.parquet").num_rows < 4000


def test_bad_lines_are_quarantined_and_the_run_goes_on(tmp_path: Path, roughly: Callable) -> None:
    path = tmp_path / "docs.jsonl"
    lines = [
        json.dumps({"id": "good", "text": TEXT}).encode(),
        b'{"id": "broken", "text": "no end',
        json.dumps({"id": "null", "text": None}).encode(),
        json.dumps({"id": "number", "text": 5}).encode(),
        b'{"id": "latin", "text": "caf\xe9 au lait"}',
        b"[1, 2]",
        json.dumps(
            {"id": "nul", "text": "before\0after: quite another text, which shares nothing with the first"}
        ).encode(),
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    done = roughly("dedupe", path, "-o", tmp_path / "out", "--json")
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["counts"]["rejected"] == 5
    rejects = [json.loads(line) for line in (tmp_path / "out" / "quarantine.jsonl").read_text().splitlines()]
    assert [(r["record"], bool(r["reason"])) for r in rejects] == [(f"line {n}", True) for n in (2, 3, 4, 5, 6)]
    assert all("docs.jsonl" in r["file"] for r in rejects)
    kept = (tmp_path / "out" / "kept" / "docs.jsonl").read_bytes().splitlines()
    assert kept == [lines[0], lines[6]]


def test_missing_text_column_names_the_columns(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    source = jsonl([{"id": "a", "contents_of_page": TEXT}])
    done = roughly("dedupe", source, "-o", tmp_path / "out", "--text-column", "body")
    fails(done, "body", "contents_of_page", "--text-column")


def test_duplicate_ids_are_refused_with_both_places(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    source = jsonl([{"id": "a", "text": "one"}, {"id": "b", "text": "two"}, {"id": "a", "text": "three"}])
    fails(roughly("dedupe", source, "-o", tmp_path / "out"), "'a'", "line 1", "line 3", "--on-duplicate-id number")
    assert (
        roughly("dedupe", source, "-o", tmp_path / "out", "--on-duplicate-id", "number", "--overwrite").returncode == 0
    )
    assert pq.read_table(tmp_path / "out" / "documents.parquet")["doc_id"].to_pylist() == ["a", "a#2", "b"]


def test_unwritable_output(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    (tmp_path / "file").write_text("not a folder")
    fails(roughly("dedupe", jsonl([{"text": TEXT}]), "-o", tmp_path / "file" / "out"), "cannot write", "file")


def test_an_output_that_holds_something_is_not_touched(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    source = jsonl([{"id": "a", "text": TEXT}])
    assert roughly("dedupe", source, "-o", tmp_path / "out").returncode == 0
    before = (tmp_path / "out" / "documents.parquet").stat()
    fails(roughly("dedupe", source, "-o", tmp_path / "out"), "already holds a run", "--overwrite")
    assert (tmp_path / "out" / "documents.parquet").stat() == before
    assert roughly("dedupe", source, "-o", tmp_path / "out", "--overwrite").returncode == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("precious")
    fails(roughly("dedupe", source, "-o", tmp_path / "mine", "--overwrite"), "not a run of roughly")
    assert (tmp_path / "mine" / "precious.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--threshold", "0"], "threshold must be"),
        (["--threshold", "1.1"], "threshold must be"),
        (["--recall", "1"], "recall must be"),
        (["--keep", "prettiest"], "prettiest"),
        (["--measure", "cosine"], "measure must be one of"),
        (["--memory", "a lot"], "not a size"),
        (["--bands", "5"], "--bands and --rows go together"),
    ],
)
def test_settings_that_make_no_sense(
    options: list[str], says: str, tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    fails(roughly("dedupe", jsonl([{"text": TEXT}]), "-o", tmp_path / "out", *options), says, code=2)


def test_all_mistakes_are_told_at_once(tmp_path: Path, roughly: Callable) -> None:
    done = roughly("dedupe", "x.jsonl", "-o", tmp_path / "out", "--threshold", 7, "--recall", 7, "--method", "magic")
    fails(done, "threshold must", "recall must", "method must", code=2)


def test_too_little_memory_for_so_many_documents_is_refused_at_the_start(tmp_path: Path, roughly: Callable) -> None:
    pq.write_table(pa.table({"text": ["a"] * 8_000_000}), tmp_path / "many.parquet", row_group_size=100_000)
    done = roughly("dedupe", tmp_path / "many.parquet", "-o", tmp_path / "out", "--memory", "640MB")
    fails(done, "640MB is too little for about 8.0 million documents", "680MB is the minimum")


def test_a_document_too_large_for_the_memory_is_refused_by_name(
    tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    path = jsonl([{"text": TEXT}, {"text": "word " * 2_500_000}])
    done = roughly("dedupe", path, "-o", tmp_path / "out", "--memory", "640MB", "--threads", 2)
    fails(done, f"{path.name} line 2: a document of 11 MB", "10 MB is the maximum", "--threads")
    assert not (tmp_path / "out").exists()


def test_too_little_memory_names_the_least(tmp_path: Path, roughly: Callable, jsonl: Callable) -> None:
    fails(roughly("dedupe", jsonl([{"text": TEXT}]), "-o", tmp_path / "out", "--memory", "100MB"), "640MB")


def test_all_pairs_of_a_large_cluster_are_refused_with_the_count(
    tmp_path: Path, roughly: Callable, jsonl: Callable
) -> None:
    words = [f"word{i}" for i in range(200)]
    rows = [{"id": f"d{i}", "text": " ".join([*words, f"number{i}"])} for i in range(200)]
    done = roughly("dedupe", jsonl(rows), "-o", tmp_path / "out", "--pairs", "all", "--pairs-limit", 1000)
    fails(done, "19,900", "--pairs-limit")
    done = roughly("dedupe", jsonl(rows), "-o", tmp_path / "out", "--pairs", "all", "--overwrite")
    assert done.returncode == 0
    assert pq.read_metadata(tmp_path / "out" / "pairs.parquet").num_rows == 19_900


def test_a_million_empty_documents(tmp_path: Path, roughly: Callable) -> None:
    (tmp_path / "empty.jsonl").write_text('{"text": ""}\n' * 1_000_000)
    done = roughly("dedupe", tmp_path / "empty.jsonl", "-o", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)["counts"]
    assert (counts["documents"], counts["empty"], counts["kept"], counts["clusters"]) == (1_000_000, 1_000_000, 1, 1)


def test_one_document_of_200_megabytes(tmp_path: Path, roughly: Callable) -> None:
    import random

    rng = random.Random(1)
    page = " ".join(rng.choices([f"word{i}" for i in range(5000)], k=25_000))
    text = " ".join(f"{page} chapter{i}" for i in range(200_000_000 // len(page)))
    with (tmp_path / "large.jsonl").open("w") as stream:
        for name, content in (("large", text), ("edited", text[1000:]), ("small", TEXT)):
            stream.write(json.dumps({"id": name, "text": content}) + "\n")
    done = roughly("dedupe", tmp_path / "large.jsonl", "-o", tmp_path / "out", "--memory", "8GB", "--threads", 1)
    assert done.returncode == 0, done.stderr
    rows = {row["doc_id"]: row for row in pq.read_table(tmp_path / "out" / "documents.parquet").to_pylist()}
    assert rows["edited"]["kept_id"] == "large" and rows["edited"]["resemblance"] > 0.99
    assert rows["small"]["kept"]


def test_a_full_disk_leaves_no_half_output(tmp_path: Path, roughly: Callable, jsonl: Callable, policies: list) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small file system can only be mounted by root")
    try:
        rows = [row | {"id": f"{row['id']} {n}", "text": f"{row['text']} {n}"} for row in policies for n in range(4)]
        fails(roughly("dedupe", jsonl(rows), "-o", small / "out"), "disk is full")
        assert not (small / "out").exists()
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def big_input(path: Path, policies: list[dict], copies: int = 60) -> Path:
    with path.open("w") as stream:
        for n in range(copies):
            for row in policies:
                stream.write(json.dumps(row | {"id": f"{row['id']} {n}", "text": f"{row['text']} {n}"}) + "\n")
    return path


def start(*args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "roughly", "dedupe", *map(str, args)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not path.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


def test_interrupted_by_the_user(tmp_path: Path, policies: list[dict], roughly: Callable) -> None:
    source = big_input(tmp_path / "big.jsonl", policies)
    out = tmp_path / "out"
    process = start(source, "-o", out)
    wait_for(tmp_path / "out.partial" / "work" / "identity.json", process)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "nothing was written" in errors and "--resume" in errors and "Traceback" not in errors
    assert not out.exists()
    fails(roughly("dedupe", source, "-o", out), "unfinished", "--resume", "--overwrite")
    assert roughly("dedupe", source, "-o", out, "--resume").returncode == 0
    assert roughly("dedupe", source, "-o", tmp_path / "plain").returncode == 0
    assert (out / "documents.parquet").read_bytes() == (tmp_path / "plain" / "documents.parquet").read_bytes()
    assert not (tmp_path / "out.partial").exists()


@pytest.mark.slow
def test_resuming_with_other_settings_is_refused(tmp_path: Path, policies: list[dict], roughly: Callable) -> None:
    source = big_input(tmp_path / "big.jsonl", policies)
    process = start(source, "-o", tmp_path / "out")
    wait_for(tmp_path / "out.partial" / "work" / "identity.json", process)
    process.kill()
    process.communicate()
    done = roughly("dedupe", source, "-o", tmp_path / "out", "--threshold", 0.7, "--resume")
    fails(done, "threshold was 0.8 and is 0.7", "--overwrite")


def test_many_documents_before_a_wrong_checksum_are_all_read(tmp_path: Path) -> None:
    """The size of the collection is estimated after 10,000 documents, by the bytes read so far, if these are known."""
    count = 10_001
    packed = gzip.compress(b"".join(b'{"id": %d, "text": "%d"}\n' % (number, number) for number in range(count)))
    (tmp_path / "in.jsonl.gz").write_bytes(packed[:-8] + bytes(4) + packed[-4:])
    with pytest.warns(RoughlyWarning, match="Incorrect checksum"):
        counts = dedupe(paths=[tmp_path / "in.jsonl.gz"]).summary["counts"]
    assert counts["documents"] == count and counts["rejected"] == 1
