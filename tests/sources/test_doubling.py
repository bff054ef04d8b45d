"""Every reader takes linear time: twice the hostile input, at most two and a half times the instructions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
import zstandard

from hostile_inputs import FEATURES, FILES, PAGES, TEXTS, maildir
from instructions import InstructionCounter, counter
from roughly.text.markup import PageText

MOST = 2.5
LEAST = 20_000_000
"""Instructions below which two counts are too small to compare."""
PAGE = 20_000
MESSAGES = 500

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def instructions() -> Iterator[InstructionCounter]:
    with counter() as found:
        yield found


Prepare = Callable[[int], tuple[object, ...]]
"""Writes an input of a size; returns the arguments of the work."""


def assert_linear(instructions: InstructionCounter, work: str, prepare: Prepare, size: int) -> None:
    """Compare the counts of an eighth of a size and of twice that, each less that of a very small input."""
    least = prepare(3)
    instructions.prepare(work, *least)
    start = instructions.count(work, *least)
    size //= 8
    once = instructions.count(work, *prepare(size)) - start
    twice = instructions.count(work, *prepare(2 * size)) - start
    assert twice <= max(MOST * once, LEAST), f"{once:,} instructions for {size:,}, {twice:,} for {2 * size:,}"


def one_file(path: Path, make: Callable[[int], bytes]) -> Prepare:
    def prepare(size: int) -> tuple[object, ...]:
        path.write_bytes(make(size))
        return (path,)

    return prepare


@pytest.mark.parametrize("name", FILES)
def test_readers(name: str, tmp_path: Path, instructions: InstructionCounter) -> None:
    size, make = FILES[name]
    assert_linear(instructions, "read_file", one_file(tmp_path / name, make), size)


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith((".gz", ".parquet"))])
def test_readers_of_zstd(name: str, tmp_path: Path, instructions: InstructionCounter) -> None:
    size, make = FILES[name]
    prepare = one_file(tmp_path / f"{name}.zst", lambda size: zstandard.compress(make(size)))
    assert_linear(instructions, "read_file", prepare, size)


def test_maildir(tmp_path: Path, instructions: InstructionCounter) -> None:
    def prepare(size: int) -> tuple[object, ...]:
        folder = tmp_path / str(size)
        maildir(folder, size)
        return (folder,)

    assert_linear(instructions, "read_file", prepare, MESSAGES)


@pytest.mark.parametrize("part", get_args(PageText))
@pytest.mark.parametrize("name", PAGES)
def test_html(name: str, part: PageText, tmp_path: Path, instructions: InstructionCounter) -> None:
    def prepare(size: int) -> tuple[object, ...]:
        (tmp_path / "page").write_text(PAGES[name](size), encoding="utf-8")
        return tmp_path / "page", part

    assert_linear(instructions, "strip", prepare, PAGE)


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str, tmp_path: Path, instructions: InstructionCounter) -> None:
    size, make = FEATURES[name]
    assert_linear(instructions, "features", one_file(tmp_path / "objects.jsonl", make), size)


@pytest.mark.parametrize("work", ["passages", "dedupe"])
@pytest.mark.parametrize("name", TEXTS)
def test_test_sets(name: str, work: str, tmp_path: Path, instructions: InstructionCounter) -> None:
    size, make = TEXTS[name]

    def prepare(size: int) -> tuple[object, ...]:
        paths = tmp_path / "input.jsonl", tmp_path / "test.jsonl"
        for path in paths:
            path.write_bytes(make(size))
        return paths

    assert_linear(instructions, work, prepare, size)


def test_a_reader_that_is_not_linear_is_found(tmp_path: Path, instructions: InstructionCounter) -> None:
    size, make = FILES["newlines.jsonl"]
    with pytest.raises(AssertionError, match="instructions for"):
        assert_linear(instructions, "quadratic", one_file(tmp_path / "lines.jsonl", make), size // 4)
