"""The tables of an index, the same on SQLite and PostgreSQL.

| table | one row per | why |
|---|---|---|
| `meta` | fact about the index: format, settings, fingerprint, counters | checked on opening |
| `contents` | distinct text and compared fields | equal documents are compared once: 100,000 copies are one candidate |
| `documents` | document: its id, its content, its facts | what queries return |
| `keys` | key of a content | two contents that share one are candidates |
| `recent` | key that is not in `keys` yet (see `stored_keys`) | few pages of the file change, not all |
| `crowds` | block of contents that share a hot key (see `hot_keys`) | read at once, not row by row |
| `bodies` | content: its text, shingle set or sample | kept apart, so that the other tables remain small |
| `signs` | content: the method's sketch, and its keys where no text is stored | exchanged together with the keys |
| `files` | piece of the lexicon of the index | an index needs no other file |

`member` is twice the content's number, plus one where the content probes for the key (see `methods.Keys`). Hashes are
unsigned and columns are signed: the 64 bits are the same.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

FORMAT = 3
"""1: `contents` has no column `marks`. 2: it has one. 3: there is a table `recent`."""

LIVE, REVOKED = 0, 1

METADATA = MetaData()


def _number(name: str) -> Column[int]:
    """A primary key that we number ourselves."""
    return Column(name, BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False)


META = Table("meta", METADATA, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

CONTENTS = Table(
    "contents",
    METADATA,
    _number("content"),
    Column("hi", BigInteger, nullable=False),
    Column("lo", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),  # distinct values of the set it is compared on
    Column("cluster", BigInteger, nullable=False),  # the content that started it, which may be deleted
    Column("state", SmallInteger, nullable=False),
    Column("marks", LargeBinary),  # a bitmap of that set; see `kernels.bitmaps`
    UniqueConstraint("hi", "lo", name="contents_digest"),
    Index("contents_cluster", "cluster"),
)

DOCUMENTS = Table(
    "documents",
    METADATA,
    _number("document"),
    Column("doc_id", Text, nullable=False),
    Column("content", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),  # of the text as it was added
    Column("day", BigInteger),  # of `date`, counted from 1 January of year 1
    Column("added", BigInteger, nullable=False),  # seconds since 1970
    Column("title", Text),
    Column("url", Text),
    Column("date", Text),
    Column("source", Text),
    UniqueConstraint("doc_id", name="documents_doc_id"),
    # SQLite's index holds the row number; on PostgreSQL it has to be named, or all documents are scanned in order
    Index("documents_content", "content").ddl_if(dialect="sqlite"),
    Index("documents_content_document", "content", "document").ddl_if(dialect="postgresql"),
    Index("documents_day", "day"),
    Index("documents_added", "added"),
    Index("documents_url", "url", postgresql_using="hash"),  # a url may be too long for a B-tree
)

BODIES = Table(
    "bodies",
    METADATA,
    _number("content"),
    Column("body", LargeBinary, nullable=False),
)

HOT_KEYS = Table(
    "crowds",
    METADATA,
    Column("key", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),  # the highest member that the block was made with
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("key", "last", name="crowds_key"),
)

FILES = Table(
    "files",
    METADATA,
    Column("name", Text, nullable=False),
    Column("piece", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("name", "piece", name="files_piece"),
)


def keys_table(name: str, metadata: MetaData) -> Table:
    """A table of rows (key, member), in the order of the keys."""
    return Table(
        name,
        metadata,
        Column("key", BigInteger, nullable=False),
        Column("member", BigInteger, nullable=False),
        PrimaryKeyConstraint("key", "member"),
        sqlite_with_rowid=False,
    )


def signs_table(name: str, metadata: MetaData) -> Table:
    """A table of what the method stores of a content in addition to its keys."""
    return Table(
        name,
        metadata,
        _number("content"),
        Column("sketch", LargeBinary),
        Column("packed", LargeBinary),
    )


KEYS = keys_table("keys", METADATA)
RECENT = keys_table("recent", METADATA)
SIGNS = signs_table("signs", METADATA)

NEXT = MetaData()
"""The tables that `refresh` builds beside those in use."""
NEXT_KEYS = keys_table("keys_next", NEXT)
NEXT_SIGNS = signs_table("signs_next", NEXT)
