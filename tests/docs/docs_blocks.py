"""Fenced blocks of Markdown pages, and what it takes to run those that show commands or Python.

A page is run from top to bottom in one folder that holds a copy of `examples/`, and its Python blocks share their
names. What a block shows must come out, in this order; a line with nothing but `…` stands for any lines, and `…` at the
end of a line for the rest of it. Times, speeds and memory are not compared, since they are never the same twice.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from commands import folder_of_commands

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
GIVEN: dict[str, dict[str, object]] = {
    "docs/compare.md": {"a": "one two three four five six seven", "b": "one two three four five six eight"},
}
"""Names that a page's Python takes for granted."""

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MASKS = [
    (re.compile(r"\d[\d.,]* (?:bytes|[KMGT]B)/s"), "SPEED"),
    (re.compile(r"\d[\d.,]* s\b"), "TIME"),
    (re.compile(r"peak memory \d[\d.,]* [KMGT]B"), "peak memory SIZE"),
    (re.compile(r"about \d[\d.,]* (?:bytes|[KMGT]B) (of the|while it runs)"), r"about SIZE \1"),
    (re.compile(r"on \d+ threads?"), "on N threads"),
]
_PROGRESS = re.compile(r".*; elapsed \d+:\d\d:\d\d")
"""What a command says of its progress every ten seconds: how often depends on the machine."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{name_of(self.page)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A command after a `$`, and the lines shown below it."""

    line: str
    shown: list[str]


def name_of(page: Path) -> str:
    """The page as people call it: its path in the checkout."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path, *languages: str) -> list[Block]:
    """The blocks of a page in these languages, in order."""
    text = page.read_text(encoding="utf-8")
    found = [Block(page, text.count("\n", 0, m.start()) + 1, m[1], m[2]) for m in _FENCE.finditer(text)]
    return [block for block in found if block.language in languages]


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block; each must start with `$ `."""
    commands: list[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:], []))
        elif commands:
            commands[-1].shown.append(line)
        else:
            raise AssertionError(f"{block.place}: a console block starts with `$ `")
    return commands


def masked(line: str) -> str:
    """The line without what differs from run to run, nor spaces at its end."""
    for pattern, word in _MASKS:
        line = pattern.sub(word, line)
    return line.rstrip()


def missing_line(shown: list[str], printed: str) -> str | None:
    """The first line at which what is shown and what was printed part; None where they agree.

    Blank lines do not count. A line `…` stands for any number of lines, and nothing else lets a printed line pass.
    """
    lines = [masked(line) for line in printed.splitlines() if line.strip()]
    wanted = [masked(line) for line in shown if line.strip()]
    at = 0
    for number, line in enumerate(wanted):
        if line.strip() == "…":
            continue
        skips = number > 0 and wanted[number - 1].strip() == "…"
        found = next(
            (i for i in range(at, len(lines) if skips else at + 1) if i < len(lines) and _is(lines[i], line)), None
        )
        if found is None:
            return line
        at = found + 1
    ends_open = bool(wanted) and wanted[-1].strip() == "…"
    return None if at == len(lines) or ends_open or not wanted else f"(not shown) {lines[at]}"


def _is(line: str, wanted: str) -> bool:
    return line.startswith(wanted[:-1]) if wanted.endswith("…") else line == wanted


def run_command(command: Command, folder: Path) -> tuple[int, str]:
    """Run as a user would, in a shell, with this environment's commands first; (exit code, what was printed)."""
    path = os.pathsep.join([str(folder_of_commands()), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["bash", "-c", command.line],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, without_progress(done.stdout)


def without_progress(printed: str) -> str:
    """What was printed, without lines about the progress."""
    return "".join(line for line in printed.splitlines(keepends=True) if not _PROGRESS.match(line))


def run_page(page: Path, folder: Path) -> int:
    """Run every block of the page that can be run; returns how many there were."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    names: dict[str, object] = {"__name__": "__main__", **GIVEN.get(name_of(page), {})}
    blocks = blocks_of(page, "console", "python", "pycon")
    for block in blocks:
        if block.language == "console":
            _run_console(block, folder)
        elif block.language == "pycon":
            _run_prompts(block, names)
        else:
            # in a thread of its own, since a browser of other tests leaves a loop running in this one
            with ThreadPoolExecutor(1) as apart:
                apart.submit(exec, compile(block.text, block.place, "exec"), names).result()
    return len(blocks)


def _run_console(block: Block, folder: Path) -> None:
    for command in commands_of(block):
        code, printed = run_command(command, folder)
        assert code == 0, f"{block.place}: `{command.line}` ended with {code}\n{printed}"
        lost = missing_line(command.shown, printed)
        assert lost is None, f"{block.place}: `{command.line}` did not print\n{lost}\nbut\n{printed}"


def _run_prompts(block: Block, names: dict[str, object]) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(block.text, names, block.place, str(block.page), block.line)
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(test, out=printed.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, f"{block.place}:\n{''.join(printed)}"
