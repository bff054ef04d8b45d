"""A lexicon: the number of documents of a collection that contain each term. Frozen, opened by memory map.

    >>> from roughly import lexicon
    >>> english = lexicon.default()
    >>> english.frequency("the") > english.frequency("hypothesis") > 0
    True

Methods look up token hashes in batches (`frequencies`, `idf`); people look up terms (`frequency`, `terms`, `top`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.amounts import counted
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.lexicon import idf
from roughly.lexicon.format import LexiconFacts, map_file, read
from roughly.lexicon.term_table import TermTable
from roughly.lexicon.thresholds import Thresholds
from roughly.text.canonical import tokenise, words
from roughly.text.vocabulary import decode_terms

if TYPE_CHECKING:
    from roughly.lexicon.lexicon_comparison import LexiconComparison

_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Lexicon:
    """Document frequencies of terms. Make one with `build`, `merge` or `Lexicon.open`; it never changes."""

    facts: LexiconFacts
    fingerprint: str  # of everything that a lookup depends on; methods store it with their signatures
    name: str
    table: TermTable = field(repr=False)
    directory: npt.NDArray[np.uint32] = field(repr=False)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Map a lexicon's file; `verify=False` skips the checksum of its body, which reads all of it once."""
        data, size = map_file(Path(path))
        contents = read(data, size, os.fspath(path), verify)
        return cls(contents.facts, contents.digest[:16], os.fspath(path), contents.table, contents.directory)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "lexicon") -> Self:
        """A lexicon from the bytes of its file."""
        contents = read(data, len(data), name)
        return cls(contents.facts, contents.digest[:16], name, contents.table, contents.directory)

    def __repr__(self) -> str:
        return f"<Lexicon {self.name}: {counted(len(self), 'term')} of {counted(self.documents, 'document')}>"

    def __len__(self) -> int:
        """The number of terms that count."""
        return self._extent[2]

    @property
    def documents(self) -> int:
        """The number of documents counted."""
        return self.facts.documents

    def frequencies(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
        """Document frequency of each token hash; 0 for unknown terms."""
        from roughly.kernels.frequency import look_up

        return look_up(hashes, self.table.hashes, self.directory, self.table.counts)

    def idf(self, hashes: npt.NDArray[np.uint64], norm: str = "conrad") -> npt.NDArray[np.float64]:
        """Normalised idf of each token hash; NaN for unknown terms."""
        return self.idf_of(self.frequencies(hashes), norm)

    def idf_of(self, frequencies: npt.NDArray[np.uint32], norm: str = "conrad") -> npt.NDArray[np.float64]:
        """Normalised idf of terms with these document frequencies; NaN for 0."""
        idf.check_norm(norm)
        if norm == "conrad":
            return idf.conrad(frequencies, self.documents)
        least, most, _ = self._extent
        return idf.imatch(frequencies, least, most)

    def frequency(self, term: str) -> int:
        """Document frequency of a term as people write it; refused if it is not one token."""
        tokens = words(term)
        if len(tokens) != 1:
            what = f"is {len(tokens)} tokens, {', '.join(tokens)}: look up each" if tokens else "holds no token"
            raise InputError(f"{term!r} {what}")
        return int(self.frequencies(tokenise(pa.array([term])).hashes)[0])

    def terms(self) -> Iterator[tuple[str, int]]:
        """Every term with its document frequency, in the order of the file."""
        for first in range(0, len(self.table.hashes), _BLOCK):
            part = self.table.part(first, min(first + _BLOCK, len(self.table.hashes)))
            for word, count in zip(decode_terms(part.text, part.offsets), part.counts.tolist(), strict=True):
                if count:
                    yield word, count

    def top(self, count: int) -> list[tuple[str, int]]:
        """The most frequent terms, most documents first, ties by term."""
        frequencies = self.table.counts
        count = min(max(count, 0), len(self))
        if count == 0:
            return []
        least = max(1, int(np.partition(frequencies, len(frequencies) - count)[len(frequencies) - count]))
        found = [(self.word(place), int(frequencies[place])) for place in np.flatnonzero(frequencies >= least).tolist()]
        return sorted(found, key=lambda item: (-item[1], item[0]))[:count]

    def word(self, place: int) -> str:
        """The term at a position of the table, as people write it."""
        return decode_terms(self.table.text, self.table.offsets[place : place + 2])[0]

    def with_thresholds(self, *, min_df: int = 1, letters_only: bool = False, min_length: int = 1) -> Lexicon:
        """The same lexicon, in which only terms within the thresholds count; its existing thresholds still apply."""
        request = Thresholds(min_df=min_df, letters_only=letters_only, min_length=min_length)
        thresholds = self.facts.thresholds.together_with(request)
        if thresholds == self.facts.thresholds:
            return self
        counts = np.where(thresholds.mask(self.table), self.table.counts, np.uint32(0))
        counts.flags.writeable = False
        text = f"{self.fingerprint} {thresholds.to_dict()}"
        return dataclasses.replace(
            self,
            facts=dataclasses.replace(self.facts, thresholds=thresholds),
            fingerprint=hashlib.sha256(text.encode()).hexdigest()[:16],
            table=self.table._replace(counts=counts),
        )

    def compare(self, other: Lexicon) -> LexiconComparison:
        """Rank correlation of the common terms, and terms added and lost."""
        from roughly.lexicon.lexicon_comparison import compare

        return compare(self, other)

    def summary(self) -> dict[str, Any]:
        """Its facts and counts."""
        least, most, terms = self._extent
        return {
            "documents": self.documents,
            "terms": terms,
            "postings": int(self.table.counts.sum(dtype=np.uint64)),
            "once": int(np.count_nonzero(self.table.counts == 1)),
            "least": least,
            "most": most,
            "fingerprint": self.fingerprint,
            **{name: value for name, value in self.facts.to_dict().items() if name != "documents"},
        }

    @cached_property
    def _extent(self) -> tuple[int, int, int]:
        """Lowest and highest document frequency of the terms that count, and counts of these; zeros for none."""
        counts = self.table.counts[self.table.counts > 0]
        return (int(counts.min()), int(counts.max()), len(counts)) if len(counts) else (0, 0, 0)
