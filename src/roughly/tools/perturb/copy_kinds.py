"""Every kind of copy by its name."""

from __future__ import annotations

from collections.abc import Callable

from roughly.fast_dataclass import dataclass
from roughly.tools.perturb import edits
from roughly.tools.perturb import spam_edits as spam
from roughly.tools.perturb.recipe import Ground, New, Own, Piece, Recipe, Spliced
from roughly.tools.perturb.spot import Spot
from roughly.tools.perturb.unit_edits import filled, unit_edits
from roughly.tools.perturb.word_edits import word_edits


@dataclass(frozen=True)
class CopyKind:
    """A way to make copies. `same` says whether the copy is meant to be a duplicate of its source."""

    name: str
    same: bool
    what: str
    alpha: str  # the meaning of alpha / 10
    make: Callable[[Spot], str]


def _by(edit: Callable[[Ground], Recipe]) -> Callable[[Spot], str]:
    return lambda spot: spot.made(edit(spot))


def _words(spot: Spot) -> str:
    terms = spot.terms
    places = word_edits(len(spot), len(terms), spot.chance, spot.every, spot.alpha)
    pieces: list[Piece] = [Own(at, at + 1) if at >= 0 else New(terms[~at]) for at in places]
    return spot.made(Spliced(pieces))


def _units(begins: Callable[[Spot], list[int]], paragraphs: bool) -> Callable[[Spot], str]:
    def make(spot: Spot) -> str:
        units = unit_edits(begins(spot), len(spot), spot.alpha, spot.chance)
        return spot.made(Spliced(filled(units, [spot.foreign_unit(paragraphs) for unit in units if unit is None])))

    return make


def _spam(spot: Spot) -> str:
    return spam.garnished(spot.made(spam.insertion(spot, spot.passage.paragraphs)), spot.chance)


def _split(spot: Spot) -> str:
    spot.version = spot.chance.randrange(spot.versions)
    return spot.again(f"version {spot.version}").made(spam.version(spot.again(f"version {spot.version}")))


_AIM = "the resemblance aimed at"
KINDS = {
    kind.name: kind
    for kind in (
        CopyKind("copy", True, "the same text", "nothing", _by(edits.copy)),
        CopyKind("rewrapped", True, "the same words, other line breaks", "nothing", _by(edits.rewrapped)),
        CopyKind(
            "words",
            True,
            "words removed, flipped, added (I-Match 2002, §4.3)",
            "the probability that a word is kept",
            _words,
        ),
        CopyKind("substituted", True, "single words replaced by other real words", _AIM, _by(edits.substituted)),
        CopyKind(
            "sentences",
            True,
            "sentences removed, flipped, added",
            "the probability that a sentence is kept",
            _units(lambda spot: spot.passage.sentences, False),
        ),
        CopyKind(
            "paragraphs",
            True,
            "paragraphs removed, flipped, added",
            "the probability that a paragraph is kept",
            _units(lambda spot: spot.passage.paragraphs, True),
        ),
        CopyKind("reordered", True, "cut at sentence ends and shuffled", _AIM, _by(edits.swapped)),
        CopyKind("truncated", True, "the beginning only", "the fraction that is kept", _by(edits.truncated)),
        CopyKind("deleted", True, "runs of sentences left out", "the fraction that is kept", _by(edits.deleted)),
        CopyKind("inserted", True, "text of another document inserted", _AIM, _by(edits.inserted)),
        CopyKind("appended", True, "text of another document at the end", _AIM, _by(edits.appended)),
        CopyKind("boilerplate", True, "inside the frame of a site: navigation, notices", _AIM, _by(edits.framed)),
        CopyKind("characters", True, "words mistyped", _AIM, _by(edits.typed)),
        CopyKind("ocr", True, "words misread by a scanner", _AIM, _by(edits.noisy)),
        CopyKind(
            "spam", True, "random characters, a neutral passage, other order and marks (Kołcz 2008, §5)", _AIM, _spam
        ),
        CopyKind("split", True, "a campaign in a few versions, each sent as it is (Kołcz 2008, §5)", _AIM, _split),
        CopyKind("template", False, "the same frame around another body", "nothing", _by(edits.template)),
        CopyKind("numbers", False, "all numbers changed", "nothing", _by(edits.numbers)),
        CopyKind("quoted", False, "a reply that quotes the text", _AIM, _by(edits.quoted)),
        CopyKind("form", False, "one form filled in differently", "nothing", _by(edits.form)),
    )
}
