"""Writes the options of functions on the page of the Python interface, from their declarations.

    python docs/make_python.py

What stands between the two marks of `docs/python.md` comes from `roughly.declarations`; the rest of the page is written
by hand and left alone. A test fails while the options are not what this writes.
"""

from __future__ import annotations

from pathlib import Path

from roughly.cli.app import app
from roughly.declarations import REQUIRED, Declaration, declarations
from roughly.settings import ReadOptions, Resources
from roughly.tools.audit.request import LEAK_THRESHOLD, AuditRequest
from roughly.tools.evaluate.request import EvaluateRequest
from roughly.tools.passages.request import PassagesRun
from roughly.tools.perturb.request import PerturbedFolder
from roughly.tools.recluster.request import FeatureRequest, ReclusterRun, SketchRequest
from roughly.tools.suggest.request import SuggestRequest
from roughly.tools.truth.request import TruthRun
from roughly.tools.tune.request import TuneQuestion

PAGE = Path(__file__).parent / "python.md"
BEGIN = "<!-- from the declarations: python docs/make_python.py -->"
END = "<!-- end of what is generated -->"
REQUESTS: dict[tuple[str, ...], type] = {
    ("sketch",): SketchRequest,
    ("recluster",): ReclusterRun,
    ("cluster_features",): FeatureRequest,
    ("passages",): PassagesRun,
    ("truth",): TruthRun,
    ("evaluate",): EvaluateRequest,
    ("tune",): TuneQuestion,
    ("suggest",): SuggestRequest,
    ("perturb",): PerturbedFolder,
    ("audit_qrels", "audit_labels", "audit_leaks"): AuditRequest,
}
"""The functions that take `**options`, and the class that declares these."""
COMMANDS = {"recluster": "cluster", "cluster_features": None, "audit_qrels": "audit"}
"""The command with the same options, where it has another name; None: there is no command."""
SHARED = [*declarations(ReadOptions), *(one for one in declarations(Resources) if one.name != "temp_limit")]
"""Options of most functions: how to read, and what they may use."""


def generated() -> str:
    """The options that are not those of a command, of each function, or of functions with the same options."""
    parts = []
    for names, kind in REQUESTS.items():
        command = COMMANDS.get(names[0], names[0])
        known = {one.name for one in SHARED} | (_flags(command) if command else set())
        own = [one for one in declarations(kind) if one.name not in known]
        if own:
            parts.append(f"- {_listed(names)}: {', '.join(_signature(one, command is None) for one in own)}.")
        if kind is AuditRequest:
            parts.append(f"- With `audit_leaks`, the default of `threshold` is {LEAK_THRESHOLD}.")
    shared = ", ".join(f"`{one.name}`" for one in SHARED)
    return "\n".join([*parts, f"- reading, in most functions ([`roughly dedupe`](cli/dedupe.md#reading)): {shared}."])


def _flags(name: str) -> set[str]:
    """The names of a command's options, or of those of a group's commands, as Python writes them."""
    command = app.commands[name]
    some = getattr(command, "commands", {"": command}).values()
    return {flag.lstrip("-").replace("-", "_") for one in some for parameter in one.params for flag in parameter.opts}


def updated(page: str) -> str:
    """The page with what stands between its marks written again."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} needs the lines\n{BEGIN}\n{END}")
    return f"{before}{BEGIN}\n\n{generated()}\n\n{END}{after}"


def _listed(names: tuple[str, ...]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def _signature(one: Declaration, is_explained: bool = False) -> str:
    if one.flags:
        return f"`{one.name}` (`{one.flags[-1]}`)"
    text = f"`{one.name}`" if one.default is REQUIRED else f"`{one.name}={one.default!r}`"
    return f"{text} ({str(one.help).rstrip('.')})" if is_explained else text


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
