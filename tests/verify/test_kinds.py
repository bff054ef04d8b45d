"""The six kinds: the examples of the page on them, the edges of the rule, and stories changed on purpose."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from roughly.text.canonical import tokenise
from roughly.verify import KINDS, kind_of, kinds_of_pairs, kinds_of_tokens
from verify.texts import PARAGRAPH, SENTENCE, STORY, edited

PAGE = Path(__file__).parents[2] / "docs" / "kinds.md"
_TEXT = PAGE.read_text("utf-8").partition("## Examples")[2]
KEPT = re.findall(r"^> (.+)$", _TEXT, re.M)[0]
EXAMPLES = [found for found in re.findall(r"^\| (\w+) \| (.+) \|$", _TEXT, re.M) if found[0] != "kind"]
FIRST, SECOND, THIRD = STORY.split("\n\n")


def test_the_page_has_an_example_of_each_kind() -> None:
    assert [kind for kind, _ in EXAMPLES] == list(KINDS)


@pytest.mark.parametrize(("kind", "left"), EXAMPLES, ids=[kind for kind, _ in EXAMPLES])
def test_examples_of_the_page(kind: str, left: str) -> None:
    assert kind_of(left, KEPT) == kind


@pytest.mark.parametrize(
    ("kind", "left", "right"),
    [
        ("exact", STORY, STORY.upper().replace(" ", "\n")),
        ("exact", "", ""),
        ("excerpt", FIRST, STORY),
        ("excerpt", SECOND, STORY),
        ("excerpt", THIRD, STORY),
        ("excerpt", edited(FIRST, 1, 0.02), STORY),
        ("elaboration", STORY + PARAGRAPH, STORY),
        ("elaboration", PARAGRAPH + STORY, STORY),
        ("elaboration", "URGENT. " + PARAGRAPH + STORY + SENTENCE, STORY),
        ("insertion", f"{FIRST}\n\n{PARAGRAPH}\n\n{SECOND}\n\n{THIRD}", STORY),
        ("insertion", STORY.replace("No one", SENTENCE + "No one").replace("Trains", SENTENCE + "Trains"), STORY),
        ("insertion", STORY, STORY.replace("The mayor of Mafra", "The newly elected mayor of Mafra")),
        ("rewrite", f"{THIRD}\n{SECOND}\n{FIRST}", STORY),
        ("rewrite", PARAGRAPH, STORY),
        ("rewrite", "", STORY),
        ("rewrite", edited(STORY, 4, 0.6), STORY),
        ("revision", STORY.replace("Friday", "Thursday").replace("forty", "thirty"), STORY),
        ("revision", edited(STORY, 2, 0.1), STORY),
        ("revision", STORY + "Ends.", STORY),
    ],
)
def test_stories(kind: str, left: str, right: str) -> None:
    assert kind_of(left, right) == kind


def test_the_side_that_goes_tells_excerpt_from_elaboration_and_nothing_else() -> None:
    swapped = {"excerpt": "elaboration", "elaboration": "excerpt"}
    others = (
        STORY,
        FIRST,
        PARAGRAPH + STORY,
        STORY.replace("Friday", "Monday"),
        FIRST + SENTENCE + THIRD,
        "",
        THIRD + FIRST,
    )
    for left in others:
        for right in others:
            kind = kind_of(left, right)
            assert kind_of(right, left) == swapped.get(kind, kind)


def test_many_pairs_at_once_are_the_same_as_one_by_one() -> None:
    documents = [STORY, FIRST, SECOND + THIRD, "", PARAGRAPH, *(edited(STORY, seed, 0.03 * seed) for seed in range(12))]
    tokens = tokenise(pa.array(documents, pa.large_string()))
    chance = random.Random(0)
    pairs = np.array([[chance.randrange(len(documents)) for _ in "lr"] for _ in range(200)])
    codes = kinds_of_pairs(tokens, pairs[:, 0].copy(), pairs[:, 1].copy())
    assert codes.dtype == np.uint8
    assert [KINDS[code] for code in codes] == [kind_of(documents[x], documents[y]) for x, y in pairs]
    assert len(set(codes.tolist())) >= 5
    none = np.empty(0, np.int64)
    assert len(kinds_of_pairs(tokens, none, none)) == 0


def test_the_edges_of_the_rule() -> None:
    """Counts just below and just at each threshold of the page, on sequences whose alignment is plain to see."""
    body = list(range(1, 121))

    def kind(left: list[int], right: list[int]) -> str:
        return kinds_of_tokens(np.array(left, np.uint64), np.array(right, np.uint64))

    def other(count: int) -> list[int]:
        return list(range(1000, 1000 + count))

    assert kind(body, other(0) + body + other(7)) == "excerpt"  # 7 of 127 is more than a twentieth
    assert kind(body, other(0) + body + other(6)) == "revision"  # 6 of 126 is less
    assert kind(body[:80] + other(40), body + other(0)) == "revision"  # 80 of 120 are two thirds
    assert kind(body[:79] + other(41), body) == "rewrite"
    assert (
        kind(body, body[:60] + other(20) + body[60:] + list(range(2000, 2019))) == "insertion"
    )  # 20 inside, 19 at an edge
    assert kind(body, body[:60] + other(20) + body[60:] + list(range(2000, 2020))) == "excerpt"  # 20 and 20
    lost = [*body[:30], 9001, *body[31:60], 9002, *body[61:]]
    assert kind(lost, body + other(6)) == "excerpt"  # lost 2, extra 8
    assert kind(lost, body + other(5)) == "revision"  # lost 2, extra 7


def test_it_is_quick_enough_to_run_for_every_removed_document() -> None:
    """Two documents of 2 KB in well under half a millisecond, best of several rounds on a busy machine."""
    documents = [edited(STORY + PARAGRAPH * 2, seed, 0.05) for seed in range(200)]
    tokens = tokenise(pa.array(documents, pa.large_string()))
    lefts, rights = np.arange(0, 199), np.arange(1, 200)
    kinds_of_pairs(tokens, lefts[:1], rights[:1])
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        kinds_of_pairs(tokens, lefts, rights)
        best = min(best, time.process_time() - started)
    assert best / len(lefts) < 0.0005
