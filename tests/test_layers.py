"""Who may import whom: a folder imports only from those before it, and each heavy dependency has one home."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "roughly"
LAYERS = [
    "errors", "checks", "model", "options", "settings", "meter", "threads", "kernels", "sources", "text", "features",
    "lexicon",
    "methods", "verify", "cluster", "signatures", "pipeline", "engines", "index", "results", "report", "lab",
    "job", "service", "cli", "__main__",
]  # fmt: skip
HOMES = {
    "duckdb": "engines/local", "typer": "cli", "jinja2": ("report", "service"),
    "fastwarc": "sources", "matplotlib": "lab",
    "sqlalchemy": "index", "psycopg": "index",
    "fastapi": "service", "starlette": "service", "uvicorn": "service", "httpx": "service",
    "pyspark": "engines/spark", "py4j": "engines/spark",
}  # fmt: skip


def imports(path: Path) -> set[str]:
    """Every module that a file imports, wherever in it, but not for types only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            if node.module == "roughly":
                names |= {f"roughly.{alias.name}" for alias in node.names}
    return names


def layer(name: str) -> str:
    return name.split(".")[1] if name.startswith("roughly.") else ""


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_folder_imports_only_from_those_before_it(path: Path) -> None:
    place = path.relative_to(PACKAGE)
    if place.name == "__init__.py" and len(place.parts) == 1:
        return  # the public interface points everywhere, lazily
    own = place.parts[0].removesuffix(".py")
    assert own in LAYERS, f"{own} is not in the list of layers"
    for name in imports(path):
        other = layer(name)
        if other and other in LAYERS and other != own:
            assert LAYERS.index(other) < LAYERS.index(own), f"{place} imports {name}"
        assert name != "roughly._core" or own == "kernels", f"{place} imports the core, whose home is kernels"
        for dependency, home in HOMES.items():
            if name.split(".")[0] == dependency:
                assert str(place).startswith(home), f"{place} imports {dependency}, whose home is {home}"


def test_importing_roughly_is_light() -> None:
    heavy = "{'roughly._core','pyarrow','duckdb','numpy','typer','rich','sqlalchemy'}"
    code = f"import sys, roughly; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom roughly.cli.app import app\n"
        "print(sorted({'roughly._core','pyarrow','duckdb','numpy','scipy','jinja2','sqlalchemy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
