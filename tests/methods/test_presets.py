"""Presets: each makes the method that its paper describes; settings by name reach the right argument."""

from __future__ import annotations

import pytest

from roughly.errors import SettingsError
from roughly.features.sampling import Sampling
from roughly.methods import family
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.presets import PRESETS, preset
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.word_lsh import WordLSH
from roughly.text.filters import Filters

MADE = {
    "broder-1997": Shingles(0.5, "resemblance", 10, Sampling("mod", 25), 1000),
    "broder-1997-super": SuperShingles(4, 10, Sampling("mod", 25), short="sample"),
    "broder-1997-lengths": Shingles(0.5, sampling=Sampling("adaptive")),
    "ye-2008": Shingles(0.6, sampling=Sampling("adaptive", 0, ((500, 1 / 8), (1000, 1 / 16)))),
    "fetterly-2003": MegaShingles(6, 14, 5),
    "haveliwala-2000": WordLSH(3, 125, 0.8),
}
ELSEWHERE = {"method", "cluster"}  # settings that are not the method's


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_makes_its_method(name: str) -> None:
    settings = preset(name).settings
    made = family.make(settings["method"], {k: v for k, v in settings.items() if k not in ELSEWHERE})
    assert made == MADE[name]
    assert preset(name).citation and preset(name).about


def test_every_setting_reaches_its_method() -> None:
    assert family.make("shingles", {"measure": "containment", "common": 9, "sketch": "min:4"}) == Shingles(
        measure="containment", common=9, sampling=Sampling("min", 4)
    )
    assert family.make("super-shingles", {"super_size": 2, "meta": "mod:3", "short": "keep"}) == SuperShingles(
        size=2, meta=Sampling("mod", 3), short="keep"
    )
    assert family.make("mega-shingles", {"mega_groups": 4, "mega_samples": 3, "seed": 5}) == MegaShingles(4, 3, seed=5)
    assert family.make("word-lsh", {"lsh_words": 2, "filter": "sw", "threshold": None}) == WordLSH(
        2, threshold=None, filters=Filters(("sw",))
    )


def test_what_is_unknown_is_refused() -> None:
    with pytest.raises(SettingsError, match="unknown preset 'broder'; presets are broder-1997"):
        preset("broder")
    with pytest.raises(SettingsError, match="method must be one of shingles, super-shingles"):
        family.make("shingle", {})
    with pytest.raises(SettingsError) as told:
        family.make("mega-shingles", {"sketch": "all", "common": 3})
    assert told.value.problems == (
        "the method mega-shingles has no setting 'common'", "the method mega-shingles has no setting 'sketch'",
    )  # fmt: skip
