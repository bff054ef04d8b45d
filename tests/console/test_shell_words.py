"""Errors about settings speak the language of who asked: `--main-text` in the shell, `main_text` in Python."""

from __future__ import annotations

import re

import click
import pytest

import roughly
from roughly.cli.app import app
from roughly.console.shell_words import with_options
from roughly.declarations import declarations
from roughly.errors import RoughlyError, SettingsError
from roughly.options import OPTIONS
from roughly.settings import ReadOptions, Resources, Settings

DEDUPE = app.commands["dedupe"]
NAMES = sorted({one.name for kind in (Settings, Resources, ReadOptions) for one in declarations(kind)} | {*OPTIONS})
WRONG = "-7"


def asked_in_shell(*words: str) -> tuple[str, ...]:
    """The problems that a command line is answered with."""
    with pytest.raises((SettingsError, click.UsageError)) as caught:
        app(["dedupe", "none.jsonl", "-o", "none", *words], standalone_mode=False)
    return getattr(caught.value, "problems", (str(caught.value),))


def test_every_setting_is_named_as_it_was_typed() -> None:
    flags = {one.name: max(one.opts, key=len) for one in DEDUPE.params if isinstance(one, click.Option)}
    refused = 0
    for name in (one.name for one in DEDUPE.params if one.name in NAMES and not getattr(one, "is_flag", True)):
        method = ["--method", roughly.options.users_of(name)[0]] if name in OPTIONS else []
        try:
            problems = asked_in_shell(flags[name], WRONG, *method)
        except RoughlyError:
            continue  # any text will do, and there is no such file
        refused += 1
        assert all(not re.search(rf"(?<!-){other}\b", line) for line in problems for other in NAMES if "_" in other)
        assert all(re.search(rf"{flags[name]}|{WRONG}|^verdict: ", line) for line in problems), (name, problems)
    assert refused > 20


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("--tokens dom --main-text", "--tokens dom are those of whole HTML pages; leave --main-text out"),
        ("--tokens dom --markup none", "--tokens dom are those of whole HTML pages; leave --markup out"),
        ("--bands 5", "--bands and --rows go together: give both, or neither to have them derived"),
        ("--features f --text-column t", "features are compared instead of a text; leave --text-column out"),
        ("--memory 4", "--memory 4 means 4 bytes; did you mean 4GB?"),
        ("--shingle-size 0", "--shingle-size must be a whole number from 1 to 64, not 0"),
    ],
    ids=["flag", "choice", "two", "column", "size", "number"],
)
def test_the_shell(words: str, problem: str) -> None:
    assert asked_in_shell(*words.split()) == (problem,)


def test_python() -> None:
    for wrong, problem in (
        ({"tokens": "dom", "main_text": True}, "leave main_text out"),
        ({"shingle_size": 0}, "shingle_size must be"),
        ({"method": "simhash", "measure": "containment"}, "method"),
    ):
        with pytest.raises(SettingsError, match=problem) as caught:
            roughly.dedupe(["a"], **wrong)
        assert "--" not in str(caught.value)


def test_values_and_settings_of_files_are_left_alone() -> None:
    for message in (
        "mine.toml: shingle_size must be",
        "a/mine has no shingle_size",
        "unknown setting 'shingle_size'",
        "the column of `text_column`",
    ):
        assert with_options(message, DEDUPE.params) == message
