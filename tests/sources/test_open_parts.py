"""Inputs of every sort: paths, globs, folders, URLs, standard input; names, order, and what is missing."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reading import read
from roughly.errors import InputError, InputMissing
from roughly.sources import ReadOptions, open_parts
from roughly.sources.files import find

LINE = b'{"text": "a document"}\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder of all sorts."""
    root = tmp_path / "data"
    for name, data in {
        "b.jsonl": LINE,
        "a/b.jsonl": LINE * 2,
        "a/page.html": b"<p>page</p>",
        "a/deep/notes.md": b"# notes",
        "z.txt": b"plain",
        ".hidden.txt": b"hidden",
        ".git/config.txt": b"hidden",
        "_delta_log/0.json": b'{"commit": 1}',
        "picture.png": b"\x89PNG",
        "README": b"no ending",
        "letter.eml": b"Subject: hello\nMessage-ID: <m1@x>\n\nbody\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    pq.write_table(pa.table({"text": ["in parquet"]}), root / "a" / "t.parquet")
    return root


def test_a_folder_of_mixed_kinds_is_walked_in_a_stable_order(tree: Path) -> None:
    found = read(tree)
    assert [(part.format, part.kept_name) for part in found.parts] == [
        ("jsonl", "a/b.jsonl"),
        ("parquet", "a/t.parquet"),
        ("jsonl", "b.jsonl"),
        ("eml", "data-eml"),
        ("text", "data-text"),
    ]
    assert "a/b.jsonl:2" in found.ids and "b.jsonl:1" in found.ids and "m1@x" in found.ids
    assert [text for text in found.texts if text in ("<p>page</p>", "# notes", "plain")] == [
        "# notes",
        "<p>page</p>",
        "plain",
    ]
    assert "hidden" not in found.texts
    (note,) = [note for note in found.notes if "ignored" in note]
    assert ".png (1)" in note and "no ending (1)" in note and "--format" in note


def test_text_files_of_a_folder_are_one_part_and_named_by_their_paths(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / "docs" / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / str(number % 3) / f"{number}.txt").write_text(f"text {number}")
    found = read(tmp_path / "docs")
    assert found.part.format == "text" and found.part.kept_name == "docs"
    assert found.ids == sorted(f"{number % 3}/{number}.txt" for number in range(50))
    assert read(str(tmp_path / "docs" / "**" / "*.txt")).ids == found.ids
    one_by_one = read(*sorted((tmp_path / "docs").rglob("*.txt")))
    assert len(one_by_one.parts) == 1 and sorted(one_by_one.ids) == found.ids
    assert found.part.locate(0) == str(tmp_path / "docs" / found.ids[0])


def test_two_folders_with_the_same_names_inside_get_different_ids(tmp_path: Path) -> None:
    for folder in ("one/docs", "two/docs"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.txt").write_text(folder)
    found = read(tmp_path / "one" / "docs", tmp_path / "two" / "docs")
    assert found.ids == ["one/docs/a.txt", "two/docs/a.txt"]
    assert [part.kept_name for part in found.parts] == ["one/docs", "two/docs"]


def test_files_of_the_same_name_get_their_folders_in_front_in_any_order(tmp_path: Path) -> None:
    paths = []
    for folder in ("x/news", "y/news", "z"):
        (tmp_path / folder).mkdir(parents=True)
        paths.append(tmp_path / folder / "a.jsonl")
        paths[-1].write_bytes(LINE)
    forward, backward = read(*paths), read(*reversed(paths))
    assert [part.kept_name for part in forward.parts] == ["x/news/a.jsonl", "y/news/a.jsonl", "z/a.jsonl"]
    assert set(forward.ids) == set(backward.ids) == {f"{name}/a.jsonl:1" for name in ("x/news", "y/news", "z")}
    assert [part.name for part in backward.parts] == [str(path) for path in reversed(paths)]


def test_a_file_given_twice_is_read_once_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(LINE)
    found = read(path, tmp_path / "." / "a.jsonl", tmp_path)
    assert len(found.documents) == 1
    assert any("given twice" in note for note in found.notes)


def test_the_name_in_messages_is_the_one_the_user_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_bytes(LINE + b"broken\n")
    monkeypatch.chdir(tmp_path)
    for given in ("in/a.jsonl", "in", "in/*.jsonl"):
        found = read(given)
        assert found.part.name == "in/a.jsonl" and found.rejects[0].file == "in/a.jsonl"
        assert found.part.kept_name == "a.jsonl"


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ("nothing.jsonl", InputMissing, "no such file"),
        ("*.nothing", InputMissing, "no file matches"),
        ("empty", InputMissing, "has no files"),
        ("pictures", InputMissing, ".png (1)"),
        ("pictures/a.png", InputError, "known endings are .arc"),
        ("pictures/a.png", InputError, "--format"),
        ("", InputMissing, "empty"),
    ],
)
def test_what_is_not_there_or_not_known(given: str, error: type[Exception], says: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(error) as raised:
        read(f"{tmp_path}/{given}" if given else "")
    assert says in str(raised.value)
    assert given in str(raised.value)


def test_no_input_at_all() -> None:
    with pytest.raises(InputMissing, match="no input"):
        read()


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secret.jsonl"
    path.write_bytes(LINE)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything, so nothing is unreadable")
    with pytest.raises(InputError, match=r"secret.jsonl: cannot be read: Permission denied"):
        read(path)


def test_a_file_that_the_system_refuses_to_read_is_named(tmp_path: Path) -> None:
    """Root may read everything, so this is a name that leads to itself."""
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    with pytest.raises(InputError, match=r"loop\.txt"):
        read(tmp_path / "loop.txt")


def test_a_file_that_changes_between_two_readings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "growing.jsonl"
    path.write_bytes(LINE)
    (part,) = open_parts([path], ReadOptions(), tmp_path)
    with path.open("ab") as file:
        file.write(LINE)
    with pytest.raises(InputError, match="changed while it was being read"):
        [part.parse(chunk) for chunk in part.chunks()]
    path.unlink()
    with pytest.raises(InputMissing, match="growing"):
        part.copy(np.ones(1, np.bool_), tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_the_format_can_be_said_for_files_and_folders_without_endings(tmp_path: Path) -> None:
    (tmp_path / "group").mkdir()
    (tmp_path / "group" / "49960").write_text("From: a\n\nmessage")
    (tmp_path / "group" / "51060").write_text("another")
    assert read(tmp_path / "group", format="text").ids == ["49960", "51060"]
    (tmp_path / "lines").write_bytes(LINE)
    assert read(tmp_path / "lines", format="jsonl").ids == ["lines:1"]
    assert read(tmp_path / "group" / "49960", format="eml").documents[0]["text"] == "\n\nmessage"
    assert read(tmp_path / "group", format="html").documents[0]["markup"] is True
    with pytest.raises(InputError, match=r"unknown format 'docx'.*jsonl"):
        read(tmp_path / "lines", format="docx")
    with pytest.raises(InputError, match="not a Maildir"):
        read(tmp_path / "lines", format="maildir")


@pytest.mark.parametrize("protocol", ["memory", "file"])
def test_urls_of_files_folders_and_globs(protocol: str, tmp_path: Path) -> None:
    root = f"memory://bucket{tmp_path}" if protocol == "memory" else f"file://{tmp_path}"
    filesystem, _ = fsspec.url_to_fs(root)
    files = {
        "crawl/a.jsonl": LINE,
        "crawl/b.jsonl.gz": gzip.compress(LINE * 2),
        "crawl/text/c.txt": b"text c",
        "crawl/text/d.txt": b"text d",
        "crawl/mail.mbox": b"From a@b Sat Jan  3 01:05:34 1996\nMessage-ID: <m@x>\n\nbody\n",
    }
    for name, data in files.items():
        with fsspec.open(f"{root}/{name}", "wb") as file:
            file.write(data)
    with fsspec.open(f"{root}/crawl/t.parquet", "wb") as file:
        pq.write_table(pa.table({"id": [1, 2], "text": ["x", "y"]}), file)
    found = read(f"{root}/crawl")
    assert sorted(found.ids) == sorted(
        ["a.jsonl:1", "b.jsonl.gz:1", "b.jsonl.gz:2", "text/c.txt", "text/d.txt", "m@x", "1", "2"]
    )
    assert read(f"{root}/crawl/*.jsonl*").ids == ["a.jsonl:1", "b.jsonl.gz:1", "b.jsonl.gz:2"]
    assert read(f"{root}/crawl/b.jsonl.gz").ids == ["b.jsonl.gz:1", "b.jsonl.gz:2"]
    assert read(f"{root}/crawl/text/c.txt", f"{root}/crawl/text/d.txt").ids == ["c.txt", "d.txt"]
    for part in found.parts:
        rows = [d["row"] for d in found.documents if found.parts[d["part"]] is part]
        assert part.copy(np.ones(max(rows) + 1, np.bool_), tmp_path / "kept") == len(rows)
    assert (tmp_path / "kept" / "crawl" / "text" / "c.txt").read_bytes() == b"text c"
    with pytest.raises(InputMissing):
        read(f"{root}/nothing.jsonl")
    filesystem.rm(f"{root}/crawl", recursive=True)


def test_an_address_of_an_unknown_kind() -> None:
    with pytest.raises(InputError, match="gopher"):
        read("gopher://host/file.jsonl")


SCRIPT = """
import sys
from pathlib import Path
from roughly.sources import ReadOptions, open_parts
from roughly.sources.files import find
(part,) = open_parts(["-"], ReadOptions(format=sys.argv[2] or None), Path(sys.argv[1]))
for _ in range(2):  # what comes from standard input can be read again
    for chunk in part.chunks():
        parsed = part.parse(chunk)
        print(part.name, part.kept_name, parsed.batch["doc_id"].to_pylist(), len(parsed.rejects))
"""


@pytest.mark.parametrize(
    ("data", "format", "says"),
    [
        (LINE * 2, "", "standard input stdin.jsonl ['stdin.jsonl:1', 'stdin.jsonl:2'] 0"),
        (gzip.compress(LINE, mtime=0), "", "standard input stdin.jsonl.gz ['stdin.jsonl.gz:1'] 0"),
        (b"text\nwords\n", "csv", "standard input stdin.csv ['stdin.csv:1'] 0"),
        (b"a text", "text", "- spool ['stdin.txt'] 0"),
        (b"", "", ""),
    ],
    ids=["lines", "gzip", "csv", "text", "nothing"],
)
def test_standard_input_is_stored_and_read_again(data: bytes, format: str, says: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "spool"), format], input=data, capture_output=True, check=True
    )
    assert done.stdout.decode().splitlines() == [says] * 2 * bool(says)


def test_parts_can_be_sent_to_other_processes_and_read_on_many_threads(tree: Path) -> None:
    for part in open_parts([tree], ReadOptions(), tree):
        copy = pickle.loads(pickle.dumps(part))
        chunks = list(part.chunks())
        with ThreadPoolExecutor(4) as pool:
            parsed = list(pool.map(copy.parse, chunks * 4))
        assert [p.batch.to_pylist() for p in parsed] == [part.parse(c).batch.to_pylist() for c in chunks] * 4


def test_the_result_of_a_run_inside_the_input_is_no_input(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a text")
    result = tmp_path / "out" / "kept"
    result.mkdir(parents=True)
    (result / "a.txt").write_text("a text")
    (tmp_path / "out.partial").mkdir()
    (tmp_path / "out.partial" / "b.txt").write_text("half a text")
    assert [file.relative for file in find(tmp_path).files] == ["a.txt", "out/kept/a.txt"]
    for name in ("run.json", "documents.parquet", "pairs.parquet", "clusters.parquet"):
        (tmp_path / "out" / name).touch()
    assert [file.relative for file in find(tmp_path).files] == ["a.txt"]
    assert [file.relative for file in find(result).files] == ["a.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have names in Unicode only")
def test_names_that_are_not_utf_8_are_spelled_out(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"d\xe9")
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("a text")
    (file,) = find(tmp_path).files
    assert file.relative == "d\\xe9/caf\\xe9.txt"
    with file.open() as stream:
        assert stream.read() == b"a text"
