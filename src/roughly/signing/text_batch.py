"""A batch of texts and its signatures: the only code from texts to what is compared, for all engines, index and tools.

    texts ─ markup removed ─ canonical tokens ─ digests
                           └ filtered tokens  ─ method.sign → keys, sketch, counts

Every step is computed on first use and cached, so that one batch can be signed by several methods, and a caller pays
only for what it uses. A batch belongs to one thread.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.methods.method import Keys, Method, Signature
from roughly.text import tables
from roughly.text.canonical import Tokens, buffers, characters, tokenise
from roughly.text.filters import Filters
from roughly.text.markup import PageText, strip_column

Digests = npt.NDArray[np.uint64]
"""128 bits per document: (documents, 2)."""
Ints = npt.NDArray[np.int64]
_LONG = 1 << 16
"""Bytes per text from which equal texts of a batch are signed once."""


class TextBatch:
    """Texts and what is computed from them: an Arrow column `string` or `large_string`, and which rows are markup."""

    def __init__(self, given: pa.Array, markup: pa.Array | None = None, part: PageText = "all") -> None:
        self.given = given
        self._markup, self._part = markup, part
        self._terms: dict[str, Tokens] = {}

    def __len__(self) -> int:
        return len(self.given)

    @cached_property
    def texts(self) -> pa.Array:
        """The texts without markup, or what else of a page is compared."""
        return self.given if self._markup is None else strip_column(self.given, self._markup, self._part)

    @cached_property
    def tokens(self) -> Tokens:
        """The canonical tokens."""
        return tokenise(self.texts)

    @cached_property
    def characters(self) -> Tokens:
        """The characters of the canonical tokens."""
        return characters(self.texts)

    def units(self, unit: str) -> Tokens:
        """What shingles are made of: tokens or characters, as `units_of`."""
        return self.characters if unit == "character" else self.tokens

    @cached_property
    def lengths(self) -> Ints:
        """Tokens per document."""
        return np.diff(self.tokens.offsets)

    @property
    def sizes(self) -> Ints:
        """Bytes per document, as given."""
        return np.diff(buffers(self.given)[1])

    @property
    def text_bytes(self) -> int:
        """Bytes of all texts without markup."""
        return int(self.texts.nbytes) - 8 * (len(self) + 1)

    @cached_property
    def raw_digests(self) -> Digests:
        """Digests of the bytes as given: `identical` documents have the same."""
        from roughly.kernels.hashing import hash_bytes

        return hash_bytes(*buffers(self.given))

    @cached_property
    def lexical_digests(self) -> Digests:
        """Digests of the canonical tokens in order: `lexical`ly equal documents have the same."""
        from roughly.kernels.hashing import hash_sequences

        return hash_sequences(self.tokens.hashes, self.tokens.offsets)

    def digests(self, collapse: Literal["identical", "lexical"]) -> Digests:
        """The digests by which documents are equal at this level."""
        return self.raw_digests if collapse == "identical" else self.lexical_digests

    def terms(self, filters: Filters | None) -> Tokens:
        """The tokens that the filters leave: what a method with these filters signs."""
        if not filters:
            return self.tokens
        name = str(filters)
        if name not in self._terms:
            self._terms[name] = filters.apply(self.texts)
        return self._terms[name]

    def sign(self, method: Method) -> Signature:
        """Keys, sketch and counts: `unsigned` documents have words and no key, `not_html` ones no DOM to compare."""
        return self._counted(method.sign(self.terms(method.filters) if method.filters else self.units(method.unit)))

    def sign_in_one_pass(self, method: Method) -> Signature:
        """The same, with lengths and digests found on the way where the method allows it; tokens are not kept."""
        sampling = method.band_sampling
        if sampling is None or method.filters or method.unit != "word" or self.texts is not self.given:
            return self.sign(method)
        from roughly.kernels.arrays import Table
        from roughly.kernels.text_signing import sign_texts

        table, given = tables.load(), self.given
        rows: slice | npt.NDArray[np.intp] = slice(None)
        if len(self) > 1 and given.nbytes > _LONG * len(self):  # a small file of Parquet can repeat a long text at will
            _, first, again = np.unique(self.raw_digests, axis=0, return_index=True, return_inverse=True)
            given, rows = given.take(pa.array(first)), again.reshape(-1)
        found = sign_texts(*buffers(given), Table(table.stage1, table.stage2), sampling)
        self.raw_digests, self.lexical_digests = found.raw[rows], found.lexical[rows]
        self.lengths = found.lengths[rows]
        return self._counted(Signature(Keys(found.keys[rows])))

    def _counted(self, signature: Signature) -> Signature:
        counts = dict(signature.counts)
        if signature.keys is not None:
            counts["unsigned"] = int((signature.keys.missing() & (self.lengths > 0)).sum())
        if self._part == "dom":
            counts["not_html"] = len(self) - (0 if self._markup is None else self._markup.true_count)
        return replace(signature, counts=counts)


def example_signature(method: Method) -> Signature:
    """The signature of one short text, to see the shape of a method's keys and sketch."""
    return TextBatch(pa.array(["one two three"], pa.large_string())).sign(method)
