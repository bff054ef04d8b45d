"""The package as its own source tells it: modules, what each imports, and the order of the folders."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "roughly"
FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(path: Path) -> str:
    """The dotted name of a file below `roughly`; the package itself is the empty name."""
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


@cache
def imports_of(path: Path, *, types: bool = True) -> set[str]:
    """Every module that a file imports, wherever in it; without `types`, not those for annotations only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if (
            not types
            and isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        ):
            skipped |= {id(inner) for part in node.body for inner in ast.walk(part)}
    names: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            for alias in node.names:
                full = f"{base}.{alias.name}"
                is_module = full.removeprefix("roughly.") in MODULES or base == "roughly"
                names.add(full if is_module else base)
    return names


@cache
def edges(*, types: bool = True) -> dict[str, set[str]]:
    """Module → modules of the package that it imports. The public face, which points everywhere, is left out."""
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        if name:
            own = {i.removeprefix("roughly.") for i in imports_of(path, types=types) if i.startswith("roughly.")}
            graph[name] = {i for i in own if i in MODULES and i != name}
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one node (Tarjan), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(start: str) -> None:
        work: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(graph.get(start, ()))))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(sorted(graph.get(target, ())))))
                    break
                if target in stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part: list[str] = []
                    while not part or part[-1] != node:
                        part.append(stack.pop())
                    if len(part) > 1:
                        found.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def rooms(graph: dict[str, set[str]], package: str) -> dict[str, set[str]]:
    """The graph between the children of a package: its modules and folders. A package's own `__init__` is left out."""
    prefix = f"{package}." if package else ""
    between: dict[str, set[str]] = {}
    for name, targets in graph.items():
        child = _child(name, prefix)
        if child:
            between.setdefault(child, set()).update(c for t in targets if (c := _child(t, prefix)) and c != child)
    return between


def packages() -> Iterable[str]:
    """Every folder of the package by its dotted name, the whole first."""
    return ["", *sorted(name for name, path in MODULES.items() if name and path.name == "__init__.py")]


def _child(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).split(".")[0] if name.startswith(prefix) and name != prefix else ""
