"""A service that is killed while documents are added to it and removed from it."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import kills
from benchmarks.killed_process import start_command
from roughly import Client, Index
from roughly.settings import ReadOptions
from roughly.sources import open_parts

_TOKEN = "token-of-the-kills-0001"
_MOST_KILLS = 6
"""Kills of a service until all documents are added."""
_AT_ONCE = 10


def undisturbed(inputs: list[str], base: Path) -> kills.Undisturbed:
    """An empty index in `base`; how long the documents take, and the index that has them."""
    Index.create(base / "index.db").close()
    whole = base.parent / "serve whole"
    shutil.copytree(base, whole)
    with _serving(whole / "index.db") as (_, address), Client(address, token=_TOKEN) as client:
        start = time.perf_counter()
        _change(client, _rows(inputs, whole), [], [])
        seconds = time.perf_counter() - start
    return kills.Undisturbed(seconds, kills.index_content(whole))


def kill_and_repeat(inputs: list[str], place: Path, seconds: float, chance: random.Random, result: kills.Round) -> None:
    """Add and remove documents until all is done; what was acknowledged must hold when it serves again."""
    rows = _rows(inputs, place)
    added: list[str] = []
    removed: list[str] = []
    while len(added) < len(rows) or len(removed) < len(_to_remove(rows)):
        with _serving(place / "index.db") as (process, address):
            killed = threading.Event()

            def end(killed: threading.Event = killed, process: int = process) -> None:
                killed.set()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

            timer = threading.Timer(chance.uniform(0.0, seconds / 2), end)  # there is less to do each time

            if result.kills < _MOST_KILLS:
                timer.start()
            try:
                with Client(address, token=_TOKEN, retries=0) as client:
                    _change(client, rows, added, removed)
            except Exception as problem:
                if not killed.wait(5):
                    raise RuntimeError(f"the service failed: {problem}") from problem
            timer.cancel()
        if killed.is_set():
            result.kills += 1
            result.reached += (f"{len(added) * 4 // len(rows) * 25} % of the documents",)
        with Index.open(place / "index.db") as index:
            result.lost += sum(index.get(name) is None for name in set(added) - set(_to_remove(rows)))
            result.lost += sum(index.get(name) is not None for name in removed)


def _change(client: Client, rows: list[dict[str, Any]], added: list[str], removed: list[str]) -> None:
    """Add what is not added yet, then remove what is not removed; each is noted when it is acknowledged."""
    for answer in client.adding(rows[len(added) :], at_once=_AT_ONCE):
        added.append(answer.doc_id or "")
    for name in _to_remove(rows)[len(removed) :]:
        client.remove(name)
        removed.append(name)


def _to_remove(rows: list[dict[str, Any]]) -> list[str]:
    return [row["doc_id"] for row in rows[::20]]


def _rows(inputs: list[str], folder: Path) -> list[dict[str, Any]]:
    return [
        {"doc_id": row["doc_id"], "text": row["text"]}
        for part in open_parts(inputs, ReadOptions(), folder)
        for chunk in part.chunks()
        for row in part.parse(chunk).batch.to_pylist()
    ]


@contextlib.contextmanager
def _serving(index: Path) -> Iterator[tuple[int, str]]:
    """A service of an index: its process and its address; it is killed at the end."""
    reading, writing = os.pipe()
    tokens = f"admin {_TOKEN}\n"
    process, ended = start_command(["serve", str(index), "--port", "0", "--rate", "0"], writing, ROUGHLY_TOKENS=tokens)
    os.close(writing)
    with os.fdopen(reading) as said, ended:
        for line in said:
            if found := re.search(r"serving at (http://\S+)/ ", line):
                break
        else:
            raise RuntimeError("the service did not start")
        threading.Thread(target=said.read, daemon=True).start()
        try:
            yield process, found[1]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            ended.readline()
