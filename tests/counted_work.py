"""The process whose instructions are counted (`instructions.py`): each line of its input is a work, done in a fork.

What every work needs is imported, and has run once on something small, before the first fork; so a count is that of
the work. Every fork has the same start.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

import roughly
from roughly.errors import InputError
from roughly.sources import streams
from roughly.text import markup, markup_limits
from roughly.text.markup import PageText, strip_column

sys.path[:0] = [str(Path(__file__).parent / "sources")]

from reading import read  # noqa: E402

LONGEST = 600
"""Seconds after which a fork is ended."""
LOWERED = 16
"""Limits up to which time may grow faster are lowered, so that small inputs are beyond them: a file is read in blocks,
the rest of which is copied for each member; pages with more markup than this are cut into pieces, or lose some."""
LIMITS = (
    (streams, "_RAW_BLOCK", LOWERED), (markup, "MOST_WORK", LOWERED**2), (markup_limits, "MOST_NAMES", LOWERED),
    (markup_limits, "_MANY_ATTRIBUTES", LOWERED), (markup_limits, "_MOST_REOPENED", LOWERED**2),
)  # fmt: skip


def read_file(path: str) -> None:
    """Everything that a reader does; an input that is refused is read until it is."""
    try:
        read(path)
    except InputError as refused:
        assert Path(path).name in str(refused), refused


def quadratic(path: str) -> None:
    """A reader that is not linear: it looks through everything before each line."""
    read_file(path)
    data = Path(path).read_bytes()
    for at in range(0, len(data), 50):
        data.count(b"\n", 0, at)


def strip(path: str, part: str) -> None:
    """Markup removed."""
    text = Path(path).read_text(encoding="utf-8")
    strip_column(pa.array([text]), np.ones(1, np.bool_), cast(PageText, part))


def features(path: str) -> None:
    """Objects by their features."""
    roughly.cluster_features(path, threads=1)


def passages(path: str, against: str) -> None:
    """Passages that a test set has too."""
    with tempfile.TemporaryDirectory() as folder:
        roughly.passages(paths=[path], against=[Path(against)], output=Path(folder) / "out", least=5, threads=1)


def dedupe(path: str, against: str) -> None:
    """Documents that a test set has too."""
    with tempfile.TemporaryDirectory() as folder:
        roughly.dedupe(paths=[path], against=Path(against), output=Path(folder) / "out", threads=1, progress=False)


WORKS: dict[str, Callable[..., None]] = {
    work.__name__: work for work in (read_file, quadratic, strip, features, passages, dedupe)
}


def do(asked: dict[str, Any]) -> None:
    """One work, by its name; `work` is missing for the start alone."""
    if "work" in asked:
        WORKS[asked["work"]](*asked["arguments"])


def main() -> None:
    """Answer each line with the process that did it and how it ended."""
    for module, name, times in LIMITS:
        setattr(module, name, getattr(module, name) // times)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.pop("here", False):
            do(asked)
            continue
        gc.collect()
        gc.freeze()  # a fork looks at its own objects only
        if not (child := os.fork()):
            signal.alarm(LONGEST)
            ended = 1
            try:
                do(asked)
                ended = 0
            except BaseException as problem:
                print(f"{asked}: {type(problem).__name__}: {problem}", file=sys.stderr)
            os._exit(ended)
        _, status = os.waitpid(child, 0)
        print(json.dumps([child, status]), flush=True)


if __name__ == "__main__":
    main()
