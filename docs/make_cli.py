"""Writes the tables of options on the pages of the commands, from the commands themselves.

    python docs/make_cli.py

Each command has a page, `docs/cli/<command>.md` (that of `index` is `the-index.md`). What stands between its two marks
comes from the command line; the rest of the page is written by hand and left alone. A test fails while a page is
missing or its tables are not what this prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roughly.cli.app import app
from roughly.console.help_sections import SECTION, method_options, sections
from roughly.options import METHODS

PAGES = Path(__file__).parent / "cli"
NAMES = {"index": "the-index"}
"""Pages that cannot have the command's name: index.md is the page of all commands."""
BEGIN = "<!-- from the command line: python docs/make_cli.py -->"
END = "<!-- end of what is generated -->"
_TABLE = ("| option | | default |", "|---|---|---|")
_EVERYWHERE = ("as_json", "quiet", "verbose", "overwrite", "inputs")
"""What means the same in every command that has it: docs/cli/index.md explains it."""
_SEVERAL = 3
"""An option of this many commands of a group is explained once, above them."""


def commands() -> dict[str, Any]:
    """The commands by name."""
    return dict(app.commands)


def generated(command: Any) -> str:
    """Usage, arguments and options of a command, or of each command of a group, as Markdown.

    What `roughly dedupe` has too, with the same meaning, is only named; so is what several commands of a group have.
    """
    known = {} if command.name == "dedupe" else {_row(p): "dedupe" for p in commands()["dedupe"].params}
    if not hasattr(command, "commands"):
        return "\n".join(_section(command, known))
    rows = Counter(_row(p) for c in command.commands.values() for p in c.params if not getattr(p, "hidden", False))
    common = [row for row, times in rows.items() if times >= _SEVERAL and row not in known]
    parts = ["\n".join(["## Options of several commands", "", *_TABLE, *common])] if common else []
    known.update(dict.fromkeys(common, ""))
    for name, one in command.commands.items():
        needs = [p.metavar for p in one.params if p.param_type_name == "argument"]
        parts.append("\n".join([" ".join([f"## {command.name} {name}", *needs]), *_tables(one, known)]))
    return "\n\n".join(parts)


def _section(command: Any, known: dict[str, str]) -> list[str]:
    arguments = [p.metavar for p in command.params if p.param_type_name == "argument"]
    return ["```text", " ".join(["roughly", command.name, *arguments, "[OPTIONS]"]), "```", *_tables(command, known)]


def _tables(command: Any, known: dict[str, str]) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    lines = []
    new = [p for p in arguments if _row(p) not in known]
    lines += ["", "| argument | |", "|---|---|", *map(_row, new)] if new else []
    own = method_options(options)
    for heading, some in sections(options):
        new = [p for p in some if _row(p) not in known]
        title = [] if heading == "Options" else [f"### {heading}", ""]
        lines += ["", *title, *_TABLE, *map(_row, new)] if new else []
    if own and _row(own[0]) not in known:
        lines += ["", f"### {SECTION}", "", *_methods()]
    same = [p for p in [*arguments, *options] if known.get(_row(p)) == "dedupe"]
    named = [_names(p) for p in same if p not in own and p.name not in _EVERYWHERE]
    if own and any(p in same for p in own):
        named.append("the options of methods")
    if named:
        lines += ["", f"As for [`dedupe`](dedupe.md): {', '.join(named)}."]
    return lines


def _methods() -> Iterator[str]:
    """The options of each method, whose page explains them."""
    for name, spec in METHODS.items():
        if spec.names:
            flags = ", ".join(f"`--{option.replace('_', '-')}`" for option in spec.names)
            yield f"- [`{name}`](../methods/{name}.md): {flags}"


def updated(page: str, command: Any) -> str:
    """The page with the tables between its marks written again."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page of `{command.name}` needs the lines\n{BEGIN}\n{END}")
    return f"{before}{BEGIN}\n\n{generated(command)}\n\n{END}{after}"


def _row(parameter: Any) -> str:
    names, text = _names(parameter), _cell(parameter.help)
    if parameter.param_type_name == "argument":
        return f"| {names} | {text} |"
    value = "" if parameter.required else getattr(parameter, "default", None)
    if parameter.is_flag:
        value = "on" if value else ""
    return f"| {names} | {text} | {f'`{value}`' if value != '' and isinstance(value, str | int | float) else ''} |"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    return ", ".join(f"`{name}`" for name in [*sorted(parameter.opts, key=len), *parameter.secondary_opts])


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|").replace("source:a>b", "`source:a>b`")


def pages() -> Iterator[tuple[Path, Any]]:
    """Every command with the page it must have."""
    for name, command in commands().items():
        yield PAGES / f"{NAMES.get(name, name)}.md", command


def main() -> None:
    """Write the tables of every page again."""
    for path, command in pages():
        if not path.exists():
            raise SystemExit(f"{path} is missing: write it by hand, with the marks\n{BEGIN}\n{END}")
        path.write_text(updated(path.read_text(encoding="utf-8"), command), encoding="utf-8")


if __name__ == "__main__":
    main()
