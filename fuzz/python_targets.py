"""Every target that is written in Python, in one table, and how they run side by side.

A target is prepared in a folder of its own (`mutation.Prepared`): files that are good, and what uses one of them. A
changed file may be used or refused with an error of ours; anything else is a finding.
"""

from __future__ import annotations

import atexit
import faulthandler
import functools
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from artefact_targets import FILES
from mutation import Prepared, run_target
from reader_targets import READERS
from service_target import http_api

TARGETS: dict[str, Callable[[Path], Prepared]] = {**READERS, **FILES, "http_api": http_api}
_TURN = 8.0
"""Seconds that a process works on one target before it may get another."""


@functools.cache
def prepared(name: str) -> Prepared:
    """A target, made once in each process."""
    scratch = Path(tempfile.mkdtemp(prefix=f"roughly-fuzz-{name}-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return TARGETS[name](scratch)


def take_turn(name: str, wanted: int, seconds: float, findings: Path, seed: int) -> dict[str, Any]:
    """One turn of one target in this process; if it dies, died-NAME-SEED says where."""
    findings.mkdir(parents=True, exist_ok=True)
    path = findings / f"died-{name}-{seed}"
    with path.open("w") as trace:
        faulthandler.enable(trace)
        done = run_target(name, prepared(name), (wanted, seconds), findings, seed)
        faulthandler.disable()
    path.unlink()
    return done


@dataclass
class Count:
    """What was tried of a target so far."""

    bytes: int = 0
    inputs: int = 0
    cpu_seconds: float = 0.0
    peak_mb: int = 0
    findings: list[str] = field(default_factory=list)
    promised: int = 0  # bytes of turns that are under way
    turns: int = 0

    def add(self, turn: dict[str, Any]) -> None:
        """Add a turn."""
        self.bytes += turn["bytes"]
        self.inputs += turn["inputs"]
        self.cpu_seconds = round(self.cpu_seconds + turn["cpu_seconds"], 1)
        self.peak_mb = max(self.peak_mb, turn["peak_mb"])
        self.findings += turn["findings"]

    def to_dict(self) -> dict[str, Any]:
        """What is written."""
        return {
            "bytes": self.bytes, "inputs": self.inputs, "cpu_seconds": self.cpu_seconds, "peak_mb": self.peak_mb,
            "findings": self.findings,
        }  # fmt: skip


def run_all(
    names: Sequence[str], wanted: int, seconds: float, workers: int, findings: Path, seed: int = 1
) -> dict[str, dict[str, Any]]:
    """Try so many bytes of each target, or for so long; the target with the least CPU time so far has the next turn."""
    until = time.monotonic() + seconds
    counts = {name: Count() for name in names}
    waiting: dict[Future[dict[str, Any]], tuple[str, int]] = {}
    pool = ProcessPoolExecutor(workers, get_context("spawn"))
    while True:
        open_ = [name for name, count in counts.items() if count.bytes < wanted and len(count.findings) < 20]
        while open_ and len(waiting) < workers and time.monotonic() < until:
            name = min(open_, key=lambda name: (counts[name].turns, counts[name].cpu_seconds))
            count = counts[name]
            count.turns += 1
            turn = min(_TURN, max(1.0, until - time.monotonic()))
            number = seed * 1_000_000 + count.turns
            waiting[pool.submit(take_turn, name, wanted - count.bytes, turn, findings, number)] = name, number
        if not waiting:
            break
        for done in wait(waiting, return_when=FIRST_COMPLETED).done:
            name, number = waiting[done]
            try:
                counts[name].add(done.result())
                del waiting[done]
            except BrokenProcessPool:  # one process died, and all others with it
                for name, found in deaths(list(waiting.values()), findings):
                    counts[name].findings.append(found)
                waiting.clear()
                pool = ProcessPoolExecutor(workers, get_context("spawn"))
                break
    pool.shutdown()
    return {name: count.to_dict() for name, count in counts.items()}


def deaths(under_way: Sequence[tuple[str, int]], findings: Path) -> list[tuple[str, str]]:
    """(target, finding) for the processes that died of what they read; all may have, if none has left a trace."""
    traces = {turn: findings / f"died-{turn[0]}-{turn[1]}" for turn in under_way}
    died = [turn for turn, trace in traces.items() if trace.exists() and trace.stat().st_size]
    for turn, trace in traces.items():
        if turn not in died:
            trace.unlink(missing_ok=True)
            if died:
                (findings / f"current-{turn[0]}-{turn[1]}").unlink(missing_ok=True)
    if died:
        return [(name, f"the process died: died-{name}-{number}, current-{name}-{number}") for name, number in died]
    return [(name, f"killed, or another was beside it: current-{name}-{number}") for name, number in under_way]
