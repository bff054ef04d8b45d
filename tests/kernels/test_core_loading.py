"""A core that cannot be loaded is one sentence with the remedy, in Python and on the command line."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import roughly
from roughly import _core
from roughly.errors import CoreUnusable, RoughlyError

PACKAGE = Path(roughly.__path__[0])
NAME = Path(_core.__file__).name
TEXT = '{"id": "a", "text": "some words"}\n'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package without its core."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "roughly", ignore=shutil.ignore_patterns("_core*", "__pycache__")))


def run(package: Path, *command: str) -> subprocess.CompletedProcess[str]:
    # -S and a path of our own: an editable install would find its own core
    found = [str(package.parent), *(path for path in sys.path if path.endswith("site-packages"))]
    return subprocess.run(
        [sys.executable, "-S", *command],
        cwd=package.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(found)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (None, "it has not been built"),
        ("_core.cpython-399-x86_64-linux-gnu.so", "it was built for cpython-399-x86_64-linux-gnu"),
        (NAME, NAME),  # the right name and no library in it: the loader says what is wrong
    ],
)
def test_the_command_line_says_why_and_what_to_do(package: Path, name: str | None, reason: str) -> None:
    if name is not None:
        (package / name).write_bytes(b"not a library")
    (package.parent / "n.jsonl").write_text(TEXT, encoding="utf-8")
    done = run(package, "-c", "from roughly.cli import main; main()", "dedupe", "n.jsonl", "-o", "out")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: the compiled core of Roughly cannot be loaded by this Python")
    assert reason in line
    assert "python -m pip install --force-reinstall roughly" in line


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler on this machine")
def test_a_missing_symbol_is_named(package: Path) -> None:
    source = package.parent / "core.cpp"
    source.write_text('extern "C" void *gone(); extern "C" void *PyInit__core() { return gone(); }', encoding="utf-8")
    subprocess.run(["c++", "-shared", "-fPIC", "-o", package / NAME, source], check=True)
    (package.parent / "n.jsonl").write_text(TEXT, encoding="utf-8")
    done = run(package, "-c", "from roughly.cli import main; main()", "dedupe", "n.jsonl", "-o", "out")
    (line,) = done.stderr.splitlines()
    assert "gone" in line
    assert "python -m pip install --force-reinstall roughly" in line


def test_python_raises_an_error_of_ours_that_is_an_import_error(package: Path) -> None:
    assert issubclass(CoreUnusable, RoughlyError)
    assert issubclass(CoreUnusable, ImportError)
    done = run(package, "-c", "import roughly; roughly.resemblance('a', 'b')")
    assert done.stderr.splitlines()[-1].startswith("roughly.errors.CoreUnusable: the compiled core of Roughly")


def test_importing_roughly_does_not_load_the_core() -> None:
    code = "import sys, roughly; print('roughly._core' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_types_are_those_of_the_core() -> None:
    stub = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    typed = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    assert typed == {name for name in vars(_core) if not name.startswith("_")}, "run `make stub`"
