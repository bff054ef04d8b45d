"""Writes the picture of the package in ARCHITECTURE.md, from the imports in its source.

    python docs/make_architecture.py

What stands between the two marks is generated; a test fails while it is not what this prints.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from source_tree import MODULES, edges, rooms  # noqa: E402

PAGE = ROOT / "ARCHITECTURE.md"
BEGIN = "<!-- from the source: python docs/make_architecture.py -->"
MOST_USED = 20
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
    lines += ["```", "", "| layer | | what it is for |", "|---:|---|---|"]
    for floor, names in enumerate(levels):
        for name in names:
            shown = f"{name}/" if MODULES[name].name == "__init__.py" else f"{name}.py"
            lines.append(f"| {floor} | `{shown}` | {_purpose(MODULES[name])} |")
    lines += [
        "",
        f"The {MOST_USED} classes that most modules import:",
        "",
        "| class | where | what it is |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | `{home}` | {meaning} |" for name, home, meaning in most_used()]
    return "\n".join(lines)


def most_used() -> list[tuple[str, str, str]]:
    """(class, module, first sentence of its docstring) of the classes that most modules import, by name."""
    classes: dict[tuple[str, str], str] = {}
    users: Counter[tuple[str, str]] = Counter()
    for module, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[module, node.name] = _sentence(ast.get_docstring(node) or "")
        found = {
            (node.module.removeprefix("roughly."), alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("roughly.")
            for alias in node.names
        }
        users.update(found)
    counted = [(count, key) for key, count in users.items() if key in classes and key[0] != "errors"]
    chosen = sorted(counted, key=lambda one: (-one[0], one[1]))[:MOST_USED]
    return sorted((name, f"{home.replace('.', '/')}.py", classes[home, name]) for _, (home, name) in chosen)


def updated(page: str) -> str:
    """The page with the part between its marks written again."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{generated()}\n\n{END}{after}"


def _purpose(path: Path) -> str:
    return _sentence(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


def _sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].rstrip(".").replace("|", "\\|")


def main() -> None:
    """Write the picture again."""
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
