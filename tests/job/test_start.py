"""The command line starts without what it does not use."""

from __future__ import annotations

import gc
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import roughly
from roughly.cli.app import COMMANDS, app

IMPORTED = re.compile(r"^import time: .*\| +(\S+)$", re.MULTILINE)
NEVER = {"numba", "pandas.core", "scipy", "pydantic", "typer", "unittest", "pyarrow.dataset", "numpy.random", "psutil"}
"""What no command of these loads."""
DATA = {"numpy", "pyarrow", "duckdb", "sqlalchemy", "jinja2", "rich", "resiliparse", "orjson", "roughly._core"}
OTHER_FORMATS = {
    "fastwarc",
    "resiliparse",
    "roughly.sources.archive",
    "roughly.sources.mail",
    "roughly.sources.csvparse",
}
PYTHON = {"asyncio", "tempfile", "subprocess", "importlib.metadata", "importlib.resources", "email", "tomllib"}


def imported(*arguments: object, cwd: Path) -> set[str]:
    """The modules that a command loads, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "roughly", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(Path(roughly.__path__[0]).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    loaded = set(IMPORTED.findall(done.stderr))
    assert not NEVER & loaded
    return loaded


def own(loaded: set[str]) -> int:
    return sum(name.split(".")[0] == "roughly" for name in loaded)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A few documents."""
    path = tmp_path / "n.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(i), "text": f"some words of number {i % 3}"}) + "\n" for i in range(9)),
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_no_command(option: str, tmp_path: Path) -> None:
    loaded = imported(option, cwd=tmp_path)
    assert not (DATA | PYTHON | {"json", "pathlib", "roughly.settings", "roughly.options"}) & loaded
    assert own(loaded) <= 8


def test_help_of_a_command_imports_its_options_only(tmp_path: Path) -> None:
    loaded = imported("dedupe", "--help", cwd=tmp_path)
    assert not (DATA | PYTHON) & loaded
    assert own(loaded) <= 40


def test_a_run_imports_neither_pandas_nor_scipy_nor_readers_of_other_formats(lines: Path) -> None:
    loaded = imported("dedupe", lines.name, "-o", "out", "--quiet", cwd=lines.parent)
    assert {"pyarrow", "roughly._core", "duckdb", "roughly.sources.jsonparse"} <= loaded
    left_out = {"rich", "sqlalchemy", "asyncio", "subprocess", "tomllib", "jinja2.sandbox", "numpy.f2py"}
    assert not (OTHER_FORMATS | left_out) & loaded
    assert own(loaded) <= 167


def test_a_query_imports_neither_the_database_of_runs_nor_the_report(lines: Path) -> None:
    imported("index", "create", "n.db", "--quiet", cwd=lines.parent)
    loaded = imported("index", "query", "n.db", lines.name, cwd=lines.parent)
    assert {"sqlalchemy", "roughly.index.queries"} <= loaded
    left_out = {"duckdb", "jinja2", "rich", "roughly.report", "roughly.engines.local", "tomllib"}
    assert not (OTHER_FORMATS | left_out) & loaded
    assert own(loaded) <= 146


def test_the_help_of_all_commands_says_what_each_says_of_itself() -> None:
    """Their sentences stand in a table, so that none of them is imported; the table must not grow old."""
    for name, entry in COMMANDS.items():
        assert inspect.cleandoc(app.commands[name].help or "") == entry.help, name
        assert app.commands[name].name == name


def test_a_command_that_there_is_not() -> None:
    done = CliRunner().invoke(app, ["dedup"])
    assert done.exit_code == 2 and "No such command 'dedup'" in done.output and "dedupe" in done.output
    done = CliRunner().invoke(app, ["dedupe", "a.jsonl", "--treshold", "0.8"])
    assert done.exit_code == 2 and "--threshold" in done.output


def test_commands_are_completed_in_the_shell(tmp_path: Path) -> None:
    asked = {"_ROUGHLY_COMPLETE": "bash_complete", "COMP_WORDS": "roughly ded", "COMP_CWORD": "1"}
    program = "import sys; sys.argv = ['roughly']; from roughly.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | asked, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.split() == ["plain,dedupe"], done.stderr


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from roughly.cli import main

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app.commands["dedupe"], "callback", lambda **_: interrupted())
    monkeypatch.setattr(sys, "argv", ["roughly", "dedupe", "a.jsonl"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 130 and "stopped" in capsys.readouterr().err


def test_a_mistake_in_the_options_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from roughly.cli import main

    monkeypatch.setattr(sys, "argv", ["roughly", "dedupe"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2 and "Missing argument 'INPUTS…'" in capsys.readouterr().err


def test_a_package_that_is_left_out_is_as_if_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.console.light import NotInstalled

    monkeypatch.setattr(sys, "meta_path", [NotInstalled("colorsys"), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with pytest.raises(ModuleNotFoundError, match="colorsys"):
        __import__("colorsys")


def test_garbage_is_still_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    from roughly.console.light import travel_light

    before = gc.get_threshold()
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    try:
        travel_light()
        assert gc.isenabled() and gc.get_threshold()[0] > before[0]
    finally:
        gc.set_threshold(*before)
