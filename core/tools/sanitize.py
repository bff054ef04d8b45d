"""Builds the core with the compiler's sanitizers and runs its tests with it: `make sanitize`.

    python core/tools/sanitize.py [address] [thread]

| name      | sanitizers                                                  | tests                         |
|-----------|-------------------------------------------------------------|-------------------------------|
| `address` | AddressSanitizer and UndefinedBehaviorSanitizer             | all kernels, and their users  |
| `thread`  | ThreadSanitizer                                             | those that use threads        |

Each has a folder build/sanitize/NAME with the package as links to the sources beside the instrumented core, so the
core in src/ is not touched. Any report ends the process that caused it, hence the test run.
tests/kernels/test_sanitizers.py proves it with mistakes that are built in for that purpose.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMPILER = os.environ.get("CXX", "c++")
KERNELS = "tests/kernels"
FAULTS = "tests/kernels/test_sanitizers.py"


@dataclass(frozen=True)
class Sanitizer:
    """One build and what is run with it."""

    flags: str
    library: str
    options: dict[str, str]
    tests: tuple[str, ...]


SANITIZERS = {
    "address": Sanitizer(
        "address,undefined",
        "libasan.so",
        {
            # Python and numpy leave memory behind when a process ends
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
        (
            KERNELS,
            "tests/cluster",
            "tests/text",
            "tests/sources/test_line_ranges.py",
            "tests/tools/passages/test_text_spans.py",
            "tests/verify/test_align.py",
        ),
    ),
    "thread": Sanitizer(
        "thread",
        "libtsan.so",
        {"TSAN_OPTIONS": f"halt_on_error=1:suppressions={ROOT / 'core/tools/thread-suppressions.txt'}"},
        (
            FAULTS,
            "tests/kernels/test_core_pool.py",
            "tests/kernels/test_kernel_batches.py",
            "tests/kernels/test_kernel_components.py",
            "tests/kernels/test_kernel_line_copy.py",
            "tests/kernels/test_kernel_repeats.py",
            "tests/cluster",
            "tests/sources/test_line_ranges.py",
        ),
    ),
}


def main(names: list[str]) -> int:
    """Build and test with these sanitizers; the exit status."""
    failed = [name for name in names or list(SANITIZERS) if not check(name, SANITIZERS[name])]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def check(name: str, sanitizer: Sanitizer) -> bool:
    """Whether the tests pass; true as well where the compiler lacks the sanitizer, which is printed."""
    libraries = runtime(sanitizer)
    if libraries is None:
        print(f"skipped: {COMPILER} cannot build with -fsanitize={sanitizer.flags} on this machine")
        return True
    package = build(name, sanitizer)
    paths = [str(package), str(ROOT / "tests"), *(path for path in sys.path if path.endswith("site-packages"))]
    environment = (
        os.environ
        | sanitizer.options
        | {
            "LD_PRELOAD": libraries,
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONMALLOC": "malloc",  # so that arrays of Python are seen as well
            "ROUGHLY_SANITIZED": name,
        }
    )
    # -S: an editable install would find its own core; --capture=sys: reports are written to the process's own stderr
    command = [sys.executable, "-S", "-m", "pytest", "-q", "-x", "--capture=sys", "-m", "not slow"]
    own = f"--basetemp={package.parent / 'temp'}"  # not the folder that other runs of pytest clear at the same time
    return subprocess.run([*command, own, *sanitizer.tests], cwd=ROOT, env=environment, check=False).returncode == 0


def runtime(sanitizer: Sanitizer) -> str | None:
    """The libraries that must be loaded before Python, or None where programs with the sanitizer do not run."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "empty.cpp"), Path(folder, "empty")
        source.write_text("int main() { return 0; }\n", encoding="utf-8")
        build = [COMPILER, f"-fsanitize={sanitizer.flags}", "-o", str(program), str(source)]
        try:
            subprocess.run(build, check=True, capture_output=True)
            subprocess.run([program], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
    # the C++ library too: the sanitizers look for its functions before the core, which brings it, is loaded
    return " ".join(path_of(library) for library in (sanitizer.library, "libstdc++.so"))


def path_of(library: str) -> str:
    """Where the compiler has a library."""
    asked = [COMPILER, f"-print-file-name={library}"]
    return str(Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()).resolve())


def build(name: str, sanitizer: Sanitizer) -> Path:
    """Build the core; returns the folder that holds the package `roughly` with it."""
    folder = ROOT / "build" / "sanitize" / name
    package = folder / "package" / "roughly"
    package.mkdir(parents=True, exist_ok=True)
    configure = [
        "cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}",
        f"-DROUGHLY_SANITIZE={sanitizer.flags}", f"-DROUGHLY_MODULE_DIR={package}",
    ]  # fmt: skip
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(folder)], check=True)
    for link in package.iterdir():
        if link.is_symlink():
            link.unlink()
    for source in (ROOT / "src" / "roughly").iterdir():
        if not source.name.startswith(("_core.c", "_core.a", "__pycache__")):
            (package / source.name).symlink_to(source)
    return package.parent


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
