"""The core's threads: the same results for any number, errors and interrupts on the calling thread."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from roughly import _core

NEVER = 2**63


@pytest.mark.parametrize("threads", [1, 2, 3, 16, 256])
@pytest.mark.parametrize(("n", "chunk"), [(0, 1), (1, 1), (10, 3), (1000, 7), (1000, 0), (1000, 5000)])
def test_every_index_is_worked_on_once(threads: int, n: int, chunk: int) -> None:
    squares, workers = _core.pool_squares(n, threads, chunk, NEVER, 0)
    assert squares.tolist() == [i * i for i in range(n)]
    assert all(worker < threads for worker in workers.tolist())


def test_one_thread_starts_no_other() -> None:
    _, workers = _core.pool_squares(100, 1, 1, NEVER, 0)
    assert set(workers.tolist()) == {0}


def test_threads_work_side_by_side() -> None:
    started = time.perf_counter()
    _, workers = _core.pool_squares(16, 8, 1, NEVER, 50)
    assert time.perf_counter() - started < 0.5  # one thread would take 0.8 s
    assert len(set(workers.tolist())) > 1


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_first_failure_is_raised_whichever_thread_met_it(threads: int) -> None:
    for _ in range(20):
        with pytest.raises(RuntimeError, match="failed at 37"):
            _core.pool_squares(1000, threads, 5, 37, 0)


@pytest.mark.parametrize("threads", [1, 4])
def test_an_interrupt_is_answered_at_once(threads: int) -> None:
    code = (
        "import signal, time; from roughly import _core\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored where the tests run in the background
        "print('ready', flush=True)\n"
        f"try: _core.pool_squares(10_000, {threads}, 1, 2**63, 10)\n"
        "except KeyboardInterrupt: print(time.time(), flush=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    asked = time.time()
    process.send_signal(signal.SIGINT)
    answered = float(process.stdout.readline())
    process.stdout.close()
    assert process.wait() == 0
    assert answered - asked < 5, "the work takes a minute and a half on one thread"
