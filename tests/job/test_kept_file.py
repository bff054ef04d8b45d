"""One file of what is kept, in any format from any format; standard output; the list of what is removed; `show`."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import roughly as library
from roughly.job.kept_file import KeptFile
from roughly.job.output_folder import OutputFolder

ROSE = "A rose is a rose is a rose, said Gertrude Stein,\nand she should know, since she wrote it more than once."
ELSE = 'Something else entirely: "quoted", with commas, and a tab\there; nothing of it is about flowers at all.'
ROWS = [
    {"id": "a", "text": ROSE, "tags": ["x", "y"], "facts": {"n": 1}, "score": 0.5},
    {"id": "b", "text": ROSE, "tags": [], "facts": None, "score": 1.5},
    {"id": "c", "text": ELSE, "tags": ["z"], "facts": {"n": 3}, "score": None},
]
KEPT = [ROWS[0], ROWS[2]]
WHEN = datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
KINDS = ("jsonl", "parquet", "csv", "folder", "mbox", "warc")
CONVERSIONS = [
    *((kind, name) for kind in KINDS for name in ("k.jsonl", "k.csv", "k.parquet", "k.txt")),
    *(("jsonl", name) for name in ("k.jsonl.gz", "k.ndjson.zst", "k.csv.gz", "k.tsv", "k.txt.gz")),
    *(("jsonl.gz", name) for name in ("k.jsonl", "k.jsonl.gz")),
    *(("tsv", name) for name in ("k.csv", "k.tsv", "k.tsv.gz")),
]


def mail(number: str, body: str) -> str:
    return f"From x@y.z Thu Jan  2 03:04:05 2020\nMessage-ID: <{number}>\nSubject: S\n\n{body}\n\n"


def warc(number: str, body: str) -> str:
    return (
        f"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:{number}>\r\nWARC-Target-URI: http://h/{number}\r\n"
        f"WARC-Date: 2020-01-02T03:04:05Z\r\nContent-Type: text/plain\r\nContent-Length: {len(body.encode())}\r\n\r\n"
        f"{body}\r\n\r\n"
    )


def write_input(kind: str, folder: Path) -> Path:
    """The same three documents in any format."""
    path = folder / f"in.{kind}"
    if kind in ("jsonl", "jsonl.gz"):
        lines = "".join(json.dumps(row) + "\n" for row in ROWS)
        path.write_bytes(gzip.compress(lines.encode()) if kind.endswith("gz") else lines.encode())
    elif kind == "parquet":
        columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
        when = pa.array([1577934245000000001] * 3, pa.timestamp("ns", "UTC"))
        pq.write_table(pa.table(columns | {"when": when, "raw": [b"\xff", b"y", b"z"]}), path)
    elif kind in ("csv", "tsv"):
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, delimiter="," if kind == "csv" else "\t")
            writer.writerows([["id", "text"], *([row["id"], row["text"]] for row in ROWS)])
    elif kind == "folder":
        path.mkdir()
        for row in ROWS:
            (path / f"{row['id']}.txt").write_text(str(row["text"]), encoding="utf-8")
    else:
        made = {"mbox": mail, "warc": warc}[kind]
        path.write_text("".join(made(str(row["id"]), str(row["text"])) for row in ROWS), encoding="utf-8", newline="")
    return path


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def unpacked(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    return data.decode("utf-8")


def records(path: Path) -> list[dict[str, object]]:
    """What a file holds, as other programs read it."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    text = unpacked(path)
    if ".csv" in path.name or ".tsv" in path.name:
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if ".tsv" in path.name else ","))
    if ".txt" in path.name:
        return [{"text": line} for line in text.splitlines()]
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(("kind", "name"), CONVERSIONS)
def test_any_format_becomes_any_file(kind: str, name: str, tmp_path: Path, roughly: Callable) -> None:
    source = write_input(kind, tmp_path)
    done = roughly("dedupe", source, "-o", tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert f"kept        {tmp_path / name}" in done.stdout
    found = records(tmp_path / name)
    texts = [str(row["text"]).rstrip() for row in found]
    if ".txt" in name:
        assert [text.removeprefix("S  ") for text in texts] == [ROSE.replace("\n", " "), ELSE]
    else:
        assert [text.removeprefix("S\n\n") for text in texts] == [ROSE, ELSE]
    assert names_in(tmp_path) == sorted([source.name, name]), "nothing else is left"
    if kind in ("folder", "mbox", "warc") and ".txt" not in name:
        ids = {"folder": ["a.txt", "c.txt"], "mbox": ["a", "c"], "warc": ["urn:a", "urn:c"]}[kind]
        assert [row["doc_id"] for row in found] == ids
        assert kind != "warc" or found[0]["url"] == "http://h/a"


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_all_columns_are_converted(kind: str, tmp_path: Path, roughly: Callable) -> None:
    source = write_input(kind, tmp_path)
    for name in ("k.jsonl", "k.csv", "k.parquet"):
        assert roughly("dedupe", source, "-o", tmp_path / name).returncode == 0
    lines, cells, table = (records(tmp_path / name) for name in ("k.jsonl", "k.csv", "k.parquet"))
    assert [{name: row[name] for name in ROWS[0]} for row in lines] == KEPT
    assert [{name: row[name] for name in ROWS[0]} for row in table] == KEPT
    assert cells[0]["tags"] == '["x","y"]'
    assert json.loads(str(cells[0]["facts"])) == {"n": 1}
    assert (cells[0]["score"], cells[1]["score"]) == ("0.5", "")
    if kind == "parquet":
        assert lines[0]["when"] == "2020-01-02T03:04:05+00:00" == cells[0]["when"]
        assert (lines[0]["raw"], lines[1]["raw"]) == ("/w==", "z"), "bytes as text, or in base64"


def test_several_inputs_of_several_formats_become_one_file(tmp_path: Path, roughly: Callable) -> None:
    (tmp_path / "x").mkdir()
    first, second = write_input("jsonl", tmp_path), write_input("csv", tmp_path / "x")
    second.write_text(second.read_text().replace("\na,", "\nx,").replace("\nb,", "\ny,").replace("\nc,", "\nz,"))
    extra = tmp_path / "more.jsonl"
    extra.write_text(json.dumps({"id": 7, "text": "Seven words that no other document has.", "when": "now"}))
    for name in ("k.jsonl", "k.csv", "k.parquet"):
        done = roughly("dedupe", first, extra, second, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        found = records(tmp_path / name)
        assert [str(row["id"]) for row in found] == ["a", "c", "7"]
        assert [row.get("when") or None for row in found] == [None, None, "now"]


def test_it_is_a_filter(tmp_path: Path) -> None:
    source = write_input("jsonl", tmp_path)
    for arguments, wanted in (
        ([], [json.dumps(row) for row in KEPT]),
        (["--output-format", "csv"], None),
        (["--quiet"], [json.dumps(row) for row in KEPT]),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "roughly", "dedupe", "-", "-o", "-", *arguments],
            input=source.read_text(), capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        if wanted is not None:
            assert done.stdout.splitlines() == wanted
        else:
            assert [row["id"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["a", "c"]
        assert ("3 in, 2 kept" in done.stderr) == ("--quiet" not in arguments)
    assert names_in(tmp_path) == [source.name]


def test_standard_output_that_is_full(tmp_path: Path) -> None:
    source = write_input("jsonl", tmp_path)
    command = [sys.executable, "-m", "roughly", "dedupe", str(source), "-o", "-", "--quiet"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: standard output cannot be written: No space left on device\n"


def test_a_run_that_fails_writes_nothing_to_standard_output(tmp_path: Path, roughly: Callable) -> None:
    source = tmp_path / "two.jsonl"
    source.write_text('{"id": "1", "text": "a b c"}\n{"id": "1", "text": "d e f"}\n')
    done = roughly("dedupe", source, "-o", "-")
    assert (done.returncode, done.stdout) == (1, "")
    assert "two documents have the id '1'" in done.stderr
    done = roughly("dedupe", source, "-o", tmp_path / "k.jsonl", "--drop", tmp_path / "ids.txt")
    assert done.returncode == 1
    assert names_in(tmp_path) == [source.name]


def test_the_folder_of_the_run_is_written_beside_the_file(tmp_path: Path, roughly: Callable) -> None:
    source = write_input("jsonl", tmp_path)
    out = tmp_path / "run"
    done = roughly(
        "dedupe", source, "-o", tmp_path / "k.jsonl", "--report", out, "--drop", tmp_path / "ids.txt"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "k.jsonl").read_bytes() == (out / "kept" / "in.jsonl").read_bytes()
    assert (tmp_path / "ids.txt").read_text() == "b\n"
    assert "convert" in [stage["name"] for stage in json.loads((out / "run.json").read_text())["stages"]]
    assert roughly("dedupe", source, "--report", tmp_path / "only").returncode == 0
    assert (tmp_path / "only" / "documents.parquet").is_file()
    assert roughly("dedupe", source, "--drop", "-").stdout == "b\n"
    assert roughly("dedupe", source, "-o", f"{tmp_path}/folder.jsonl/").returncode == 0
    assert (tmp_path / "folder.jsonl" / "run.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "there.jsonl"], "there.jsonl exists; add --overwrite to replace it"),
        (["-o", "folder.csv"], "folder.csv is a folder, and a name with this ending asks for one file"),
        (["-o", "missing/k.csv"], "there is no folder missing"),
        (["-o", "k.parquet.gz"], "Parquet is compressed inside"),
        (["-o", "k.mbox"], "mbox can be written only if the input is one file of that format"),
        (["-o", "k", "--output-format", "xml"], "--output-format must be one of jsonl, parquet, csv, tsv, txt"),
        (["-o", "-", "--drop", "-"], "only one of both can be standard output"),
        (["-o", "-", "--resume"], "name a file"),
        (["-o", "run", "--report", "other"], "run is a folder for the whole run already"),
        ([], "name the folder to write, or one file"),
        (["-o", "k.jsn"], "a file with the ending .jsn cannot be written"),
        (["-o", "k.jsn"], "k.jsn/ is a folder. Did you mean k.jsonl?"),
        (["-o", "k.xlsx"], "endings are .jsonl, .parquet, .csv, .tsv, .txt, also with .gz or .zst"),
        (["-o", "k.gz"], "a file with the ending .gz cannot be written"),
    ],
)
def test_outputs_that_cannot_be(arguments: list[str], told: str, tmp_path: Path, roughly: Callable) -> None:
    source = write_input("jsonl", tmp_path)
    (tmp_path / "there.jsonl").write_text("mine")
    (tmp_path / "folder.csv").mkdir()
    done = roughly("dedupe", source, *arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert names_in(tmp_path) == ["folder.csv", "in.jsonl", "there.jsonl"]
    assert (tmp_path / "there.jsonl").read_text() == "mine"


@pytest.mark.parametrize("name", ["run.v2", "run-0.9", "2026.11", "k.xlsx/", "all.jsonl-out"])
def test_other_names_are_folders(name: str) -> None:
    assert KeptFile.named(name) is None


def test_a_folder_that_is_there_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "k.xlsx").mkdir()
    assert KeptFile.named(str(tmp_path / "k.xlsx")) is None


def test_a_file_is_replaced_even_if_it_is_the_input(tmp_path: Path, roughly: Callable) -> None:
    source = write_input("jsonl", tmp_path)
    assert roughly("dedupe", source, "-o", source, "--overwrite").returncode == 0
    assert records(source) == KEPT


def test_one_file_in_its_own_format(tmp_path: Path, roughly: Callable) -> None:
    source = write_input("warc", tmp_path)
    assert roughly("dedupe", source, "-o", tmp_path / "k.warc").returncode == 0
    assert (tmp_path / "k.warc").read_bytes().count(b"WARC/1.0") == 2
    assert roughly("dedupe", source, "-o", "-").stdout.count("WARC/1.0") == 2


def test_an_interrupted_file_is_resumed(tmp_path: Path, roughly: Callable) -> None:
    source = write_input("jsonl", tmp_path)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_CONVERTING, "dedupe", str(source), "-o", "k.csv"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert killed.returncode == 9, killed.stderr
    assert not (tmp_path / "k.csv").exists()
    refused = roughly("dedupe", source, "-o", "k.csv", cwd=tmp_path)
    assert "k.csv.partial holds an unfinished run; continue with --resume" in refused.stderr
    done = roughly("dedupe", source, "-o", "k.csv", "--resume", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in records(tmp_path / "k.csv")] == ["a", "c"]
    assert names_in(tmp_path) == ["in.jsonl", "k.csv"]


KILLED_WHILE_CONVERTING = """
import os, sys
import roughly.job.kept_conversion as conversion
def kill(*given, **more): os._exit(9)
conversion.write_kept_file = kill
from roughly.cli import run
run()
"""


def test_rejected_records_are_named(tmp_path: Path, roughly: Callable) -> None:
    source = write_input("jsonl", tmp_path)
    with source.open("a") as out:
        out.write("not JSON\n")
    done = roughly("dedupe", source, "-o", tmp_path / "k.jsonl")
    assert done.returncode == 3
    assert "in.jsonl, line 4: " in done.stderr
    assert "1 record was rejected; --report DIR" in done.stderr


def test_python_writes_one_file_too(tmp_path: Path) -> None:
    result = library.dedupe(ROWS, output=tmp_path / "k.csv")
    assert [row["id"] for row in records(tmp_path / "k.csv")] == ["a", "c"]
    assert result.documents["kept"].to_pylist() == [True, False, True]
    assert names_in(tmp_path) == ["k.csv"]


def test_cells_are_those_of_the_standard_writer(tmp_path: Path) -> None:
    """One with a carriage return is quoted too, as later versions of Python do: it could not be read back otherwise."""
    cells = ["plain", "a,b", 'say "no"', "two\nlines", "tab\there", " space ", "", "'", ";", "nul\0", "é", "\u2028"]
    rows = [{"id": str(number), "text": f"{cell}{number}", "cell": cell} for number, cell in enumerate(cells)]
    library.dedupe(rows, output=tmp_path / "k.csv", method="identical")
    expected = io.StringIO(newline="")
    csv.writer(expected, lineterminator="\n").writerows([list(rows[0]), *(list(row.values()) for row in rows)])
    assert (tmp_path / "k.csv").read_bytes() == expected.getvalue().encode()
    library.dedupe([{"text": "one\rline"}, {"text": ""}], output=tmp_path / "one.csv", method="identical")
    assert (tmp_path / "one.csv").read_bytes() == b'text\n"one\rline"\n""\n'


def test_a_run_is_shown(tmp_path: Path, roughly: Callable) -> None:
    source = write_input("jsonl", tmp_path)
    assert roughly("dedupe", source, "-o", tmp_path / "run").returncode == 0
    table = roughly("show", tmp_path / "run").stdout.splitlines()
    assert table[0].split()[:4] == ["doc_id", "cluster_id", "kept", "kept_id"]
    assert table[1].split()[:4] == ["b", "a", "no", "a"]
    lines = roughly("show", tmp_path / "run", "kept", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["doc_id"] for line in lines] == ["a", "c"]
    pairs = roughly("show", tmp_path / "run", "pairs", "--format", "csv").stdout
    assert next(csv.DictReader(io.StringIO(pairs)))["right_id"] == "a"
    assert len(roughly("show", tmp_path / "run", "documents", "--limit", "1").stdout.splitlines()) == 2
    assert json.loads(roughly("show", tmp_path / "run", "clusters", "--format", "jsonl").stdout)["size"] == 2
    assert roughly("show", tmp_path / "run", "rejected").stdout.split() == ["file", "record", "reason", "excerpt"]
    wrong = roughly("show", tmp_path / "run", "x", "--format", "y")
    assert wrong.returncode == 2
    assert "one of removed, kept" in wrong.stderr
    assert "one of table, csv" in wrong.stderr
    assert "is not the folder of a run" in roughly("show", tmp_path).stderr


@pytest.mark.parametrize(
    ("report", "files", "words"),
    [
        (None, ["k.csv", "k.csv"], "named for two outputs"),
        ("../out/k.csv", ["k.csv"], "named for two outputs"),
        (None, ["n" * 252 + ".csv"], "has 256 bytes"),
        (None, [os.fsdecode(b"\xff.csv")], "not UTF-8"),
        (os.fsdecode(b"\xff"), [], "not UTF-8"),
    ],
)
def test_names_that_cannot_be_written_are_refused_first(
    report: str | None, files: list[str], words: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(library.RoughlyError, match=words):
        OutputFolder(None if report is None else out / report, files=[out / file for file in files])
    assert not list(out.iterdir())
