"""Writes the tables of options on the pages of the commands, from the commands themselves.

    python docs/make_cli.py

Each command has a page, `docs/cli/<command>.md` (that of `index` is `the-index.md`). What stands between its two marks
comes from the command line; the rest of the page is written by hand and left alone. A test fails while a page is
missing or its tables are not what this prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roughly.cli.app import app
from roughly.console.help_sections import SECTION, method_options, sections

PAGES = Path(__file__).parent / "cli"
NAMES = {"index": "the-index"}
"""Pages that cannot have the command's name: index.md is the page of all commands."""
BEGIN = "<!-- from the command line: python docs/make_cli.py -->"
END = "<!-- end of what is generated -->"
_TABLE = ("| option | if not given | |", "|---|---|---|")


def commands() -> dict[str, Any]:
    """The commands by name."""
    return dict(app.commands)


def generated(command: Any, group: str = "") -> str:
    """Usage, arguments and options of a command, or of each command of a group, as Markdown."""
    if hasattr(command, "commands"):
        parts = (f"## {command.name} {n}\n\n{generated(c, command.name)}" for n, c in command.commands.items())
        return "\n\n".join(parts)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    words = ["roughly", *([group] if group else []), command.name, *(p.metavar for p in arguments), "[OPTIONS]"]
    usage = " ".join(words)
    lines = ["```text", usage, "```", "", "| argument | |", "|---|---|"]
    lines += [f"| `{p.metavar}` | {_cell(p.help)} |" for p in arguments]
    for heading, some in [*sections(options), (SECTION, method_options(options))]:
        if some:
            lines += ["", f"### {heading}", "", *_TABLE]
        lines += [f"| {_names(option)} | {_default(option)} | {_cell(option.help)} |" for option in some]
    return "\n".join(lines)


def updated(page: str, command: Any) -> str:
    """The page with the tables between its marks written anew."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page of `{command.name}` needs the lines\n{BEGIN}\n{END}")
    return f"{before}{BEGIN}\n\n{generated(command)}\n\n{END}{after}"


def _names(option: Any) -> str:
    return ", ".join(f"`{name}`" for name in [*sorted(option.opts, key=len), *option.secondary_opts])


def _default(option: Any) -> str:
    if option.is_flag:
        return "on" if option.default else "off"
    return "–" if option.required or option.default is None else f"`{option.default}`"


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("source:a>b", "`source:a>b`")


def pages() -> Iterator[tuple[Path, Any]]:
    """Every command with the page it must have."""
    for name, command in commands().items():
        yield PAGES / f"{NAMES.get(name, name)}.md", command


def main() -> None:
    """Write the tables of every page anew."""
    for path, command in pages():
        if not path.exists():
            raise SystemExit(f"{path} is missing: write it by hand, with the marks\n{BEGIN}\n{END}")
        path.write_text(updated(path.read_text(encoding="utf-8"), command), encoding="utf-8")


if __name__ == "__main__":
    main()
