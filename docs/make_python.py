"""Writes the tables of options on the page of the Python interface, from the declarations of the options.

    python docs/make_python.py

What stands between the two marks of `docs/python.md` comes from `roughly.declarations`; the rest of the page is written
by hand and left alone. A test fails while the tables are not what this writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from roughly.declarations import REQUIRED, Declaration, declarations
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


def generated() -> str:
    """A table per function, or per functions with the same options, as Markdown."""
    parts = []
    for names, kind in REQUESTS.items():
        lines = [f"### Options of {_listed(names)}", "", "| option | if not given | |", "|---|---|---|"]
        lines += [f"| `{one.name}` | {_default(one)} | {_help(one)} |" for one in declarations(kind)]
        if kind is AuditRequest:
            lines += ["", f"With `audit_leaks`, `threshold` is {LEAK_THRESHOLD} if not given."]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def updated(page: str) -> str:
    """The page with the tables between its marks written anew."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} needs the lines\n{BEGIN}\n{END}")
    return f"{before}{BEGIN}\n\n{generated()}\n\n{END}{after}"


def _listed(names: tuple[str, ...]) -> str:
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def _default(one: Declaration) -> str:
    value: Any = one.default
    return "must be given" if value is REQUIRED else f"`{value!r}`"


def _help(one: Declaration) -> str:
    text = one.help if isinstance(one.help, str) else one.help()
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
