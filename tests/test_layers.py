"""Who may import whom: a folder imports only from those before it, and each heavy dependency has one home."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from source_tree import FILES, MODULES, PACKAGE, circles, edges, imports_of, packages, rooms

LAYERS = [
    "version", "amounts", "errors", "query_time", "threads", "urls", "temporary_space", "python_words", "option_types",
    "fast_dataclass", "machine", "declarations", "checks", "date_forms", "dates", "measures", "keep_rules", "model",
    "result_table", "options", "verdict", "settings", "meter", "kernels", "sources", "text", "features", "lexicon",
    "methods", "signing", "verify", "cluster", "pipeline", "engines", "index", "results", "report", "console", "job",
    "steps", "tools", "papers", "service", "cli", "__main__",
]  # fmt: skip
HOMES: dict[str, tuple[str, ...]] = {
    "duckdb": ("engines/local",), "click": ("cli", "console", "tools", "papers"),
    "jinja2": ("report", "service"), "fastwarc": ("sources",), "matplotlib": ("papers",),
    "sqlalchemy": ("index",), "psycopg": ("index",), "sqlglot": ("engines",),
    "fastapi": ("service",), "starlette": ("service",), "uvicorn": ("service",), "httpx": ("service",),
    "pyspark": ("engines/spark", "steps/spark_step"), "py4j": ("engines/spark",),
    "datatrove": ("steps/datatrove_step",),
}  # fmt: skip
SAME_ROLE = {"__init__", "__main__", "command", "api", "request", "engine", "verdicts"}
"""Names that siblings share because they play the same part: each tool has a command, each engine an engine."""
MOST_PARAMETERS = 8
ABOVE_KERNELS = [path for path in FILES if "kernels" not in path.parts]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_folder_imports_only_from_those_before_it(path: Path) -> None:
    place = path.relative_to(PACKAGE)
    if place.name == "__init__.py" and len(place.parts) == 1:
        return  # the public interface points everywhere, lazily
    own = place.parts[0].removesuffix(".py")
    assert own in LAYERS, f"{own} is not in the list of layers"
    for name in imports_of(path, types=False):
        other = name.split(".")[1] if name.startswith("roughly.") else ""
        if other and other in LAYERS and other != own:
            assert LAYERS.index(other) < LAYERS.index(own), f"{place} imports {name}"
        assert name != "roughly._core" or own == "kernels", f"{place} imports the core, whose home is kernels"
        for dependency, homes in HOMES.items():
            if name.split(".")[0] == dependency:
                assert str(place).startswith(homes), f"{place} imports {dependency}, whose home is {homes}"


def test_no_module_imports_the_package_itself() -> None:
    importers = [
        str(path.relative_to(PACKAGE)) for name, path in MODULES.items() if name and "roughly" in imports_of(path)
    ]
    assert importers == []


def test_no_import_circles() -> None:
    assert circles(edges()) == []


@pytest.mark.parametrize("package", packages(), ids=lambda name: name or "roughly")
def test_the_rooms_of_a_folder_have_an_order(package: str) -> None:
    """No two children of a folder import each other, directly or by way of others: so each folder has floors."""
    assert circles(rooms(edges(types=False), package)) == []


def test_module_names_are_unique() -> None:
    """The faces of compiled loops are named after what they compute, so they may share a name with it."""
    places = defaultdict(list)
    for name in MODULES:
        if not name.startswith("kernels."):
            places[name.rpartition(".")[2]].append(name)
    twice = {stem: names for stem, names in places.items() if len(names) > 1 and stem not in SAME_ROLE}
    assert {stem: names for stem, names in twice.items() if MODULES[names[0]].name != "__init__.py"} == {}


@pytest.mark.parametrize(
    "path", [p for p in FILES if "kernels" not in p.parts], ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_functions_take_few_parameters(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            own = [name for name in names if name not in ("self", "cls")]
            assert len(own) <= MOST_PARAMETERS, f"{node.name} takes {len(own)} parameters"


def test_importing_roughly_is_light() -> None:
    heavy = "{'roughly._core','pyarrow','duckdb','numpy','click','rich','sqlalchemy'}"
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


def test_parquet_is_opened_where_the_footer_is_checked_first() -> None:
    opening = re.compile(r"\bpq\.(?:read_\w+|ParquetFile|ParquetDataset)\(|pyarrow\.dataset")
    found = {str(path.relative_to(PACKAGE)) for path in FILES if opening.search(path.read_text(encoding="utf-8"))}
    assert found == {f"sources/{name}.py" for name in ("parquet", "parquet_open", "parquetfooter")}
