"""Writes the picture of the package in ARCHITECTURE.md, from the imports in its source.

    python docs/make_architecture.py

What stands between the two marks is generated; a test fails while it is not what this prints.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from source_tree import MODULES, edges, rooms  # noqa: E402

PAGE = ROOT / "ARCHITECTURE.md"
BEGIN = "<!-- from the source: python docs/make_architecture.py -->"
END = "<!-- end of what is generated -->"


def floors(graph: dict[str, set[str]]) -> list[list[str]]:
    """Folders and files of the package from the ground up: each stands one floor above the highest that it imports."""
    height: dict[str, int] = {}

    def of(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((of(other) for other in graph[name]), default=-1)
        return height[name]

    found: list[list[str]] = [[] for _ in range(1 + max(map(of, graph)))]
    for name in sorted(graph):
        found[height[name]].append(name)
    return found


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The graph without arrows that a longer way already implies."""

    def reach(name: str) -> set[str]:
        return set().union(*({other} | reach(other) for other in graph[name])) if graph[name] else set()

    below = {name: reach(name) for name in graph}
    return {
        name: {other for other in targets if not any(other in below[third] for third in targets)}
        for name, targets in graph.items()
    }


def generated() -> str:
    """A drawing of the folders, and a table of them from the ground up."""
    graph = rooms(edges(types=False), "")
    graph.pop("__main__", None)
    levels = floors(graph)
    lines = ["```mermaid", "flowchart BT"]
    for name, targets in sorted(reduced(graph).items()):
        lines += [f"    {target} --> {name}" for target in sorted(targets)]
    lines += ["```", "", "| floor | | what it is for |", "|---:|---|---|"]
    for floor, names in enumerate(levels):
        for name in names:
            shown = f"{name}/" if MODULES[name].name == "__init__.py" else f"{name}.py"
            lines.append(f"| {floor} | `{shown}` | {_purpose(MODULES[name])} |")
    return "\n".join(lines)


def updated(page: str) -> str:
    """The page with the part between its marks written anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{generated()}\n\n{END}{after}"


def _purpose(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".").replace("|", "\\|")


def main() -> None:
    """Write the picture anew."""
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
