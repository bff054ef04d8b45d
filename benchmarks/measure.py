"""Run a command and measure it from outside: seconds, CPU seconds, memory of all its processes, bytes written.

Memory is the resident size summed over the process and all its descendants, sampled 20 times a second; pages shared
between them are counted once each, so a tool that forks looks a little larger than it is. Bytes written are what the
processes sent to disk as the kernel counts it, or what stands in the work folder at its fullest, whichever is more.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import resource
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_INTERVAL = 0.05
_FOLDER_INTERVAL = 1.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run took, and why it failed where it did."""

    seconds: float
    cpu_seconds: float  # of all its processes; hardly depends on who else uses the machine
    peak_bytes: int
    written_bytes: int
    failure: str | None
    output: str


def run(command: list[str], *, folder: Path, environment: dict[str, str], timeout: float) -> Measured:
    """Run the command in a process group of its own, its output kept; end the whole group at the timeout."""
    log = folder / "log.txt"
    with log.open("wb") as file:
        started, cpu = time.perf_counter(), cpu_of_children()
        process = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        watch = _Watch(process.pid, folder)
        watch.start()
        failure = None
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            _end_group(process)
            code, failure = -1, f"not done in {timeout:.0f} s"
        except BaseException:
            _end_group(process)
            raise
        finally:
            seconds = time.perf_counter() - started
            watch.stop()
    output = log.read_text(errors="replace")
    if code != 0 and failure is None:
        failure = _reason(output) or f"ended with exit code {code}"
    return Measured(seconds, cpu_of_children() - cpu, watch.peak, watch.written, failure, output)


def cpu_of_children() -> float:
    """CPU seconds of all child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Watch(threading.Thread):
    """Samples the process tree until stopped."""

    def __init__(self, pid: int, folder: Path) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.written = 0
        self._pid, self._folder = pid, folder
        self._done = threading.Event()
        self._sent: dict[tuple[int, float], int] = {}

    def run(self) -> None:
        looked = 0.0
        while not self._done.wait(_INTERVAL):
            self._sample()
            if time.monotonic() - looked > _FOLDER_INTERVAL:
                self.written = max(self.written, folder_size(self._folder))
                looked = time.monotonic()

    def stop(self) -> None:
        self._done.set()
        self.join()
        self.written = max(self.written, folder_size(self._folder), sum(self._sent.values()))

    def _sample(self) -> None:
        resident = 0
        with contextlib.suppress(psutil.Error):
            root = psutil.Process(self._pid)
            for process in (root, *root.children(recursive=True)):
                with contextlib.suppress(psutil.Error, AttributeError):
                    resident += process.memory_info().rss
                    self._sent[process.pid, process.create_time()] = process.io_counters().write_bytes
        self.peak = max(self.peak, resident)


def folder_size(folder: Path) -> int:
    """Bytes of all files under a folder; files that go away meanwhile count nothing."""
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += Path(root, name).stat().st_size
    return size


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "cpu": _cpu_name(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in ("roughly", "numpy", "pyarrow", "duckdb")},
    }


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(output: str) -> str:
    """The line of a tool's output that most likely says what went wrong: the last that speaks of an error."""
    lines = [line.strip() for line in _COLOURS.sub("", output).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "exception" in line.lower()]
    return (errors or lines or [""])[-1][:300]


def _cpu_name() -> str:
    with contextlib.suppress(OSError):
        listed = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
        for line in listed.splitlines():
            if line.startswith("Model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    if name == "roughly":
        with contextlib.suppress(ImportError):
            import roughly

            return roughly.__version__
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(name)
    return None
