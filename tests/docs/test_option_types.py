"""Keyword options have types: written from the declarations, and enough for mypy to see a typo."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import typing
from pathlib import Path
from types import ModuleType

import pytest
from docs_blocks import DOCS, ROOT, blocks_of
from test_docs_reference import module

import roughly
from roughly import option_types


def make() -> ModuleType:
    sys.path.insert(0, str(DOCS))
    try:
        return module(DOCS / "make_option_types.py")
    finally:
        sys.path.remove(str(DOCS))


def test_the_file_is_what_the_declarations_say() -> None:
    made = make()
    assert made.FILE.read_text(encoding="utf-8") == made.generated(), "python docs/make_option_types.py"


def test_every_public_function_has_typed_options() -> None:
    functions = [one for name in roughly.__all__ if inspect.isfunction(one := getattr(roughly, name))]
    functions += [roughly.Index.__init__, roughly.Index.create, roughly.Sweeps.add]
    for function in functions:
        hints = getattr(function, "__annotations__", {})
        for name in ("options", "reading"):
            if name in hints and function is not roughly.dedupe:
                assert hints[name].startswith("Unpack["), function
    overloads = typing.get_overloads(roughly.dedupe.__wrapped__)  # type: ignore[attr-defined]
    assert len(overloads) == 2 and all(one.__annotations__["options"] == "Unpack[DedupeOptions]" for one in overloads)
    assert {"threshold", "text_column", "memory", "preset", "lexicon"} <= set(
        option_types.DedupeOptions.__annotations__
    )


CHECKED = """
import roughly
from roughly.job.on_spark import SparkResult
result = roughly.dedupe("x.jsonl", threshold=0.8, memory="4GB", keep=["newest", "longest"], text_column="body")
higher: roughly.Result = result.rethreshold(0.9)
rows: list[dict[str, str]] = result.filter([{"text": "a"}])
session: object = None
from_spark: list[SparkResult] = [roughly.dedupe("x", engine="spark"), roughly.dedupe("x", spark=session)]
index = roughly.Index.create("a.db", threshold=0.8, search=True)
found = roughly.Index(":memory:", method="lexical").query("a text")[0].resemblance
"""
WRONG = [
    'roughly.dedupe("x.jsonl", treshold=0.8)',
    'roughly.dedupe("x.jsonl", threshold="high")',
    'roughly.Index.create("a.db", thresholds=0.8)',
    'roughly.truth("x.jsonl", mesure="cosine")',
]


@pytest.mark.slow
def test_mypy_passes_the_readme_and_sees_typos(tmp_path: Path) -> None:
    shown = []
    for block in blocks_of(ROOT / "README.md", "python", "pycon"):
        lines = block.text.splitlines()
        if block.language == "pycon":
            lines = [line[4:] for line in lines if line.startswith((">>> ", "... "))]
        shown += lines
    (tmp_path / "readme.py").write_text("\n".join(shown) + CHECKED)
    (tmp_path / "wrong.py").write_text("import roughly\n" + "\n".join(WRONG))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), "readme.py", "wrong.py"]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    problems = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line for line in problems if line.startswith("readme.py")] == [], done.stdout + done.stderr
    lines = {line.split(":")[1] for line in problems if line.startswith("wrong.py")}
    assert lines == {str(number) for number in range(2, 2 + len(WRONG))}, done.stdout
