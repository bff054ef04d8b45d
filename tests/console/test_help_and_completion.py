"""Help in sections, completion in a real shell, and answers to what is misspelt."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import roughly
from commands import run_roughly
from roughly.cli.app import COMMANDS, app
from roughly.console.completion import SHELLS, columns_of, script

HELP = CliRunner().invoke(app, ["dedupe", "-h"]).output
COMPLETING = """
eval "$(roughly completion bash)"
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_roughly_completion roughly
printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_help_has_sections_and_says_what_inputs_may_be() -> None:
    headings = [line.rstrip(":") for line in HELP.splitlines() if line and not line.startswith(" ") and line[-1] == ":"]
    assert headings[1:] == [
        "Often used", "What counts as a duplicate", "Output", "Reading", "Running", "Other options",
        "Options of methods", "Examples",
    ]  # fmt: skip
    often = HELP.split("Often used:")[1].split("What counts")[0]
    assert sum(line.startswith("  -") for line in often.splitlines()) == 10
    assert "Parquet, CSV" in " ".join(HELP.split()) and "for standard input" in HELP
    assert HELP.count("\n  roughly dedupe ") == 2 + 1, "two examples, and where the options of methods are"
    assert "Documentation: docs/cli/dedupe.md" in HELP
    assert "--min-terms" not in HELP
    page = (Path(__file__).parents[2] / "docs" / "cli" / "dedupe.md").read_text(encoding="utf-8")
    for heading in headings[1:-1]:
        assert f"### {heading}" in page


def test_a_method_has_a_help_of_its_own() -> None:
    shown = CliRunner().invoke(app, ["dedupe", "--help-method", "imatch"]).output
    assert "Options of imatch" in shown and "--min-terms" in shown and "--lsh-words" not in shown
    assert "docs/methods/imatch.md" in shown
    wrong = run_roughly("dedupe", "--help-method", "imtach")
    assert wrong.returncode == 2 and "Did you mean imatch?" in wrong.stderr


@pytest.mark.parametrize("name", [*COMMANDS, "index add"])
def test_a_short_option_for_help_everywhere(name: str) -> None:
    done = CliRunner().invoke(app, [*name.split(), "-h"])
    assert done.exit_code == 0 and "Usage: " in done.output and "-h, --help" in done.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["dedupe", "x", "--treshold", "1"], "Did you mean '--threshold'?"),
        (["dedupe", "x", "-o", "y", "--method", "minhsh"], "Did you mean minhash?"),
        (["dedupe", "x", "-o", "y", "--preset", "brodr-1997"], "Did you mean broder-1997?"),
        (["dedupe", "x", "-o", "y", "--keep", "newst"], "Did you mean newest?"),
        (["dedupe", "x", "-o", "y", "--measure", "Resemblance"], "Did you mean resemblance?"),
        (["dedupe", "x", "-o", "y", "--format", "jsnl"], "Did you mean jsonl?"),
        (["dedupe", "x", "-o", "y", "--memory", "4"], "memory 4 means 4 bytes; did you mean 4GB?"),
        (["dedupe", "x", "-o", "y", "--threshold", "eighty"], "must be a number, such as 0.8, not 'eighty'"),
        (["dedupe", "x", "-o", "y", "--threshold", "80"], "at most 1, not 80.0; for 80 % write 0.8"),
        (["dedupe", "x", "-o", "y", "--threads", "two"], "must be a whole number, such as 5, not 'two'"),
        (["shw"], "Did you mean 'show'?"),
    ],
)
def test_what_is_misspelt_is_answered_with_the_nearest(arguments: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{}")
    done = run_roughly(*arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert told in done.stderr


def test_short_options_and_whole_sentences(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "some words"}')
    quiet = run_roughly("dedupe", "x.jsonl", "-o", "kept.csv", "-q", cwd=tmp_path)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert run_roughly("-V").stdout == run_roughly("--version").stdout
    listed = " ".join(run_roughly("index", "-h").stdout.split())
    assert "changed ones replace the old version." in listed and "are..." not in listed


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the command, as an installation has it."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "roughly"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m roughly "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["comp"], ["compare", "completion"]),
        (["dedupe", "--thr"], ["--threshold", "--threads"]),
        (["dedupe", "x.jsonl", "--method", "sup"], ["super-shingles"]),
        (["dedupe", "x.jsonl", "--preset", "ye"], ["ye-2008"]),
        (["dedupe", "x.jsonl", "--keep", "newest,lo"], ["newest,longest"]),
        (["dedupe", "x.jsonl", "--text-column", "b"], ["body"]),
        (["dedupe", "x.jsonl", "--text-column", ""], ["name", "body"]),
        (["show", "run", "cl"], ["clusters"]),
    ],
)
def test_bash_completes(words: list[str], found: list[str], commands: Path, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    (tmp_path / "x.jsonl").write_text(json.dumps({"name": "1", "body": "words"}) + "\n")
    environment = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(roughly.__path__[0]).parent),
    }
    done = subprocess.run(
        [bash, "-c", COMPLETING, "bash", "roughly", *words],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == found, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["dedupe"], ["dedupe", "x.jsonl", "-o"], ["dedupe", "--drop"], ["dedupe", "--against"], ["dedupe", "--lexicon"],
        ["dedupe", "--settings"], ["serve"], ["show"], ["apply"], ["index", "add"], ["index", "add", "i.db"], ["match"],
    ],
)  # fmt: skip
def test_names_of_files_are_completed(words: list[str]) -> None:
    """The script of a shell leaves file names to the shell only where it is told so."""
    found = ShellComplete(app, {}, "roughly", "_ROUGHLY_COMPLETE").get_completions(words, "x")
    assert [(one.value, one.type) for one in found] == [("x", "file")]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell: str) -> None:
    assert "roughly" in script(shell) and f"_ROUGHLY_COMPLETE={shell}_complete" in script(shell)
    found = shutil.which(shell)
    if found is not None:
        checked = subprocess.run([found, "-n"], input=script(shell), capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


def test_columns_of_files(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "p.parquet")
    (tmp_path / "c.csv").write_text("a;b\n1;x\n")
    (tmp_path / "j.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1, "b": "x"}\n'))
    for name in ("p.parquet", "c.csv", "j.jsonl.gz"):
        assert columns_of(tmp_path / name) == ["a", "b"]
