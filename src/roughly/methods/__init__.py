"""Published methods, one a file; `make` picks the one that the settings name."""

from __future__ import annotations

from roughly.methods import bands as banding
from roughly.methods.contained import Contained, fewest_probes
from roughly.methods.identical import Identical
from roughly.methods.imatch import IMatch
from roughly.methods.lexical import Lexical
from roughly.methods.method import Judge, Keys, Method, s_curve
from roughly.methods.minhash import MinHash
from roughly.methods.rare_terms import RareTerms
from roughly.methods.syntactic import Syntactic
from roughly.methods.term_vector import TermVector
from roughly.settings import Settings

__all__ = [
    "Contained", "IMatch", "Identical", "Judge", "Keys", "Lexical", "Method", "MinHash", "RareTerms",
    "Syntactic", "TermVector", "make", "s_curve",
]  # fmt: skip


def make(settings: Settings) -> Method:
    """The method that these settings name, with everything that follows from them derived."""
    if settings.method == "identical":
        return Identical()
    if settings.method == "lexical":
        return Lexical()
    if settings.measure == "containment":
        probes = fewest_probes(settings.threshold, settings.recall)
        return Contained(settings.threshold, settings.recall, settings.shingle_size, probes)
    if settings.bands is not None and settings.rows is not None:
        bands, rows = settings.bands, settings.rows
    else:
        bands, rows = banding.choose(settings.threshold, settings.recall)
    return MinHash(settings.threshold, settings.recall, settings.shingle_size, bands, rows, settings.seed)
