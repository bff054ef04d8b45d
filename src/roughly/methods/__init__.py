"""Published methods, one a file; `make` picks the one that the settings name (see `registry`)."""

from __future__ import annotations

from roughly.methods.contained import Contained
from roughly.methods.identical import Identical
from roughly.methods.imatch import IMatch
from roughly.methods.judgement import judgement
from roughly.methods.lexical import Lexical
from roughly.methods.mega_shingles import MegaShingles
from roughly.methods.method import Judge, Keys, Method, s_curve
from roughly.methods.minhash import MinHash
from roughly.methods.rare_terms import RareTerms
from roughly.methods.registry import REGISTRY, check, contents, counted_with, fingerprint, make, needs_count
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.syntactic import Syntactic
from roughly.methods.term_vector import TermVector
from roughly.methods.verified import Verified
from roughly.methods.word_lsh import WordLSH

__all__ = [
    "REGISTRY", "Contained", "IMatch", "Identical", "Judge", "Keys", "Lexical", "MegaShingles", "Method", "MinHash",
    "RareTerms", "Shingles", "SuperShingles", "Syntactic", "TermVector", "Verified", "WordLSH", "check", "contents",
    "counted_with", "fingerprint", "judgement", "make", "needs_count", "s_curve",
]  # fmt: skip
