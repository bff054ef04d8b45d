"""A batch of documents, signed by the method of an index: with the kernels, and in the order, of a batch run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly import dates
from roughly.cluster.scoring import tokens_of
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.features.shingle_sets import Sets
from roughly.methods import Keys, Method
from roughly.settings import Settings
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import Tokens

if TYPE_CHECKING:
    from roughly.cluster.comparisons import WordsInMemory
    from roughly.cluster.fields import Fields

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

LONGEST_ID = 2_000
"""Bytes of a doc_id: the limit of a B-tree of PostgreSQL."""
_FEW = 8


@dataclass(frozen=True)
class KeyRows:
    """Keys one by one: `owners[i]` has `keys[i]`, and probes for it or not. Sorted by owner, without repeats."""

    owners: Ints
    keys: Ints  # the 64 bits of the hash, as SQL has them
    is_probe: Flags

    def of(self, chosen: Flags) -> KeyRows:
        """Those of chosen owners, by a mask over the owners."""
        use = chosen[self.owners]
        return KeyRows(self.owners[use], self.keys[use], self.is_probe[use])


@dataclass(frozen=True)
class SignedBatch:
    """Documents with all that an index stores and compares."""

    batch: pa.RecordBatch
    text: pa.Array  # without markup, unless raw bytes are what is compared
    tokens: Tokens  # what shingles are made of
    hi: Ints  # the digest of what makes documents equal: the text, and the fields that are compared
    lo: Ints
    lengths: Ints  # in tokens
    bytes: Ints
    published: pa.Array  # timestamps; see `dates`
    keys: KeyRows
    sketch: Sets | None
    fields: Fields | None = None  # what the verdict compares beside texts

    def __len__(self) -> int:
        return int(self.batch.num_rows)

    @property
    def days(self) -> list[int | None]:
        """The day of each document."""
        return [None if day == dates.NO_DAY else day for day in dates.days(self.published).tolist()]

    def words(self, rows: Ints) -> WordsInMemory:
        """What a learned verdict compares of these documents."""
        from roughly.cluster.comparisons import WordsInMemory

        fields = None if self.fields is None else self.fields.take(rows)
        return WordsInMemory(tokens_of(self.tokens, rows), fields)

    def column(self, name: str) -> list[str | None]:
        """A column of the batch."""
        values: list[str | None] = self.batch.column(name).to_pylist()
        return values


def sign(batch: pa.RecordBatch, method: Method, settings: Settings) -> SignedBatch:
    """Tokens, digest, keys and sketch of each document."""
    batch = storable(batch)
    texts = TextBatch(batch.column("text"), batch.column("markup"), settings.page_text)
    digest, published = texts.digests(method.collapse), dates.timestamps(batch.column("date"), settings.date_format)
    fields = None
    if settings.compared_fields:
        from roughly.cluster.fields import Fields

        fields = Fields.of(settings.compared_fields, batch, dates.days(published))
        digest = fields.mixed(digest)
    signature = texts.sign(method)
    return SignedBatch(
        batch,
        texts.given if method.collapse == "identical" else texts.texts,
        texts.units(settings.shingle_unit),
        signed64(digest[:, 0]),
        signed64(digest[:, 1]),
        texts.lengths,
        texts.sizes,
        published,
        key_rows(signature.keys, texts.lengths > 0),
        signature.sketch,
        fields,
    )


def storable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch in a form that every database accepts: no NUL in ids and facts, and ids of a bounded length."""
    ids = batch.column("doc_id")
    if batch.num_rows <= _FEW and _plain(batch):  # for a few documents this is quicker than a function of Arrow
        return batch
    if pc.any(pc.match_substring(ids, "\0")).as_py():
        raise InputError("a doc_id contains the character NUL, which no database stores; give it another id")
    if (pc.max(pc.binary_length(ids)).as_py() or 0) > LONGEST_ID:
        long = ids.filter(pc.greater(pc.binary_length(ids), LONGEST_ID))[0].as_py()
        raise InputError(f"the doc_id {long[:40]!r}… has more than {LONGEST_ID:,} bytes; give it a shorter one")
    for name in ("title", "url", "date", "source"):
        column = batch.column(name)
        if pc.any(pc.match_substring(column, "\0")).as_py():
            place = batch.schema.get_field_index(name)
            batch = batch.set_column(place, batch.schema.field(name), pc.replace_substring(column, "\0", "\ufffd"))
    return batch


def _plain(batch: pa.RecordBatch) -> bool:
    columns = [batch.column(name).to_pylist() for name in ("doc_id", "title", "url", "date", "source")]
    short = all(4 * len(doc_id) <= LONGEST_ID for doc_id in columns[0])
    return short and not any("\0" in value for values in columns for value in values if value)


def key_rows(keys: Keys | None, has_tokens: Flags) -> KeyRows:
    """Keys one by one. A key belongs to its band, so the band is mixed into it.

    Documents without a token have no key, as in a batch run.
    """
    if keys is None:
        return KeyRows(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))
    if keys.offsets is None:
        count, bands = keys.values.shape
        owners = np.repeat(np.arange(count), bands)
        values = (keys.values ^ band_masks(bands)).ravel()
        use = (keys.values != 0).ravel() & has_tokens[owners]
        is_probe = np.ones(len(values), np.bool_)
    else:
        owners = np.repeat(np.arange(len(keys.offsets) - 1), np.diff(keys.offsets))
        values = keys.values[keys.offsets[0] : keys.offsets[-1]]
        is_probe = np.ones(len(values), np.bool_)
        if keys.probes is not None:
            is_probe = keys.probes[keys.offsets[0] : keys.offsets[-1]]
        use = has_tokens[owners]
    owners, signed, is_probe = owners[use], signed64(values[use]), is_probe[use]
    order = np.lexsort((~is_probe, signed, owners))
    owners, signed, is_probe = owners[order], signed[order], is_probe[order]
    new = np.ones(len(owners), np.bool_)
    new[1:] = (owners[1:] != owners[:-1]) | (signed[1:] != signed[:-1])
    return KeyRows(owners[new], signed[new], is_probe[new])


def band_masks(bands: int) -> npt.NDArray[np.uint64]:
    """A word for each band (SplitMix64 of its number), which sets its keys apart from those of the others."""
    with np.errstate(over="ignore"):
        z = np.arange(1, bands + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def signed64(values: npt.NDArray[np.uint64]) -> Ints:
    """The same 64 bits as signed numbers, which SQL has."""
    return np.ascontiguousarray(values).view(np.int64)
