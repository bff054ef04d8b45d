"""Artefacts of later steps: features, the DOM as tokens, packed signatures, applied decisions, test sets and their
pages. A changed one is refused in one sentence, or gives answers."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from artefact_targets import FEW_ROWS, rows, stored, written
from mutation import Prepared
from reader_targets import HTML_WORDS, pages
from service_target import get

import roughly
from roughly import Index, lexicon
from roughly.service.application import create_app
from roughly.service.served_data import ServedData
from roughly.service.service_config import ServiceConfig
from roughly.settings import Settings
from roughly.signing.request import SignRequest
from roughly.signing.sign_files import run_sign
from roughly.signing.signature_file import read_signatures
from roughly.text.canonical import tokenise
from roughly.text.markup import strip_column
from roughly.tools.decide.api import Decisions
from roughly.tools.recluster.stored_clusters import recluster


def dom(scratch: Path) -> Prepared:
    """Any text has the tokens of its DOM."""

    def use(path: Path) -> None:
        text = path.read_bytes().decode("utf-8", "replace")
        stripped = strip_column(pa.array([text], pa.large_string()), np.ones(1, np.bool_), "dom")
        tokenise(stripped)

    seeds = [(scratch / "page", seed) for count in (3, 60) for seed in pages(count)]
    return Prepared(seeds, use, words=tuple(f'{HTML_WORDS} id= class= name= ="'.encode().split(b" ")))


def features(scratch: Path, count: int = FEW_ROWS) -> Prepared:
    """Objects by their features, as JSON lines and Parquet."""
    kinds: list[Callable[[int], Any]] = [
        lambda n: [n % 7, n % 5, 3], lambda n: [f"w{n % 7}", "ü", ""], lambda n: [0.5, n / 3],
        lambda n: [[n, 1], [2, n]],
    ]  # fmt: skip
    seeds = []
    for value in kinds:
        named = [{"id": f"o{n}", "features": value(n)} for n in range(count)]
        lines = "".join(json.dumps(row) + "\n" for row in named).encode()
        table = scratch / "made.parquet"
        pq.write_table(pa.Table.from_pylist(named), table, row_group_size=50)
        seeds += [
            ("in.jsonl", lines),
            ("in.jsonl.gz", gzip.compress(lines, mtime=0)),
            ("in.parquet", table.read_bytes()),
        ]

    def use(path: Path) -> None:
        for shingle_size in (1, 2):
            roughly.cluster_features(path, shingle_size=shingle_size, threads=1)

    words = (b"[", b"]", b"[[[[[[", b"null", b"1e999", b'"features": ', b"\\ud800", b"{}", b"-1", b"9" * 40)
    return Prepared([(scratch / name, seed) for name, seed in seeds], use, words=words)


def _english(scratch: Path, count: int) -> Path:
    """Documents with the terms of the lexicon that term vectors need, in threes that are near-duplicates."""
    chance = random.Random(3)
    words = [word for word, _ in lexicon.default().terms() if word.isalpha() and len(word) > 2][2000:6000]
    families = [chance.sample(words, 90) for _ in range(count // 3)]
    path = scratch / "english.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": f"d{n}", "text": " ".join(families[n // 3][n % 3 :]), "date": f"2001-02-{n % 28 + 1:02}"})
            + "\n"
            for n in range(count)
        ),
        encoding="utf-8",
    )
    return path


def packed_signatures(scratch: Path, count: int = FEW_ROWS) -> Prepared:
    """A file of packed signatures, clustered."""
    made = scratch / "packed.parquet"
    run_sign(None, [_english(scratch, count)], Settings(method="term-vector"), SignRequest(output=made, packed=True))
    seeds = [(made, made.read_bytes()), *stored("packed_signatures", scratch, "packed.parquet")]

    def use(path: Path) -> None:
        found = read_signatures([path])
        assert len(found.tokens) == len(found.dates) == len(found.equal) == len(found)
        recluster([path])

    return Prepared(seeds, use, words=(b"\xff\xff\xff", b"\x00" * 6, b'"threshold"', b"1e999", b"-1"))


def packed_index(scratch: Path) -> Prepared:
    """An index that stores packed signatures: queries, check, add."""
    path = scratch / "packed.db"
    given = [json.loads(line) for line in _english(scratch, 30).read_text(encoding="utf-8").splitlines()]
    with Index.create(path, method="term-vector", store="packed") as index:
        index.add([{"doc_id": row["id"], "text": row["text"], "date": row["date"]} for row in given])
    data = path.read_bytes()

    def use(path: Path) -> None:
        for ending in ("-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        with Index.open(path) as index:
            index.query(given[0]["text"])
            index.stats()
            index.verify()
            index.add({"doc_id": "new", "text": given[1]["text"]})

    return Prepared([(path, data)], use, words=(b"CREATE TRIGGER", b"\xff" * 184, b"\0" * 184, b"term-vector"))


def applied_decisions(scratch: Path, count: int = FEW_ROWS) -> Prepared:
    """Decisions about a run, applied: each file of the run, the decisions and the input."""
    given, folder, out = written(scratch, count), scratch / "run", scratch / "out"
    roughly.dedupe(given, output=folder, pairs="all")
    with Decisions(folder) as decisions:
        removed = [row["doc_id"] for row in roughly.Result(folder).removed.to_list()]
        for name in removed[:5]:
            decisions.keep(name, by="someone", note="a note")
        decisions.together("d0", "d9", by="another")
        made = decisions.file.path
    files = [path for path in sorted(folder.iterdir()) if path.suffix in (".json", ".parquet")]
    seeds = [(path, path.read_bytes()) for path in (*files, made, given)]

    def use(path: Path) -> None:
        try:
            with Decisions(folder) as decisions:
                decisions.apply(out, overwrite=True)
            counts = json.loads((out / "run.json").read_text(encoding="utf-8"))["counts"]
            kept = sum(line.strip() != b"" for line in (out / "kept" / given.name).read_bytes().splitlines())
            assert kept == counts["kept"], f"{kept} lines in kept/, not {counts['kept']}"
        finally:
            shutil.rmtree(out, ignore_errors=True)

    return Prepared(seeds, use, words=(b'"keep"', b'"together"', b"null", b"[]", b'"d1"', b"-1", b"../", b"\n"))


class TestSetPages:
    """The explorer over a run of `passages` with a test set, opened anew for each input."""

    def __init__(self, folder: Path, doc_id: str, test_id: str) -> None:
        self._folder = folder
        places = (f"id={quote(doc_id)}", f"id={quote(test_id)}&test=1", f"id={quote(test_id)}&test=1&start=10")
        self._paths = [("/passages", ""), ("/passages/items", ""), ("/passages/items.json", "page=2")]
        self._paths += [("/passages/1", ""), *(("/passages/document", place) for place in places)]

    def use(self, path: Path) -> None:
        """Ask for every page."""
        asyncio.run(self._ask())

    async def _ask(self) -> None:
        with contextlib.closing(ServedData.open([self._folder])) as served:
            app = create_app(served, ServiceConfig(rate=0, timeout=600))
            async with app.router.lifespan_context(app):
                for path, query in self._paths:
                    status, answer = await get(app, path, query)
                    if status >= 500:
                        raise AssertionError(f"{path}?{query}: {status}: {answer[:300]!r}")


def test_sets(scratch: Path, count: int = FEW_ROWS) -> Prepared:
    """The run of `passages` against a test set, and the test set itself: every page."""
    folder, given, tests = scratch / "passages", written(scratch, count), scratch / "tests.jsonl"
    tests.write_text("".join(json.dumps(row | {"id": f"t{row['id']}"}) + "\n" for row in rows(30)), encoding="utf-8")
    roughly.passages(paths=[given], against=[tests], output=folder, least=10)
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".json", ".parquet")]
    seeds = [(path, path.read_bytes()) for path in (*files, given, tests)]
    return Prepared(
        seeds, TestSetPages(folder, "d1", "td1").use, words=(b"../", b"null", b"\xff\xff\xff\xff", b'"against"')
    )


DERIVED: dict[str, Callable[..., Prepared]] = {
    "dom": dom,
    "features": features,
    "packed_signatures": packed_signatures,
    "packed_index": packed_index,
    "applied_decisions": applied_decisions,
    "test_sets": test_sets,
}
