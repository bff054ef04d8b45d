"""The table of edits on the page about choosing a method is computed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from docs_blocks import DOCS

import roughly

EDITS: dict[str, Callable[[list[str]], list[str]]] = {
    "one word changed": lambda words: ["new" if i == len(words) // 2 else word for i, word in enumerate(words)],
    "ten words changed, far apart": lambda words: [
        f"new{i}" if i % (len(words) // 10) == len(words) // 20 else word for i, word in enumerate(words)
    ],
    "a passage of 50 words added": lambda words: (
        words[: len(words) // 2] + [f"new{i}" for i in range(50)] + words[len(words) // 2 :]
    ),
    "half of the text replaced": lambda words: words[: len(words) // 2] + [f"new{i}" for i in range(len(words) // 2)],
}


@pytest.mark.parametrize("edit", EDITS)
def test_resemblance_after_an_edit(edit: str) -> None:
    page = (DOCS / "which-method.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {edit} \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert found is not None
    for length, shown in zip((200, 1000), found.groups(), strict=True):
        words = [f"word{i}" for i in range(length)]
        score = roughly.resemblance(" ".join(words), " ".join(EDITS[edit](words)))
        assert f"{score:.2f}" == shown
