"""Copies made on purpose: seeded, labelled truly, each kind what it says, in any script."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest

import roughly
from roughly.errors import InputError, SettingsError
from roughly.text.canonical import words
from roughly.tools.corpus import Corpus
from roughly.tools.perturb.copy_kinds import KINDS
from roughly.tools.perturb.cut_text import CutText
from roughly.tools.perturb.make import Maker, PerturbRequest, perturb
from roughly.tools.perturb.noise import misread, mistyped
from roughly.tools.perturb.recipe import Own, Respaced, Spliced
from roughly.tools.perturb.word_edits import changed

VOCABULARY = [a + b + c + d for a in "bdfgkp" for b in "aeiou" for c in "lmnrs" for d in ("ton", "ia", "ver")]


def text_of(dice: random.Random, paragraphs: int = 5) -> str:
    def sentence() -> str:
        return " ".join(dice.choices(VOCABULARY, k=dice.randint(6, 12))).capitalize() + "."

    return "\n\n".join(" ".join(sentence() for _ in range(dice.randint(3, 6))) for _ in range(paragraphs))


def corpus_of(texts: list[str], ids: list[str] | None = None) -> Corpus:
    none = [None] * len(texts)
    named = ids or [f"d{i:03}" for i in range(len(texts))]
    return Corpus("made", named, pa.array(texts, pa.large_string()), none, none, none)


DICE = random.Random(4)
TEXTS = [text_of(DICE) for _ in range(40)]
CORPUS = corpus_of(TEXTS)
EVERY = tuple(KINDS)


def test_the_same_seed_gives_the_same_copies_whatever_else_is_made() -> None:
    first = {c.doc_id: c for c in perturb(CORPUS, PerturbRequest(kinds=EVERY, copies=2, seed=3))}
    again = {c.doc_id: c for c in perturb(CORPUS, PerturbRequest(kinds=EVERY[::-1], copies=2, seed=3))}
    assert first == again and len(first) == 40 * 2 * len(KINDS)
    other = {c.doc_id: c.text for c in perturb(CORPUS, PerturbRequest(kinds=("ocr",), copies=2, seed=4))}
    assert not any(first[name].text == text for name, text in other.items())
    some = list(perturb(CORPUS, PerturbRequest(kinds=("ocr",), seed=3, documents=5)))
    assert len(some) == 5 and all(first[c.doc_id] == c for c in some)


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("alpha", [9.0, 6.0])
def test_a_kind_is_what_it_says(kind: str, alpha: float) -> None:
    asked = PerturbRequest(kinds=(kind,), alpha=alpha, copies=3, seed=1, every=2)
    found = []
    for copy in perturb(CORPUS, asked):
        own, made = words(TEXTS[copy.source]), words(copy.text)
        score = roughly.resemblance(copy.text, TEXTS[copy.source])
        found.append(score)
        assert copy.kind == kind and copy.same == KINDS[kind].same and copy.parameters["alpha"] == alpha
        match kind:
            case "copy":
                assert copy.text == TEXTS[copy.source]
            case "rewrapped":
                assert copy.text != TEXTS[copy.source] and made == own
            case "truncated":
                assert made == own[: len(made)] and len(made) == round(len(own) * alpha / 10)
            case "reordered":
                assert sorted(made) == sorted(own) and made != own
            case "substituted":
                assert len(made) == len(own)
            case "deleted":
                assert not Counter(made) - Counter(own) and len(made) < len(own)
            case "appended" | "boilerplate" | "inserted" | "spam":
                assert not Counter(own) - Counter(made) and len(made) > len(own)
            case "template" | "form":
                assert score < 0.8
            case "numbers":
                changed = [(a, b) for a, b in zip(own, made, strict=True) if a != b]
                assert changed and all(b.isdecimal() and len(a) == len(b) for a, b in changed)
                assert {a for a, _ in changed} >= {a for a in own if a.isdecimal()}
            case "quoted":
                assert made[-len(own) :] == own and len(made) > len(own)
            case "characters":
                assert len(made) == len(own) and made != own
    mean = sum(found) / len(found)
    if KINDS[kind].alpha == "the resemblance aimed at":
        assert mean == pytest.approx(alpha / 10, abs=0.12), mean
    if kind in ("words", "sentences", "paragraphs", "ocr"):
        assert min(found) < 0.97


def test_more_alpha_more_stays() -> None:
    for kind in ("words", "sentences", "paragraphs"):
        means = []
        for alpha in (10, 8.5, 6, 2):
            copies = list(perturb(CORPUS, PerturbRequest(kinds=(kind,), alpha=alpha, every=1)))
            means.append(sum(roughly.resemblance(c.text, TEXTS[c.source]) for c in copies) / len(copies))
        assert means == sorted(means, reverse=True) and means[0] == 1.0 and means[-1] < 0.65


def test_words_are_put_in_from_where_they_should() -> None:
    for copy in perturb(CORPUS, PerturbRequest(kinds=("words",), every=2, alpha=0, added="document")):
        assert set(words(copy.text)) <= set(words(TEXTS[copy.source]))
    foreign = [
        set(words(copy.text)) - set(words(TEXTS[copy.source]))
        for copy in perturb(CORPUS, PerturbRequest(kinds=("words",), every=2, alpha=0, added="terms"))
    ]
    assert all(foreign) and set().union(*foreign) <= set(VOCABULARY)


def test_a_split_campaign_has_a_few_versions() -> None:
    copies = list(perturb(CORPUS, PerturbRequest(kinds=("split",), copies=12, versions=3, alpha=8, documents=5)))
    for source in {copy.source for copy in copies}:
        own = [copy for copy in copies if copy.source == source]
        versions = {copy.parameters["version"]: copy.text for copy in own}
        assert 2 <= len(versions) <= 3 and len({copy.text for copy in own}) == len(versions)
        assert all(versions[copy.parameters["version"]] == copy.text for copy in own)


def test_a_frame_belongs_to_its_site() -> None:
    copies = list(perturb(CORPUS, PerturbRequest(kinds=("boilerplate",), copies=10, alpha=7)))
    heads = {" ".join(copy.text.split()[:8]) for copy in copies}
    assert len(copies) == 400 and 20 < len(heads) <= 40  # a head is the beginning of one of forty documents


def test_scripts_without_spaces_and_empty_documents() -> None:
    texts = ["日本語の文書です。これは二番目の文です。\nもう一つの行。" * 4, "", "؟ !", "Ünïcödé tëxt; čeština, "
             "ελληνικά και русский язык вместе. Ещё одно предложение здесь."]  # fmt: skip
    corpus = corpus_of(texts)
    copies = list(perturb(corpus, PerturbRequest(kinds=EVERY, alpha=8, copies=2)))
    assert {copy.source for copy in copies} == {0, 3}
    for copy in copies:
        if copy.kind == "rewrapped":
            assert words(copy.text) == words(texts[copy.source])
    with pytest.raises(InputError, match="nothing to copy"):
        list(perturb(corpus_of(["", "..."]), PerturbRequest()))


def test_pieces_never_grow_together() -> None:
    passage = CutText("one two, three four")
    assert passage.made(Spliced([Own(3, 4), Own(0, 2)]), {}) == "four one two, "
    assert passage.made(Spliced([Own(0, 4)]), {}) == "one two, three four"
    assert words(passage.made(Respaced(), {})) == ["one", "two", "three", "four"]


def test_noise_always_changes_a_word() -> None:
    dice = random.Random(1)
    for word in [*VOCABULARY, "a", "I", "42", "é"] * 5:
        assert misread(word, dice) != word
        assert words(mistyped(word, dice)) != words(word)


def test_what_is_refused() -> None:
    with pytest.raises(SettingsError, match="kind must be one of copy, rewrapped, words"):
        PerturbRequest(kinds=("blurred",))
    with pytest.raises(SettingsError, match="alpha must be a number from 0 to 10"):
        PerturbRequest(alpha=11)
    with pytest.raises(SettingsError, match="no kind of copy is named"):
        PerturbRequest(kinds=())
    twice = corpus_of(TEXTS[:2], ["a", "a+ocr1"])
    with pytest.raises(InputError, match="'a\\+ocr1', which is the id of a copy"):
        list(perturb(twice, PerturbRequest(kinds=("ocr",))))


def test_word_edits_are_those_of_the_paper() -> None:
    maker = Maker(CORPUS, PerturbRequest(kinds=("words",), added="terms"))
    listed = words(TEXTS[0])
    own = changed(listed, maker.terms(0), random.Random("5"), 3, 4)
    assert own == changed(listed, maker.terms(0), random.Random("5"), 3, 4.0) != listed
    assert changed(listed, ["x"], random.Random(1), 1, 10) == listed
