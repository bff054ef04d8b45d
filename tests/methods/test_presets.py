"""Presets: each makes the method that its paper describes; settings by name reach the right argument."""

from __future__ import annotations

from typing import Any

import pytest

import roughly
from roughly import lexicon
from roughly.errors import SettingsError
from roughly.features.sampling import Sampling
from roughly.methods import Method, make
from roughly.methods.imatch import IMatch
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.presets import PRESETS, preset
from roughly.methods.rare_terms import RareTerms
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.term_vector import TermVector
from roughly.methods.word_lsh import WordLSH
from roughly.settings import Settings
from roughly.text.filters import Filters

MADE = {
    "broder-1997": Shingles(0.5, "resemblance", 10, Sampling("mod", 25), 1000, ignore_common=True),
    "broder-1997-super": SuperShingles(4, 10, Sampling("mod", 25), short="sample"),
    "broder-1997-lengths": Shingles(0.5, sampling=Sampling("adaptive")),
    "ye-2008": Shingles(0.6, sampling=Sampling("adaptive", 0, ((500, 1 / 8), (1000, 1 / 16)))),
    "imatch-2002": IMatch(lexicon=lexicon.default(), filter="IDF-L-10", norm="imatch"),
    "conrad-2003-rare": RareTerms(lexicon=lexicon.default(), terms=6, most_idf=0.8, min_df=5),
    "conrad-2003-vector": TermVector(lexicon=lexicon.default(), terms=60, shared=48, dates=42, lengths=0.2, min_df=5),
    "kolcz-2008": IMatch(lexicon=lexicon.default(), filter="IDFR-I-20-80", norm="imatch", lexicons=10),
    "fetterly-2003": MegaShingles(6, 14, 5),
    "haveliwala-2000": WordLSH(3, 125, 0.8),
    "versions": make(Settings(threshold=0.35, shingle_size=2)),
    "pages": make(Settings(threshold=0.3, shingle_size=2)),
    "records": make(Settings(threshold=0.2, shingle_size=2)),
    "abstracts": make(Settings(threshold=0.55, shingle_size=2)),
    "news": make(Settings(threshold=0.15, shingle_size=2)),
}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_makes_its_method(name: str) -> None:
    assert make(Settings.gather(preset(name).settings), lexicon.default()) == MADE[name]
    assert preset(name).citation and preset(name).about


def test_learned_presets_have_a_verdict_that_runs_take() -> None:
    first = "The committee met in March 2019 and agreed on the budget of the new library in the old town."
    rows = [
        {"id": "a", "text": first * 3}, {"id": "c", "text": "Nothing of this, said the captain of the boat."},
        {"id": "b", "text": (first * 3).replace("agreed on", "approved")},
    ]  # fmt: skip
    for name in ("versions", "pages"):
        found = roughly.dedupe(rows, preset=name)
        assert [row["kept"] for row in found.documents.to_pylist()] == [True, False, True], name
        assert "probability" in found.pairs.column_names
    with pytest.raises(SettingsError, match="belongs to the method minhash"):
        roughly.dedupe(rows, preset="pages", method="imatch")


def test_records_of_two_catalogues_are_found() -> None:
    """Names and venue are written otherwise; neighbours that share the venue and the year are not the same."""
    rows = [
        {"id": "a", "text": "Dynamic Information Visualization Yannis E. Ioannidis SIGMOD Record 1996"},
        {"id": "b", "text": "Dynamic information visualization Ioannidis ACM SIGMOD Record 1996"},
        {"id": "c", "text": "Open Object Database Management Systems Jose Blakeley SIGMOD Record 1996"},
    ]
    assert len(roughly.dedupe(rows).removed) == 0
    assert [row["doc_id"] for row in roughly.dedupe(rows, preset="records").removed.to_list()] == ["b"]


def test_one_abstract_of_two_databases_is_found() -> None:
    """Headings, an entity, spellings and a copyright line differ; another study with the same sentences does not."""
    text = (
        "Background: Ischaemic preconditioning reduces infarct size in rats. Methods: Hearts of {} rats were perfused "
        "for {} min, and infarct size was measured with {}. Results: Infarct size fell from {} to {} % (p < 0.05). "
        "Conclusion: {} is protective against reperfusion injury."
    )
    first = text.format(24, 30, "tetrazolium", 45.2, 21.7, "Preconditioning")
    again = first.replace("Ischaemic", "Ischemic").replace("<", "&lt;").replace("Methods: ", "METHODS ")
    other = text.format(18, 45, "Evans blue", 51.9, 33.3, "Isoflurane given before occlusion")
    texts = [first, again.replace("Conclusion: ", "") + " (C) 2000 Academic Press.", other]
    rows = [{"id": name, "text": one} for name, one in zip("abc", texts, strict=True)]
    assert len(roughly.dedupe(rows).removed) == 0
    assert [row["doc_id"] for row in roughly.dedupe(rows, preset="abstracts").removed.to_list()] == ["a"]


def test_a_story_filed_again_with_more_is_found_and_another_day_of_a_series_is_not() -> None:
    first = (
        "Union leaders are touring the country to end a wave of strikes that followed a partial freeze of wages, "
        "officials said. Witnesses in the northern city reported far more police on the streets than normal."
    )
    more = " Workers at the largest shipyard said that they would stay out until the law is withdrawn by parliament."
    series = "The Federal Reserve arranged {} billion dlrs of customer repurchase agreements, a spokesman said on {}."
    texts = [first, first.replace("officials", "official sources") + more * 2]
    texts += [series.format("1.5", "Monday"), series.format("two", "Thursday")]
    rows = [{"id": name, "text": text} for name, text in zip("abcd", texts, strict=True)]
    assert len(roughly.dedupe(rows).removed) == 0
    assert [row["doc_id"] for row in roughly.dedupe(rows, preset="news").removed.to_list()] == ["a"]


def made(**settings: Any) -> Method:
    return make(Settings.gather(settings))


def test_every_setting_reaches_its_method() -> None:
    assert made(method="shingles", measure="containment", common=9, sketch="min:4", threshold=0.5) == Shingles(
        0.5, "containment", 5, Sampling("min", 4), 9
    )
    assert made(method="shingles", sketch="adaptive", groups="400:0.25,800:0.125") == Shingles(
        0.8, "resemblance", 5, Sampling("adaptive", 0, ((400, 0.25), (800, 0.125)))
    )
    assert made(method="super-shingles", super_size=2, meta="mod:3", short="keep") == SuperShingles(
        2, 5, meta=Sampling("mod", 3), short="keep"
    )
    assert made(method="super-shingles", judge="sketch", threshold=0.6) == SuperShingles(4, 5, threshold=0.6)
    assert made(method="mega-shingles", mega_groups=4, mega_samples=3, seed=5) == MegaShingles(4, 3, seed=5)
    assert made(method="word-lsh", lsh_words=2, filter="sw", judge="keys") == WordLSH(
        2, threshold=None, filters=Filters(("sw",))
    )


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(SettingsError, match="unknown preset 'broder'; presets are broder-1997"):
        preset("broder")
    with pytest.raises(SettingsError, match="method must be one of identical, lexical, minhash, shingles"):
        made(method="shingle")
    with pytest.raises(SettingsError) as told:
        made(method="mega-shingles", sketch="all", common=3, threshold=2)
    assert told.value.problems == (
        "the method mega-shingles has no option 'sketch'; it has mega_groups, mega_samples, judge",
        "the method mega-shingles has no option 'common'; it has mega_groups, mega_samples, judge",
        "threshold must be above 0 and at most 1, not 2; for 2 % write 0.02",
    )
    with pytest.raises(SettingsError, match="judge must be one of keys, sketch, not 'jury'"):
        made(method="word-lsh", judge="jury")
