"""Options of methods, converted to the parameters of their classes. Each function removes its options from `given`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from roughly.errors import SettingsError
from roughly.methods import secret
from roughly.options import COLLECTION, DEFAULT, METHODS, NONE, SKETCH

if TYPE_CHECKING:
    from roughly.features.sampling import Sampling
    from roughly.lexicon.lexicon import Lexicon
    from roughly.settings import Settings
    from roughly.text.filters import Filters

JUDGES = ("keys", "sketch")


def every_shingle() -> Sampling:
    """No sampling at all."""
    from roughly.features.sampling import Sampling

    return Sampling()


def read_sampling(given: dict[str, Any] | None = None, name: str = "sketch", seed: int = 0) -> Sampling:
    """The sampling that an option names: the sketch with its groups, or another; `mod:25` and `all` by default."""
    from roughly.features.sampling import Sampling

    given = {} if given is None else given
    if name != SKETCH.name:
        return Sampling.parse(given.pop(name, "all"))
    return Sampling.parse(given.pop(name, SKETCH.default), given.pop("groups", ()), seed)


def read_threshold(given: dict[str, Any], settings: Settings) -> float | None:
    """The threshold if pairs are judged on sketches; None if one common key is enough, or texts decide."""
    judge = given.pop("judge", METHODS[settings.method].default("judge"))
    if judge not in JUDGES:
        raise SettingsError(f"judge must be one of {', '.join(JUDGES)}, not {judge!r}")
    return settings.threshold if judge == "sketch" and not settings.verify else None


def read_filters(given: dict[str, Any], method: str) -> Filters | None:
    """The syntactic filters; a term filter is refused."""
    from roughly.methods.term_filters import split_filters

    filters, terms = split_filters(given.pop("filter", ""))
    if terms is not None:
        raise SettingsError(f"{terms} is a filter of imatch; {method} takes sw, tg5, tl25, nosc, stem")
    return filters


def read_rare_terms(settings: Settings, collection: Lexicon | None) -> dict[str, Any]:
    """The parameters of the methods of rare terms: a lexicon, filters, and windows that may be `none`."""
    anything: dict[str, Any] = {"dates": None, "lengths": 1.0}
    given = {name: anything[name] if value == NONE else value for name, value in settings.options.items()}
    given["filters"] = read_filters(given, settings.method)
    given["lexicon"] = open_lexicon(given.get("lexicon"), collection)
    return given


def open_lexicon(given: Any, collection: Lexicon | None = None) -> Lexicon:
    """The lexicon that an option names: an object, a file, `default` or None, or `collection` for the counted one."""
    from roughly import lexicon as lexicons
    from roughly.lexicon.lexicon import Lexicon

    if isinstance(given, Lexicon):
        return given
    if given == COLLECTION:
        if collection is None:
            raise SettingsError("the lexicon `collection` is counted by a run; give a file to use a method without one")
        return collection
    return lexicons.default() if given in (None, DEFAULT) else Lexicon.open(given)


def read_key_file(settings: Settings) -> bytes:
    """The secret key of the settings; empty if they name none."""
    path = settings.options.get("key_file")
    return secret.NO_KEY if path is None else secret.read_key(Path(path))
