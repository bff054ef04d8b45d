"""Every method by name: its class, what it takes, and how it is made of settings. The one list there is.

`dedupe`, `sign`, the presets and the tables of the docs all go by it. What a method takes (its options, their types,
defaults and one-line help) stands in `roughly.options`, which the settings and the command line can read without
loading a method; `REGISTRY` puts both together, and a test holds them to the same names. To add a method: its file, a
line there, a line here, a page of docs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roughly import lexicon as lexicons
from roughly.errors import SettingsError
from roughly.features.sampling import Sampling
from roughly.lexicon.lexicon import Lexicon
from roughly.methods import bands as banding
from roughly.methods import secret
from roughly.methods.contained import Contained, fewest_probes
from roughly.methods.identical import Identical
from roughly.methods.imatch import IMatch
from roughly.methods.lexical import Lexical
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.method import Method
from roughly.methods.minhash import MinHash
from roughly.methods.rare_terms import RareTerms
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.syntactic import Syntactic
from roughly.methods.term_filters import split_filters
from roughly.methods.term_vector import TermVector
from roughly.methods.verified import Verified
from roughly.methods.word_lsh import WordLSH
from roughly.options import COLLECTION, DEFAULT, METHODS, NONE, MethodSpec
from roughly.settings import Settings
from roughly.text.filters import Filters

JUDGES = ("keys", "sketch")


@dataclass(frozen=True)
class MethodEntry:
    """One method."""

    kind: type[Any]
    make: Callable[[Settings, Lexicon | None], Method]  # the second: the lexicon of the collection, once it is counted
    takes: MethodSpec


def make(settings: Settings, collection: Lexicon | None = None) -> Method:
    """The method that these settings name, with everything that follows from them derived.

    `collection` is the lexicon of the run's own documents, which the lexicon `collection` stands for.
    """
    method = REGISTRY[settings.method].make(settings, collection)
    if settings.verify and not method.equality and method.judge().on != "text":
        return Verified(method, settings.measure, settings.threshold)
    return method


def check(settings: Settings) -> Method:
    """Refuse what cannot be made, before any work is done.

    The method, on trial: another lexicon stands in for one that is still to be counted.
    """
    return make(settings, _stand_in(counted_with(settings)) if needs_count(settings) else None)


def needs_count(settings: Settings) -> bool:
    """Whether the documents must be counted before they can be signed."""
    return bool(settings.options.get("lexicon") == COLLECTION)


def counted_with(settings: Settings) -> Filters:
    """The filters that the collection is counted with: those that its documents are signed with."""
    return split_filters(settings.options.get("filter", ""))[0] or Filters()


def contents(settings: Settings, method: Method | None = None) -> dict[str, str]:
    """What the files that options name hold: a lexicon by its fingerprint, a key by its digest.

    Without a method it is made, and refused where it cannot be; a collection that was not counted yet is only named.
    """
    if method is None:
        if needs_count(settings):
            check(settings)
            key = secret.key_digest(_key(settings))
            return {"lexicon": COLLECTION} | ({"key_file": key} if key else {})
        method = make(settings)
    made = method.method if isinstance(method, Verified) else method
    held = {}
    if (lexicon := getattr(made, "lexicon", None)) is not None:
        held["lexicon"] = str(lexicon.fingerprint)
    if digest := secret.key_digest(getattr(made, "key", secret.NO_KEY)):
        held["key_file"] = digest
    return held


def fingerprint(settings: Settings, method: Method | None = None) -> str:
    """The fingerprint of settings together with what the files hold that they name."""
    return settings.fingerprint(contents(settings, method))


def open_lexicon(given: Any, collection: Lexicon | None = None) -> Lexicon:
    """A lexicon as it is given: itself, a file, `default`, or `collection` for the one that was counted."""
    if isinstance(given, Lexicon):
        return given
    if given == COLLECTION:
        if collection is None:
            raise SettingsError("the lexicon `collection` is counted by a run; give a file to use a method without one")
        return collection
    return lexicons.default() if given == DEFAULT else Lexicon.open(given)


def _stand_in(filters: Filters) -> Lexicon:
    """A lexicon that claims to have been built with these filters."""
    found = lexicons.default()
    return replace(found, facts=replace(found.facts, filters=str(filters)))


def _key(settings: Settings) -> bytes:
    path = settings.options.get("key_file")
    return secret.NO_KEY if path is None else secret.read_key(Path(path))


def _minhash(settings: Settings, _: Lexicon | None) -> Method:
    if settings.measure == "containment":
        probes = fewest_probes(settings.threshold, settings.recall)
        return Contained(settings.threshold, settings.recall, settings.shingle_size, probes)
    if settings.bands is not None and settings.rows is not None:
        bands, rows = settings.bands, settings.rows
    else:
        bands, rows = banding.choose(settings.threshold, settings.recall)
    return MinHash(settings.threshold, settings.recall, settings.shingle_size, bands, rows, settings.seed)


def _given(settings: Settings, **names: str) -> dict[str, Any]:
    """The options that were given, by the names of the method's arguments."""
    return {names.get(name, name): value for name, value in settings.options.items()}


def _sampling(given: dict[str, Any], method: str) -> Sampling:
    takes = METHODS[method]
    return Sampling.parse(given.pop("sketch", takes.default("sketch")), given.pop("groups", ()))


def _threshold(given: dict[str, Any], settings: Settings) -> float | None:
    """The threshold where pairs are judged by sketches; None where a key in common is enough."""
    judge = given.pop("judge", METHODS[settings.method].default("judge"))
    if judge not in JUDGES:
        raise SettingsError(f"judge must be one of {', '.join(JUDGES)}, not {judge!r}")
    return settings.threshold if judge == "sketch" else None


def _shingles(settings: Settings, _: Lexicon | None) -> Method:
    given = _given(settings)
    sampling = _sampling(given, settings.method)
    measure: Any = settings.measure
    return Shingles(settings.threshold, measure, settings.shingle_size, sampling, **given)


def _super_shingles(settings: Settings, _: Lexicon | None) -> Method:
    given = _given(settings, super_size="size")
    sampling, threshold = _sampling(given, settings.method), _threshold(given, settings)
    meta = Sampling.parse(given.pop("meta", "all"))
    return SuperShingles(
        shingle_size=settings.shingle_size, sampling=sampling, meta=meta, threshold=threshold, **given
    )  # fmt: skip


def _mega_shingles(settings: Settings, _: Lexicon | None) -> Method:
    given = _given(settings, mega_groups="groups", mega_samples="samples")
    threshold = _threshold(given, settings)
    return MegaShingles(shingle_size=settings.shingle_size, threshold=threshold, seed=settings.seed, **given)


def _word_lsh(settings: Settings, _: Lexicon | None) -> Method:
    given = _given(settings, lsh_words="words", lsh_signatures="signatures")
    filters, threshold = _syntactic_filters(given, settings.method), _threshold(given, settings)
    return WordLSH(threshold=threshold, filters=filters, seed=settings.seed, **given)


def _syntactic(settings: Settings, _: Lexicon | None) -> Method:
    return Syntactic(_syntactic_filters(_given(settings), settings.method))


def _imatch(settings: Settings, collection: Lexicon | None) -> Method:
    given = _given(settings)
    given.pop("key_file", None)
    filters, terms = split_filters(given.pop("filter", ""))
    if terms is not None:
        given["filter"] = terms
    lexicon = open_lexicon(given.pop("lexicon", DEFAULT), collection)
    return IMatch(lexicon=lexicon, filters=filters, key=_key(settings), **given)


def _conrad(kind: type[RareTerms] | type[TermVector]) -> Callable[[Settings, Lexicon | None], Method]:
    def made(settings: Settings, collection: Lexicon | None) -> Method:
        anything: dict[str, Any] = {"dates": None, "lengths": 1.0}
        given = {name: anything[name] if value == NONE else value for name, value in _given(settings).items()}
        filters = _syntactic_filters(given, kind.name)
        lexicon = open_lexicon(given.pop("lexicon", DEFAULT), collection)
        return kind(lexicon=lexicon, filters=filters, **given)

    return made


def _syntactic_filters(given: dict[str, Any], method: str) -> Filters | None:
    filters, terms = split_filters(given.pop("filter", ""))
    if terms is not None:
        raise SettingsError(f"{terms} is a filter of imatch; {method} takes sw, tg5, tl25, nosc, stem")
    return filters


REGISTRY: dict[str, MethodEntry] = {
    kind.name: MethodEntry(kind, maker, METHODS[kind.name])
    for kind, maker in (
        (Identical, lambda settings, _: Identical()),
        (Lexical, lambda settings, _: Lexical()),
        (MinHash, _minhash),
        (Shingles, _shingles),
        (SuperShingles, _super_shingles),
        (MegaShingles, _mega_shingles),
        (WordLSH, _word_lsh),
        (Syntactic, _syntactic),
        (IMatch, _imatch),
        (RareTerms, _conrad(RareTerms)),
        (TermVector, _conrad(TermVector)),
    )
}
