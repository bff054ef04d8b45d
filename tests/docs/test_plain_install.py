"""README and the first pages run with what `pip install .` installs: no other package can be imported.

Packages of this environment that are not among the dependencies, nor theirs, are hidden.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from importlib import metadata
from pathlib import Path

import pytest
from docs_blocks import DOCS, ROOT, blocks_of, commands_of, missing_line, name_of, without_progress
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HIDING = """
import sys

class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}: a plain install has none", name=name)

sys.meta_path.insert(0, Hidden)
"""


def plain_packages() -> set[str]:
    """The dependencies that pyproject.toml names without extras, and theirs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted, found = [Requirement(line) for line in project["dependencies"]], {"roughly"}
    while wanted:
        one = wanted.pop()
        name = canonicalize_name(one.name)
        if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found.add(name)
            wanted += map(Requirement, metadata.requires(name) or [])
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables of a process that has the plain packages only, and the command `roughly`."""
    plain = plain_packages()
    modules = metadata.packages_distributions().items()
    hidden = {name for name, owners in modules if plain.isdisjoint(map(canonicalize_name, owners))}
    assert {"pandas", "polars", "datasets", "pyspark"} <= hidden and not {"pyarrow", "duckdb", "roughly"} & hidden
    folder = tmp_path_factory.mktemp("plain")
    (folder / "sitecustomize.py").write_text(HIDING.format(names=hidden), encoding="utf-8")
    command = folder / "roughly"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m roughly "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "index.md", DOCS / "tour.md"], ids=name_of)
def test_a_first_page_runs_with_a_plain_install(page: Path, environment: dict[str, str], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    so_far = {"pycon": "", "python": ""}
    for block in blocks_of(page, "console", "python", "pycon"):
        if block.language == "console":
            for command in commands_of(block):
                code, printed = run(["bash", "-c", command.line], environment, tmp_path)
                assert code == 0, f"{block.place}: `{command.line}`\n{printed}"
                assert missing_line(command.shown, printed) is None, f"{block.place}: `{command.line}`\n{printed}"
        else:
            so_far[block.language] += block.text
            script = tmp_path / "blocks.txt"
            script.write_text(so_far[block.language], encoding="utf-8")
            how = ["-m", "doctest", "-o", "NORMALIZE_WHITESPACE"] if block.language == "pycon" else []
            code, printed = run([sys.executable, *how, script.name], environment, tmp_path)
            assert (code, printed) == (0, ""), block.place


def test_the_explorer_is_in_a_plain_install(environment: dict[str, str], tmp_path: Path) -> None:
    examples = ROOT / "examples" / "news.jsonl"
    code, printed = run(["roughly", "dedupe", str(examples), "-o", "demo-out"], environment, tmp_path)
    assert code == 0, printed
    with subprocess.Popen(
        ["roughly", "serve", "demo-out", "--port", "0"],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as served:  # fmt: skip
        assert served.stdout is not None
        try:
            address = next(found[0] for line in served.stdout if (found := re.search(r"http://[\d.:]+/", line)))
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert "demo-out" in answer.read().decode()
        finally:
            served.terminate()


def run(words: list[str], environment: dict[str, str], folder: Path) -> tuple[int, str]:
    """(exit code, what was printed, without progress)."""
    done = subprocess.run(
        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=600, check=False,
    )  # fmt: skip
    return done.returncode, without_progress(done.stdout)
