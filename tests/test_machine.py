"""What a control group allows is found and kept to, in either version of cgroups; a run says what it used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import roughly
from roughly import machine
from roughly.cli.summary_text import limit_lines
from roughly.machine import MachineLimits, limits
from roughly.settings import LEAST_MEMORY, Resources

HALF_GB = 512 << 20
ROOT = "sys/fs/cgroup"


def system(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return folder


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, MachineLimits()),
        ({"proc/self/cgroup": "0::/\n"}, MachineLimits()),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                f"{ROOT}/a/b/cpu.max": "150000 100000\n",
                f"{ROOT}/a/b/memory.max": "max\n",
                f"{ROOT}/a/memory.max": f"{HALF_GB}\n",  # of the group above
            },
            MachineLimits(1.5, HALF_GB),
        ),
        (  # in a container: the group's path is that of the machine, its files lie at the root
            {"proc/self/cgroup": "0::/docker/1234\n", f"{ROOT}/cpu.max": "max 100000\n", f"{ROOT}/memory.max": "7\n"},
            MachineLimits(None, 7),
        ),
        (
            {
                "proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/x\n0::/\n",
                f"{ROOT}/cpu/x/cpu.cfs_quota_us": "50000\n",
                f"{ROOT}/cpu/x/cpu.cfs_period_us": "100000\n",
                f"{ROOT}/cpu/cpu.cfs_quota_us": "-1\n",
                f"{ROOT}/cpu/cpu.cfs_period_us": "100000\n",
                f"{ROOT}/memory/x/memory.limit_in_bytes": f"{HALF_GB}\n",
                f"{ROOT}/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            MachineLimits(0.5, HALF_GB),
        ),
        ({"proc/self/cgroup": "nonsense\n::\n0::/\n", f"{ROOT}/cpu.max": "a b c\n"}, MachineLimits()),
    ],
)
def test_the_least_limit_of_all_groups_holds(files: dict[str, str], found: MachineLimits, tmp_path: Path) -> None:
    assert limits(system(tmp_path, files)) == found


@pytest.mark.parametrize(
    ("allowed", "threads", "memory"),
    [
        (MachineLimits(), 8, 4 << 30),
        (MachineLimits(1.5, 1 << 30), 2, 1 << 30),
        (MachineLimits(0.1, HALF_GB), 1, LEAST_MEMORY),
        (MachineLimits(64, 1 << 40), 8, 4 << 30),
    ],
)
def test_a_run_takes_no_more_than_is_allowed(
    allowed: MachineLimits, threads: int, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "limits", lambda: allowed)
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda _: range(8), raising=False)
    taken = Resources()
    assert (taken.threads, taken.memory) == (threads, memory)
    assert Resources(threads=256).threads == 256  # as asked
    assert Resources(memory=LEAST_MEMORY - 1).memory == LEAST_MEMORY - 1  # refused by name where it is too little


def test_the_summary_says_what_was_allowed_and_used() -> None:
    used = {"threads": 2, "memory": LEAST_MEMORY}
    assert limit_lines({**used, "limits": {"processors": None, "memory": None}}) == []
    (line,) = limit_lines({**used, "limits": {"processors": 1.5, "memory": HALF_GB}})
    assert line == (
        "limits      1.5 processors and 512MB in this control group: the run used 2 threads and --memory 640MB"
    )


def test_one_thread_and_256_give_the_same_answer() -> None:
    texts = [f"{i // 2} the same words stand in both of these documents but for this {i}" for i in range(300)]
    one, many = (roughly.dedupe(texts, threads=threads, threshold=0.5).documents for threads in (1, 256))
    assert one.equals(many)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity of processes")
def test_a_process_bound_to_one_core_takes_one_thread() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert Resources().threads == 1
    finally:
        os.sched_setaffinity(0, before)
