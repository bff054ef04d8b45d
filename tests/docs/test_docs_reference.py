"""The reference pages say what the code has: every column, public name, setting, option, error, method and rule."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from docs_blocks import DOCS, ROOT

import roughly
from roughly import errors, model
from roughly.methods import METHODS, bands
from roughly.methods.contained import fewest_probes
from roughly.settings import KEEP_RULES, Settings

PYTHON = (DOCS / "python.md").read_text(encoding="utf-8")
OUTPUTS = (DOCS / "outputs.md").read_text(encoding="utf-8")
FILES = {f"{name}.parquet": table for name, table in model.WRITTEN.items()}


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next of its own depth or above."""
    depth = heading.split(" ")[0]
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{len(depth)}}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no heading {heading!r}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of all table rows in a piece of Markdown, without heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    kept = [
        line for line, below in zip(lines, [*lines[1:], ""], strict=True) if not set(below) <= set("|-: ") or not below
    ]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in kept if not set(line) <= set("|-: ")]


def names_in(text: str) -> list[str]:
    """The words in backticks."""
    return re.findall(r"`([^`]+)`", text)


def section_line(text: str, start: str) -> str:
    """The indented lines that begin with `start`, up to the next empty one."""
    return text[text.index(start) :].split("\n\n")[0]


def bare_signature(function: Callable[..., object]) -> str:
    """The signature without types of parameters, as the page writes it."""
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    arguments = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return f"{arguments} -> {signature.return_annotation}".replace("'", '"')


def module(path: Path) -> ModuleType:
    """A script of docs/, imported."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("file", FILES)
def test_the_columns_of_outputs(file: str) -> None:
    assert rows(section(OUTPUTS, f"## {file}")) == [
        [f"`{column.name}`", str(column.type), "yes" if column.nullable else "no", column.meaning]
        for column in FILES[file].columns
    ]


def test_the_keys_of_run_json_and_the_files_written(tmp_path: Path) -> None:
    words = " ".join(f"word{i}" for i in range(60))
    result = roughly.dedupe([words, words + " more", "x"], output=tmp_path / "out")
    written = {path.name + "/" * path.is_dir() for path in result.folder.iterdir()}
    assert written == {name for row in rows(section(OUTPUTS, "## The folder of a run")) for name in names_in(row[0])}
    run = json.loads((result.folder / "run.json").read_text(encoding="utf-8"))
    assert {row[0].strip("`") for row in rows(section(OUTPUTS, "## run.json").split("### Counts")[0])} == set(run)
    counts = [name for row in rows(section(OUTPUTS, "### Counts")) for name in names_in(row[0])]
    assert sorted(counts) == sorted(run["counts"])
    assert [row[0].strip("`") for row in rows(section(OUTPUTS, "## The stages"))] == [s["name"] for s in run["stages"]]
    for key in run["stages"][0]:
        assert f"`{key}`" in section(OUTPUTS, "## run.json")


def test_the_keys_of_a_reject() -> None:
    shown = [row[0].strip("`") for row in rows(section(OUTPUTS, "## quarantine.jsonl"))]
    assert shown == [field.name for field in dataclasses.fields(model.Reject)]


@pytest.mark.parametrize("name", roughly.__all__)
def test_every_public_name_has_its_section(name: str) -> None:
    text = section(PYTHON, f"### `roughly.{name}`")
    public = getattr(roughly, name)
    if inspect.isfunction(public):
        shown = " ".join(section_line(text, f"    {name}(").split())
        assert shown == name + bare_signature(public)
    elif dataclasses.is_dataclass(public):
        assert [n for row in rows(text) for n in names_in(row[0])] == [
            field.name for field in dataclasses.fields(public)
        ]
    else:
        for attribute in vars(public):
            assert attribute.startswith("_") or f"`{attribute}" in text, f"roughly.{name}.{attribute} is not explained"


def test_the_options_of_functions_are_those_declared() -> None:
    make = module(DOCS / "make_python.py")
    assert make.updated(PYTHON) == PYTHON, "python docs/make_python.py"
    listed = {name for names in make.REQUESTS for name in names}
    for name in set(roughly.__all__) - {"dedupe", "group_results"}:  # theirs are settings, in a table of their own
        public = getattr(roughly, name)
        takes = inspect.isfunction(public) and "options" in inspect.signature(public).parameters
        assert takes == (name in listed), name


def test_the_defaults_of_the_settings() -> None:
    fields = {field.name: field.default for field in dataclasses.fields(Settings)}
    for row in rows(section(PYTHON, "### `roughly.Settings`")):
        for name in names_in(row[0]):
            assert eval(row[1].strip("`")) == fields[name], name


def test_pages_of_commands_are_up_to_date() -> None:
    make = module(DOCS / "make_cli.py")
    for path, command in make.pages():
        page = path.read_text(encoding="utf-8")
        assert make.updated(page, command) == page, f"run python docs/make_cli.py: {path.name} is out of date"
    assert {path.stem for path in (DOCS / "cli").glob("*.md")} == {"index", *(path.stem for path, _ in make.pages())}


@pytest.mark.parametrize("command", ["dedupe", "compare", "sign"])
def test_every_option_of_the_help_is_on_the_page(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "roughly", command, "--help"], capture_output=True, text=True, check=True
    )
    options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", done.stdout, re.MULTILINE)) - {"--help"}
    assert len(options) > 3
    page = "".join((DOCS / "cli" / f"{name}.md").read_text(encoding="utf-8") for name in (command, "index"))
    assert options <= set(re.findall(r"`(--[a-z-]+)`", page))


def test_every_error_is_in_the_tree() -> None:
    text = section((DOCS / "errors.md").read_text(encoding="utf-8"), "## The tree")
    classes = {n: c for n, c in vars(errors).items() if isinstance(c, type) and issubclass(c, errors.RoughlyError)}
    shown = {row[0].strip("`"): row[1].strip("`") for row in rows(text)}
    assert set(shown) == set(classes)
    for name, builtin in shown.items():
        assert issubclass(classes[name], getattr(__import__("builtins"), builtin)), name


def test_every_method_and_rule_has_its_place() -> None:
    assert {path.stem for path in (DOCS / "methods").glob("*.md")} == {*METHODS, "index", "containment"}
    parts = ["Problem", "Idea", "Formula", "Symbols → parameters", "What is guaranteed"]
    parts += ["Departures from the paper", "Cost", "Citation"]
    for path in (DOCS / "methods").glob("*.md"):
        if path.stem != "index":
            assert re.findall(r"^## (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE) == parts, path.name
    shown = rows(section((DOCS / "clusters.md").read_text(encoding="utf-8"), "## Which document is kept: `--keep`"))
    assert [row[0].strip("`") for row in shown] == list(KEEP_RULES)


def table_of_recalls(page: Path, heading: str) -> dict[tuple[float, float], str]:
    """The cells of a table with a threshold a row and a recall a column."""
    text = section(page.read_text(encoding="utf-8"), heading)
    head = next(line for line in text.splitlines() if line.startswith("| threshold | recall"))
    recalls = [float(cell) for cell in re.findall(r"recall ([\d.]+)", head)]
    lines = [row for row in rows(text) if re.fullmatch(r"0\.\d+", row[0])]
    return {(float(row[0]), recall): cell for row in lines for recall, cell in zip(recalls, row[1:], strict=True)}


def test_the_tables_of_bands_and_probes() -> None:
    shown = table_of_recalls(DOCS / "threshold.md", "## The arithmetic")
    assert len(shown) == 24
    assert shown == {key: "{} × {}".format(*bands.choose(*key)) for key in shown}
    probes = table_of_recalls(DOCS / "methods" / "containment.md", "## Formula")
    assert len(probes) == 20
    assert probes == {key: str(fewest_probes(*key)) for key in probes}


def test_the_picture_of_the_curve_is_up_to_date() -> None:
    make = module(DOCS / "make_pictures.py")
    assert make.PICTURE.read_text(encoding="utf-8") == make.draw(), "run python docs/make_pictures.py"


def test_the_least_memory_is_as_stated() -> None:
    from roughly.settings import LEAST_MEMORY

    assert f"The least is {LEAST_MEMORY >> 20}MB" in (DOCS / "resources.md").read_text(encoding="utf-8")


def test_readme_leads_to_pages_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []
