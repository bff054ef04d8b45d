"""Files changed at random, for the targets that are written in Python. The seeds hold every part of a format, and its
words are put in at random places. Inputs that reach new lines of the package are changed further."""

from __future__ import annotations

import os
import random
import resource
import shutil
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import roughly
from roughly.errors import RoughlyError, UnexpectedError

INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)
SLOW = 10.0
"""CPU seconds for an input, and for each further megabyte of it, above which it is a finding."""

TRACED = 8
"""One of so many inputs is traced: that takes several times as long."""
LONGEST = 1 << 18
"""Bytes of inputs that are changed further, at most."""
PACKAGE = str(Path(roughly.__file__).parent)

Change = Callable[[bytes, random.Random], bytes]


@dataclass
class Guide:
    """The lines of the package that traced inputs have reached, and the inputs that reached new ones."""

    lines: set[tuple[str, int]] = field(default_factory=set)
    inputs: list[tuple[Path, bytes]] = field(default_factory=list)

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:
        """Note the lines of a function of the package, for `sys.settrace`."""
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self.trace

    def try_file(self, path: Path, use: Callable[[Path], None]) -> None:
        """As the function of this name; the input is kept if it reaches new lines."""
        before, data = len(self.lines), path.read_bytes()
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        try:
            try_file(path, use)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            if len(self.lines) > before and len(data) < LONGEST:
                self.inputs.append((path, data))


@dataclass(frozen=True)
class Prepared:
    """What a target needs: files that are good, and what uses one of them when it was changed."""

    seeds: Sequence[tuple[Path, bytes]]
    use: Callable[[Path], None]
    change: Change | None = None
    words: tuple[bytes, ...] = ()
    guide: Guide = field(default_factory=Guide)


def take_processor(places: Any) -> None:
    """Use one processor from now on, another one than other processes."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {allowed[places.get() % len(allowed)]})


def mutated(data: bytes, chance: random.Random, words: Sequence[bytes] = ()) -> bytes:
    """A copy with one to four changes per 4 KB: bytes replaced, removed, repeated or moved, or the end cut off."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4 * chance.randint(1, 1 + len(data) // 4096))):
        at = chance.randrange(len(changed) + 1)
        count = chance.choice((1, 1, 2, 4, 8, 64))
        match chance.randrange(8):
            case 0:
                changed[at : at + count] = chance.randbytes(count)
            case 1:
                changed[at : at + count] = bytes([chance.choice(INTERESTING)]) * count
            case 2 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 3:
                del changed[at : at + count]
            case 4:
                changed[at:at] = changed[at : at + count] * chance.choice((1, 1, 2, 50))
            case 5 if chance.random() < 0.05:
                del changed[at:]
            case 6 if words:
                changed[at:at] = chance.choice(words)
            case 7:
                start = chance.randrange(len(changed) + 1)
                changed[at : at + count] = changed[start : start + count]
    return bytes(changed)


def try_file(path: Path, use: Callable[[Path], None]) -> None:
    """Use a file, which either works or is refused with an error of ours, in one line and in time."""
    start = time.process_time()
    try:
        use(path)
    except UnexpectedError:
        raise
    except RoughlyError as problem:
        if "\n" in str(problem).strip():
            raise AssertionError("a message is one line") from problem
    took = time.process_time() - start
    if took > SLOW * (1 + path.stat().st_size / 1e6):
        raise AssertionError(f"{took:.0f} CPU seconds for {path.stat().st_size:,} bytes")


def run_target(
    name: str, prepared: Prepared, limits: tuple[int, float], findings: Path, seed: object = 1
) -> dict[str, Any]:
    """Try changed copies of the seeds until so many bytes were used, or for so long; findings are kept as files."""
    findings.mkdir(parents=True, exist_ok=True)
    current = findings / f"current-{name}-{seed}"  # still there if the process is killed by what it reads
    wanted, seconds = limits
    chance = random.Random(f"{name} {seed}")
    until, started = time.monotonic() + seconds, time.process_time()
    tried = inputs = 0
    found: list[str] = []
    guide, goods = prepared.guide, dict(prepared.seeds)
    while tried < wanted and time.monotonic() < until:
        path, data = chance.choice(guide.inputs if guide.inputs and chance.random() < 0.5 else prepared.seeds)
        changed = (
            prepared.change(data, chance)
            if prepared.change is not None
            else mutated(data, chance, prepared.words)
        )  # fmt: skip
        current.write_bytes(changed)
        path.write_bytes(changed)
        tried, inputs = tried + len(changed), inputs + 1
        try:
            (guide.try_file if inputs % TRACED == 0 else try_file)(path, prepared.use)
        except Exception as problem:
            kept = findings / f"{name}-{seed}-{inputs}-{path.name}"
            shutil.copy(current, kept)
            found.append(f"{kept.name}: {type(problem).__name__}: {problem}"[:500])
        finally:
            path.write_bytes(goods[path])
    current.unlink(missing_ok=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    cpu = round(time.process_time() - started, 1)
    return {"bytes": tried, "inputs": inputs, "cpu_seconds": cpu, "peak_mb": peak, "findings": found}
