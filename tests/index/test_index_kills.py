"""Killed at any moment, an index opens, is whole, has all that was acknowledged and nothing by half; and many processes
at once end with exactly the union of what they added."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from index_worker import document

from roughly import Index, Settings, lexicon

WORKER = Path(__file__).with_name("index_worker.py")
METHOD = {"method": "imatch", "filter": "IDF-L-1", "lexicons": 2}


class Nursery:
    """Processes that work on indexes, and can be killed."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == ["prepared"]

    def killed(self, where: str, task: str, seed: int, most: float) -> list[list[str]]:
        """What a process acknowledged before it was killed, at a random moment after it began."""
        self._tell(f"{where} {task} {seed}")
        ready = self._line()
        time.sleep(random.Random(seed).uniform(0, most))
        with contextlib.suppress(ProcessLookupError):  # it was faster
            os.kill(int(ready[1]), signal.SIGKILL)
        told = []
        while (line := self._line())[:1] != ["end"]:
            told.append(line)
        return told

    def together(self, where: str, tasks: list[str]) -> None:
        """Several processes at once; all must end well."""
        self._tell("|".join(f"{where} {task} {seed}" for seed, task in enumerate(tasks)))
        while (line := self._line())[:1] != ["end"]:
            pass  # what they print at once may be mixed up
        assert line[1:] == ["0"] * len(tasks)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()

    def _tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _line(self) -> list[str]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the workers are gone"
        return line.split()


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.close()


@pytest.fixture
def lexicons(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "one.lexicon", tmp_path / "other.lexicon"]
    for number, path in enumerate(paths):
        lexicon.build([document(n)["text"] for n in range(0, 60, 1 + 4 * number)], output=path)
    return [str(path) for path in paths]


def test_killed_at_any_moment(place: str, lexicons: list[str], nursery: Nursery) -> None:
    settings = Settings.gather(METHOD, {"lexicon": lexicons[0]})
    with Index.create(place, settings) as index:
        index.add([document(n) for n in range(60)])
    there = {f"d{n}" for n in range(60)}
    tasks = ["add:60-400", "remove:0-30", f"refresh:{lexicons[1]}", "add:60-400", "expire:", f"refresh:{lexicons[1]}"]
    for seed, task in enumerate(tasks):
        told = nursery.killed(place, task, seed, 0.5)
        added = {line[1] for line in told if line[0] == "added"}
        gone = {line[1] for line in told if line[0] == "removed"}
        with Index.open(place) as index:
            check = index.verify()
            assert check.whole, (task, check.problems)
            found = {f"d{n}" for n in range(400) if index.get(f"d{n}") is not None}
            assert added <= found or task == "expire:"
            assert not gone & found
            if task.startswith("remove") or task == "expire:":
                assert found <= there
                days = [line[1] for line in told if line[0] == "expired"]
                left = [document(int(d[1:]))["date"] for d in found]
                assert not days or all(day >= max(days) for day in left)
            elif task.startswith("refresh"):
                assert found == there
            else:
                assert there <= found
            for line in told:
                if line[0] == "revoked":
                    assert index.get(line[1]).state == "revoked"  # type: ignore[union-attr]
            there = found
    with Index.open(place) as index:  # and what was interrupted can be done
        index.refresh(lexicons[1])
        index.add([document(n) for n in range(100)])
        assert index.verify().whole and index.stats().documents >= 100


def test_eight_processes_end_with_the_union(place: str, nursery: Nursery) -> None:
    Index.create(place, Settings(threshold=0.7)).close()
    nursery.together(place, [f"add:{20 * n}-{20 * n + 60}" for n in range(8)])
    with Index.open(place) as index:
        stats = index.stats()
        assert (stats.documents, stats.contents) == (200, 200)
        assert index.verify().whole
        expected = {frozenset((f"d{a}", f"d{b}")) for n in range(50) for a in range(4 * n, 4 * n + 4)
                    for b in range(4 * n, a)}  # fmt: skip
        assert pair_ids(index.pairs()) == expected
        for n in range(50):  # nobody missed anybody: each group is one cluster
            assert len({index.get(f"d{m}").cluster_id for m in range(4 * n, 4 * n + 4)}) == 1  # type: ignore[union-attr]


def test_threads_share_an_index(place: str) -> None:
    problems: list[BaseException] = []
    with Index.create(place, Settings(threshold=0.7)) as index:

        def work(first: int) -> None:
            try:
                for number in range(first, first + 30, 3):
                    index.add([document(n) for n in range(number, number + 3)])
                    assert index.query(document(number)["text"])
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=work, args=(10 * n,)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        assert index.stats().documents == 70 and index.verify().whole


def test_readers_go_on_while_someone_writes(place: str) -> None:
    with Index.create(place, Settings(threshold=0.7)) as index:
        index.add([document(n) for n in range(8)])
        with index.transactions.store.write_transaction() as connection:
            connection.exec_driver_sql("DELETE FROM documents")
            with Index.open(place) as reader:
                assert len(reader.query(document(1)["text"])) == 4
            connection.rollback()


def pair_ids(table: Any) -> set[frozenset[str]]:
    return {frozenset(p) for p in zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True)}
