"""Methods that sign documents, made from options by name; an option that a method does not take is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roughly import lexicon as lexicons
from roughly.errors import SettingsError
from roughly.lexicon import Lexicon
from roughly.methods import IMatch, Method, MinHash, RareTerms, Syntactic, TermVector, bands
from roughly.methods.secret import read_key
from roughly.methods.term_filters import split_filters

DEFAULT_LEXICON = "default"


@dataclass(frozen=True)
class _Signer:
    make: Callable[[dict[str, Any]], Method]
    takes: tuple[str, ...]


def make_method(name: str, options: Mapping[str, Any]) -> Method:
    """The method of this name; options that are None are as if not given.

    `filter` holds syntactic filters and, for imatch, a term filter; `lexicon` is a file, a Lexicon or `default`, which
    is also taken where none is given; `key_file` is the file of a secret key.
    """
    if name not in SIGNERS:
        raise SettingsError(f"method must be one of {', '.join(SIGNERS)} to sign documents, not {name!r}")
    given = {option: value for option, value in options.items() if value is not None}
    takes = SIGNERS[name].takes
    wrong = [f"--{option.replace('_', '-')} is no option of --method {name}" for option in given if option not in takes]
    if wrong:
        raise SettingsError(*wrong)
    return SIGNERS[name].make(given)


def _syntactic(given: dict[str, Any]) -> Method:
    filters, terms = split_filters(given.get("filter", ""))
    if terms is not None:
        raise SettingsError(f"{terms} is a filter of imatch; syntactic filters are sw, tg5, tl25, nosc, stem")
    return Syntactic(filters)


def _imatch(given: dict[str, Any]) -> Method:
    filters, terms = split_filters(given.pop("filter", ""))
    key_file = given.pop("key_file", None)
    if key_file is not None:
        given["key"] = read_key(Path(key_file))
    if terms is not None:
        given["filter"] = terms
    return IMatch(**_with_lexicon(given), filters=filters)


def _conrad(kind: type[RareTerms] | type[TermVector]) -> Callable[[dict[str, Any]], Method]:
    def make(given: dict[str, Any]) -> Method:
        filters, terms = split_filters(given.pop("filter", ""))
        if terms is not None:
            raise SettingsError(f"{terms} is a filter of imatch; {kind.name} takes sw, tg5, tl25, nosc, stem")
        return kind(**_with_lexicon(given), filters=filters)

    return make


def _minhash(given: dict[str, Any]) -> Method:
    threshold, recall = given.get("threshold", 0.8), given.get("recall", 0.99)
    if not 0 < threshold <= 1 or not 0 < recall < 1:
        raise SettingsError(f"threshold {threshold} and recall {recall} must lie between 0 and 1")
    number, rows = bands.choose(threshold, recall)
    return MinHash(threshold, recall, given.get("shingle_size", 5), number, rows, given.get("seed", 0))


def _with_lexicon(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "lexicon": open_lexicon(given.get("lexicon", DEFAULT_LEXICON))}


def open_lexicon(given: Any) -> Lexicon:
    """A lexicon as it is given: itself, a file, or `default` for the one that comes with roughly."""
    if isinstance(given, Lexicon):
        return given
    return lexicons.default() if str(given) == DEFAULT_LEXICON else Lexicon.open(given)


SIGNERS = {
    "minhash": _Signer(_minhash, ("threshold", "recall", "shingle_size", "seed")),
    "syntactic": _Signer(_syntactic, ("filter",)),
    "imatch": _Signer(
        _imatch,
        (
            "filter",
            "lexicon",
            "norm",
            "lexicons",
            "dropped",
            "min_terms",
            "min_share",
            "secondary",
            "unsigned",
            "key_file",
        ),
    ),
    "rare-terms": _Signer(
        _conrad(RareTerms), ("filter", "lexicon", "norm", "terms", "most_idf", "bin", "lengths", "min_df")
    ),
    "term-vector": _Signer(
        _conrad(TermVector), ("filter", "lexicon", "terms", "shared", "dates", "lengths", "min_terms", "min_df")
    ),
}
"""By name; a method that signs is added here."""
