"""The build backend: scikit-build-core, and a C++ compiler from PyPI where the machine has none.

`ziglang` carries clang, a linker and a C++ library in one wheel. It is asked for only where neither CXX names a
compiler nor one stands on the PATH, through the hook that every installer calls (PEP 517), and then used through small
scripts, since CMake wants a compiler to be one program.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

Config = dict[str, Any] | None

COMPILERS = ("c++", "g++", "clang++")
ZIG = "ziglang>=0.13"


def has_compiler() -> bool:
    """Whether this machine has a C++ compiler of its own."""
    return bool(os.environ.get("CXX")) or any(shutil.which(name) for name in COMPILERS)


def get_requires_for_build_wheel(config_settings: Config = None) -> list[str]:
    """What has to be installed before a wheel is built."""
    return _with_compiler(_build.get_requires_for_build_wheel(config_settings))


def get_requires_for_build_editable(config_settings: Config = None) -> list[str]:
    """What has to be installed before an editable install."""
    return _with_compiler(_build.get_requires_for_build_editable(config_settings))


def build_wheel(wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None) -> str:
    """Build a wheel; returns its name."""
    with _compiler():
        return _build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None) -> str:
    """Build the core into src/roughly and a wheel that points there; returns its name."""
    with _compiler():
        return _build.build_editable(wheel_directory, config_settings, metadata_directory)


def _with_compiler(requires: list[str]) -> list[str]:
    return requires if has_compiler() else [*requires, ZIG]


@contextmanager
def _compiler() -> Iterator[None]:
    """Let CMake find a compiler: the machine's own, or that of `ziglang`."""
    if has_compiler():
        yield
        return
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="roughly-zig-") as name:
        tools = {tool: _script(Path(name), tool) for tool in ("cc", "c++", "ar", "ranlib")}
        os.environ["CC"], os.environ["CXX"] = tools["cc"], tools["c++"]
        given = f"-DCMAKE_AR={tools['ar']} -DCMAKE_RANLIB={tools['ranlib']}"
        os.environ["CMAKE_ARGS"] = f"{os.environ.get('CMAKE_ARGS', '')} {given}".strip()
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _script(folder: Path, tool: str) -> str:
    """A program that is one tool of `ziglang`; the compilers make code for any processor of the machine's kind."""
    options = " -mcpu=baseline" if tool in {"cc", "c++"} else ""
    path = folder / f"zig-{tool}"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang {tool}{options} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)
