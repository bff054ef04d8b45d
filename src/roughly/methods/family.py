"""The shingling family from settings by name, as they stand in presets, settings files and on the command line.

| setting | methods | if not given |
|---|---|---|
| `threshold` | all | 0.5 for `shingles`, 0.8 for `word-lsh`; none for the others: what they have in common is enough |
| `measure` | `shingles` | `resemblance` |
| `shingle_size` | all but `word-lsh` | 10; 5 for `mega-shingles` |
| `sketch`, `groups` | `shingles`, `super-shingles` | `mod:25`, none |
| `common` | `shingles` | 1,000 |
| `super_size`, `meta`, `short` | `super-shingles` | 4, `all`, `sample` |
| `mega_groups`, `mega_samples` | `mega-shingles` | 6, 14 |
| `lsh_words`, `lsh_signatures`, `filter` | `word-lsh` | 3, 125, none |
| `seed` | `mega-shingles`, `word-lsh` | 0 |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from roughly.errors import SettingsError
from roughly.features.sampling import Sampling
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.word_lsh import WordLSH
from roughly.text.filters import Filters

Family = Shingles | SuperShingles | MegaShingles | WordLSH

_ARGUMENTS: dict[type[Family], dict[str, str]] = {  # settings → arguments
    Shingles: {"threshold": "threshold", "measure": "measure", "shingle_size": "shingle_size", "common": "common"},
    SuperShingles: {"threshold": "threshold", "shingle_size": "shingle_size", "super_size": "size", "short": "short"},
    MegaShingles: {
        "threshold": "threshold", "shingle_size": "shingle_size", "mega_groups": "groups", "mega_samples": "samples",
        "seed": "seed",
    },
    WordLSH: {"threshold": "threshold", "lsh_words": "words", "lsh_signatures": "signatures", "seed": "seed"},
}  # fmt: skip
_BUILT: dict[type[Family], dict[str, tuple[str, Callable[[Any], Any]]]] = {
    Shingles: {},
    SuperShingles: {"meta": ("meta", Sampling.parse)},
    MegaShingles: {},
    WordLSH: {"filter": ("filters", lambda text: Filters.parse(text) or None)},
}
METHODS: dict[str, type[Family]] = {kind.name: kind for kind in _ARGUMENTS}


def settings_of(method: str) -> set[str]:
    """The names of the settings that a method of the family has."""
    if method not in METHODS:
        raise SettingsError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    kind = METHODS[method]
    return {*_ARGUMENTS[kind], *_BUILT[kind], *(("sketch", "groups") if kind in (Shingles, SuperShingles) else ())}


def make(method: str, settings: Mapping[str, Any]) -> Family:
    """The method with these settings. Those that it does not have are refused, all at once."""
    unknown = sorted(set(settings) - settings_of(method))
    kind = METHODS[method]
    plain, built = _ARGUMENTS[kind], _BUILT[kind]
    if unknown:
        raise SettingsError(*(f"the method {method} has no setting {name!r}" for name in unknown))
    arguments = {plain[name]: value for name, value in settings.items() if name in plain}
    arguments |= {built[name][0]: built[name][1](value) for name, value in settings.items() if name in built}
    if "sketch" in settings or "groups" in settings:
        arguments["sampling"] = Sampling.parse(settings.get("sketch", "mod:25"), settings.get("groups", ()))
    return kind(**arguments)
