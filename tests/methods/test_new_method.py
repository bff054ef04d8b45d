"""A new method is one file: dedupe, index, signatures, tune and the command line take it without another line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import first_words
import roughly
from roughly import Index, Settings, methods
from roughly.errors import SettingsError
from roughly.options import METHODS, OPTIONS, Option, register, unregister
from roughly.signing.sign_files import sign
from roughly.tools.tune.grid import trials

ROWS = [
    {"id": "a", "text": "The quick brown fox jumps over the lazy dog, and more of it."},
    {"id": "b", "text": "The quick brown bear sleeps."},
    {"id": "c", "text": "A slow brown bear sleeps."},
    {"id": "d", "text": "the QUICK brown"},
    {"id": "e", "text": ""},
]
ASKED = {"method": "first-words", "first_words": 3}


@pytest.fixture
def new_method() -> Iterator[None]:
    """The table with the throwaway method in it."""
    register(first_words.SPEC)
    yield
    unregister("first-words")
    assert "first-words" not in METHODS and "first_words" not in OPTIONS


@pytest.mark.usefixtures("new_method")
def test_a_new_method_works_everywhere(tmp_path: Path) -> None:
    found = roughly.dedupe(ROWS, **ASKED)
    assert {row["doc_id"]: row["kept_id"] for row in found.documents.to_pylist()} == {
        "a": "a", "b": "a", "c": "c", "d": "a", "e": "e",
    }  # fmt: skip
    assert found.summary["judged"]["how"] == "by keys in common, not measured"
    with Index.create(tmp_path / "i.db", Settings.gather(ASKED)) as index:
        index.add(ROWS)
        assert sorted(match.doc_id for match in index.query("The quick brown cat")) == ["a", "b", "d"]
    with Index.open(tmp_path / "i.db") as index:
        assert index.query("A slow brown cat")[0].doc_id == "c"
    sign(ROWS, output=tmp_path / "s.parquet", **ASKED)
    assert roughly.recluster(tmp_path / "s.parquet").kept_ids == ["a", "c", "e"]
    assert [trial.values["first_words"] for trial in trials(["first-words"])] == [2, 3]
    assert methods.FirstWords is first_words.FirstWords
    with pytest.raises(SettingsError, match="first-words has no option 'sketch'; it has first_words"):
        Settings.gather(ASKED, {"sketch": "all"})


@pytest.mark.usefixtures("new_method")
def test_the_table_refuses_what_would_be_ambiguous() -> None:
    with pytest.raises(SettingsError, match="two methods 'first-words'"):
        register(first_words.SPEC)


def test_options_of_a_name_mean_the_same_in_every_method() -> None:
    other = methods.MethodSpec(first_words.FirstWords, options=(Option("sketch", "whole", "something else"),))
    with pytest.raises(SettingsError, match="describes the option 'sketch' differently"):
        register(other)


def test_a_file_in_the_folder_of_methods_is_all_it_takes(tmp_path: Path) -> None:
    """The folder here is one more on the package's path, so that nothing is written into the package."""
    declared = Path(first_words.__file__).read_text(encoding="utf-8") + "\n\nregister(SPEC)\n"
    declared = declared.replace("import MethodSpec, Option\n", "import MethodSpec, Option, register\n")
    folder = tmp_path / "methods"
    folder.mkdir()
    (folder / "first_words.py").write_text(declared, encoding="utf-8")
    program = (
        f"import sys, roughly.methods\nroughly.methods.__path__.append({str(folder)!r})\n"
        "from roughly.cli.app import app\n"
        "assert not {'numpy', 'pyarrow'} & set(sys.modules)\n"
        "app(['dedupe', *sys.argv[1:]])\n"
    )

    def printed(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "term-vector, first-words." in printed("--help")
    assert "Words that duplicates begin with" in printed("--help-method", "first-words")


def test_helpers_of_the_folder_are_no_methods() -> None:
    """Files that declare no method are listed, so that reading the table does not import them."""
    files = {path.stem for path in Path(methods.__path__[0]).glob("*.py")} - {"__init__"}
    homes = {spec.method_class.__module__.rpartition(".")[2] for spec in METHODS.values()}
    assert files == homes | methods.HELPERS and not homes & methods.HELPERS
