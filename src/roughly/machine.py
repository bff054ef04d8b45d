"""What this process may use of the machine: processors and memory, as the system and its control groups allow.

A container is given less than the machine has by a control group (cgroups, Linux), which Python's own functions do not
look at: with 1.5 of 64 processors, 64 threads would mostly wait, and a process that takes more memory than its group
has is killed. The group of the process and all groups above it hold; the least of their limits is taken.

| file | version | |
|---|---|---|
| `cpu.max` | 2 | quota and period in µs, or `max` |
| `memory.max` | 2 | bytes, or `max` |
| `cpu/cpu.cfs_quota_us`, `cpu/cpu.cfs_period_us` | 1 | quota (−1 for none) and period |
| `memory/memory.limit_in_bytes` | 1 | bytes; without a limit a number near 2^63 |
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from roughly.fast_dataclass import dataclass

_NO_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """What the control groups allow; None where they set no limit."""

    processors: float | None = None
    memory: int | None = None


@cache
def limits(root: Path = Path("/")) -> MachineLimits:
    """The limits of this process; `root` is the folder that holds `proc` and `sys`."""
    processors = min(_processors(root), default=None)
    memory = min((limit for limit in _memory(root) if 0 < limit < _NO_LIMIT), default=None)
    return MachineLimits(processors, memory)


def cores() -> int:
    """How many threads can work at the same time: the processors of the process, or fewer if its group allows fewer."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = limits().processors
    return available if allowed is None else max(1, min(available, math.ceil(allowed)))


def _processors(root: Path) -> Iterator[float]:
    for folder in _groups(root, ""):
        yield from _share(_numbers(folder / "cpu.max"))
    for folder in _groups(root, "cpu"):
        yield from _share(_numbers(folder / "cpu.cfs_quota_us") + _numbers(folder / "cpu.cfs_period_us"))


def _share(quota_and_period: list[int]) -> Iterator[float]:
    if len(quota_and_period) == 2 and min(quota_and_period) > 0:
        yield quota_and_period[0] / quota_and_period[1]


def _memory(root: Path) -> Iterator[int]:
    for folder in _groups(root, ""):
        yield from _numbers(folder / "memory.max")
    for folder in _groups(root, "memory"):
        yield from _numbers(folder / "memory.limit_in_bytes")


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of the process's group and of those above it; in a container some may not be visible."""
    base = root / "sys" / "fs" / "cgroup" / controller
    try:
        lines = (root / "proc" / "self" / "cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        _, names, path = [*line.split(":", 2), "", ""][:3]
        if controller in names.split(","):
            group = base / path.lstrip("/")
            yield from (folder for folder in (group, *group.parents) if folder == base or base in folder.parents)


def _numbers(path: Path) -> list[int]:
    """The numbers in a file; none where it cannot be read or holds a word such as `max`."""
    try:
        return [int(word) for word in path.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return []
