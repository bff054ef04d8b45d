"""What texts are compared on: made from documents that were just signed, or loaded from the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlalchemy import Connection

from roughly.amounts import counted
from roughly.cluster.scoring import slice_of, tokens_of
from roughly.dates import NO_DAY
from roughly.features.shingle_sets import Sets, shingle_sets
from roughly.index.index_config import IndexConfig
from roughly.index.matching.packed_keys import unpack_keys
from roughly.index.matching.signed_batch import KeyRows, SignedBatch, key_rows
from roughly.index.storage.bodies import REMEDY, unpack_sets, unpack_texts
from roughly.index.storage.contents import NothingStored, read_bodies, read_stored
from roughly.index.storage.document_rows import earliest_documents
from roughly.index.storage.schema import SIGNS
from roughly.index.storage.store import IndexStore
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import Tokens

if TYPE_CHECKING:
    from roughly.cluster.comparisons import WordsInMemory
    from roughly.cluster.fields import Fields

Ints = npt.NDArray[np.int64]


class ContentSets:
    """Loads the sets of contents in one transaction of an index."""

    def __init__(self, store: IndexStore, connection: Connection, config: IndexConfig) -> None:
        self.store, self.connection, self.config = store, connection, config

    def load(self, contents: Ints) -> Sets:
        """The sets that the method compares these contents on, in this order."""
        if self.config.judge.on == "sketch":
            stored, packed = read_stored(self.store, self.connection, SIGNS.c.sketch, contents), self.config.packed
            sketch = unpack_sets(stored, self.config.most) if packed is None else packed.unpack(stored).sketch
            assert sketch is not None  # a method that judges on sketches makes some
            return sketch
        return self.load_bodies(contents)

    def load_bodies(self, contents: Ints) -> Sets:
        """The shingle sets of these contents, or samples of them, in this order."""
        if self.config.store == "text":
            return shingle_sets(self.load_tokens(contents), self.config.settings.shingle_size)
        return unpack_sets(read_bodies(self.store, self.connection, contents), self.config.most)

    def load_tokens(self, contents: Ints) -> Tokens:
        """What the shingles of these contents are made of, where texts are stored."""
        from roughly.text.canonical import units_of

        bodies = read_bodies(self.store, self.connection, contents)
        return units_of(unpack_texts(bodies), self.config.settings.shingle_unit)

    def load_words(self, contents: Ints) -> WordsInMemory:
        """What a learned verdict compares of these contents, in this order."""
        from roughly.cluster.comparisons import WordsInMemory

        return WordsInMemory(self.load_tokens(contents), self.load_fields(contents))

    def load_fields(self, contents: Ints) -> Fields | None:
        """What the verdict compares of these contents beside their texts: all documents of one have the same."""
        columns = self.config.settings.compared_fields
        if not columns:
            return None
        from roughly.cluster.fields import Fields

        found = earliest_documents(self.store, self.connection, contents)
        if missing := set(contents.tolist()) - found.keys():
            raise NothingStored(f"{counted(len(missing), 'content')} without a document; {REMEDY}")
        rows = [found[content] for content in contents.tolist()]
        table = pa.table({
            name: pa.array([getattr(row, name) for row in rows], pa.string()) for name in ("title", "url", "source")
        })  # fmt: skip
        days = [NO_DAY if row.day is None else row.day for row in rows]
        return Fields.of(columns, table, np.array(days, np.int32))


def content_keys(store: IndexStore, connection: Connection, config: IndexConfig, contents: Ints) -> KeyRows:
    """The keys of contents: made again from the texts, or as they were stored; owners are numbered 0, 1, …"""
    if config.method.equality or not len(contents):
        return unpack_keys([])
    if config.store == "text":
        texts = TextBatch(unpack_texts(read_bodies(store, connection, contents)))
        return key_rows(texts.sign(config.method).keys, texts.lengths > 0)
    if config.packed is not None:
        vectors = read_stored(store, connection, SIGNS.c.sketch, contents)
        return key_rows(config.packed.unpack(vectors).keys, np.ones(len(contents), np.bool_))
    return unpack_keys(read_stored(store, connection, SIGNS.c.packed, contents))


def judged_sets(config: IndexConfig, signed: SignedBatch, rows: Ints) -> Sets:
    """The sets that the method compares these documents on."""
    if config.judge.on == "sketch":
        assert signed.sketch is not None  # a method that judges on sketches makes some
        return slice_of(signed.sketch, rows)
    return body_sets(config, tokens_of(signed.tokens, rows))


def body_sets(config: IndexConfig, tokens: Tokens) -> Sets:
    """Shingle sets, or samples of them where only samples are stored."""
    if config.store == "sketch":
        return config.sampling.apply(tokens, config.settings.shingle_size)
    return shingle_sets(tokens, config.settings.shingle_size)
