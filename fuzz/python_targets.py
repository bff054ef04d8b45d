"""Every target that is written in Python, in one table, and how they run side by side.

A target is prepared in a folder of its own (`mutation.Prepared`): files that are good, and what uses one of them. A
changed file may be used or refused with an error of ours; anything else is a finding.
"""

from __future__ import annotations

import atexit
import faulthandler
import functools
import itertools
import math
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from artefact_targets import FILES
from derived_targets import DERIVED
from mutation import Prepared, run_target, take_processor
from reader_targets import READERS
from service_target import http_api

TARGETS: dict[str, Callable[..., Prepared]] = {**READERS, **FILES, **DERIVED, "http_api": http_api}
LARGE = {
    "sketches": 3000, "signature_file": 1500, "lexicon_file": 1500, "settings_file": 800, "token_file": 1500,
    "run_folder": 1500, "passages_run": 1500, "decisions_file": 150, "http_api": 9000,
    "features": 1500, "packed_signatures": 1500,
}  # fmt: skip
"""Documents, terms, settings, tokens, lines or words of the large seeds, where any input takes long."""
_TURN = 20.0
"""Seconds that a process works on one target before it may get another."""


@functools.cache
def prepared(name: str) -> Prepared:
    """A target, made once in each process."""
    memory = Path("/dev/shm")
    scratch = Path(tempfile.mkdtemp(prefix=f"roughly-fuzz-{name}-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return TARGETS[name](scratch, *([LARGE[name]] if name in LARGE else []))


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
    under_way: int = 0  # turns

    def add(self, turn: dict[str, Any]) -> None:
        """Add a turn."""
        self.bytes += turn["bytes"]
        self.inputs += turn["inputs"]
        self.cpu_seconds = round(self.cpu_seconds + turn["cpu_seconds"], 1)
        self.peak_mb = max(self.peak_mb, turn["peak_mb"])
        self.findings += turn["findings"]

    def seconds_left(self, wanted: int) -> float:
        """CPU seconds until so many bytes are used, less those of turns under way; 0 while the speed is unknown."""
        if not self.bytes:
            return 0.0 if not self.under_way else math.inf
        left = (wanted - self.bytes) * self.cpu_seconds / self.bytes - self.under_way * _TURN
        return left if left > 0 else math.inf

    def to_dict(self) -> dict[str, Any]:
        """What is written."""
        return {
            "bytes": self.bytes, "inputs": self.inputs, "cpu_seconds": self.cpu_seconds, "peak_mb": self.peak_mb,
            "findings": self.findings,
        }  # fmt: skip


def run_all(
    wanted: Mapping[str, int], seconds: float, workers: int, findings: Path, seed: int = 1
) -> dict[str, dict[str, Any]]:
    """Try so many bytes of each target, or for so long. Each has a turn; then that which ends first is preferred."""
    until = time.monotonic() + seconds
    counts = {name: Count() for name in wanted}
    waiting: dict[Future[dict[str, Any]], tuple[str, int]] = {}
    turns = itertools.count(seed * 1_000_000)
    pool = _pool(workers)
    while True:
        while len(waiting) < workers and time.monotonic() < until:
            left = {
                name: count.seconds_left(wanted[name]) for name, count in counts.items() if len(count.findings) < 20
            }
            name = min(left, key=lambda name: left[name], default="")
            if not name or left[name] == math.inf:
                break
            counts[name].under_way += 1
            turn = min(_TURN, max(1.0, until - time.monotonic()))
            number = next(turns)
            rest = wanted[name] - counts[name].bytes
            waiting[pool.submit(take_turn, name, rest, turn, findings, number)] = name, number
        if not waiting:
            break
        for done in wait(waiting, return_when=FIRST_COMPLETED).done:
            name, number = waiting[done]
            try:
                counts[name].add(done.result())
                counts[name].under_way -= 1
                del waiting[done]
            except BrokenProcessPool:  # one process died, and all others with it
                for name, found in deaths(list(waiting.values()), findings):
                    counts[name].findings.append(found)
                for name, _ in waiting.values():
                    counts[name].under_way -= 1
                waiting.clear()
                pool = _pool(workers)
                break
    pool.shutdown()
    return {name: count.to_dict() for name, count in counts.items()}


def _pool(workers: int) -> ProcessPoolExecutor:
    """Processes that use one processor each: threads of 16 libraries on 16 processors would wait for each other."""
    context = get_context("spawn")
    places: Any = context.Queue()
    for number in range(workers):
        places.put(number)
    return ProcessPoolExecutor(workers, context, initializer=take_processor, initargs=(places,))


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
