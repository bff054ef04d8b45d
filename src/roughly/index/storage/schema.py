"""The tables of an index, the same on SQLite and PostgreSQL.

| table | a row | why |
|---|---|---|
| `meta` | a fact about the index: format, settings, fingerprint, counters | what opening checks |
| `contents` | a distinct text | equal documents are judged once: 100,000 copies are one candidate |
| `documents` | a document: its id, its text, what is known of it | what people ask for |
| `keys` | a key of a content | sharing one makes two contents candidates |
| `recent` | a key that is not in `keys` yet; see `keys` | a few pages change, and not all |
| `crowds` | some hundred contents that share a key, packed; see `crowds` | read at once, and not a row each |
| `bodies` | what a content is judged on: its text, shingle set or sample | apart, so that the rest stays small |
| `signs` | the method's sketch, and the keys where no text is stored to make them of again | refreshed with the keys |
| `files` | a lexicon that the index is bound to, in pieces | an index is whole in itself |

`member` is twice the content's number, plus one where the key asks (see `methods.Keys`). Hashes are unsigned, columns
are signed: the 64 bits are the same.
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
"""1: contents without `marks`. 2: with them. 3: with `recent`."""

LIVE, REVOKED = 0, 1

METADATA = MetaData()

META = Table("meta", METADATA, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

CONTENTS = Table(
    "contents",
    METADATA,
    Column("content", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("hi", BigInteger, nullable=False),
    Column("lo", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),  # distinct values of the set it is judged on
    Column("cluster", BigInteger, nullable=False),  # the content that started it, which may be gone
    Column("state", SmallInteger, nullable=False),
    Column("marks", LargeBinary),  # a bitmap of that set; see `kernels.bitmaps`
    UniqueConstraint("hi", "lo", name="contents_digest"),
    Index("contents_cluster", "cluster"),
)

DOCUMENTS = Table(
    "documents",
    METADATA,
    Column("document", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("doc_id", Text, nullable=False),
    Column("content", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),  # of the text as it came
    Column("day", BigInteger),  # of `date`, counted from 1 January of year 1
    Column("added", BigInteger, nullable=False),  # seconds since 1970
    Column("title", Text),
    Column("url", Text),
    Column("date", Text),
    Column("source", Text),
    UniqueConstraint("doc_id", name="documents_doc_id"),
    # SQLite's index has the row's number in it; PostgreSQL needs to be told, or it walks all documents in their order
    Index("documents_content", "content").ddl_if(dialect="sqlite"),
    Index("documents_content_document", "content", "document").ddl_if(dialect="postgresql"),
    Index("documents_day", "day"),
    Index("documents_added", "added"),
    Index("documents_url", "url", postgresql_using="hash"),  # a url may be longer than a tree takes
)

BODIES = Table(
    "bodies",
    METADATA,
    Column("content", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("body", LargeBinary, nullable=False),
)

CROWDS = Table(
    "crowds",
    METADATA,
    Column("key", BigInteger, nullable=False),
    Column("last", BigInteger, nullable=False),  # the highest member that it was made with
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
    """Rows (key, member), in the order of the keys."""
    return Table(
        name,
        metadata,
        Column("key", BigInteger, nullable=False),
        Column("member", BigInteger, nullable=False),
        PrimaryKeyConstraint("key", "member"),
        sqlite_with_rowid=False,
    )


def signs_table(name: str, metadata: MetaData) -> Table:
    """What the method keeps of a content beside its keys."""
    return Table(
        name,
        metadata,
        Column("content", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
        Column("sketch", LargeBinary),
        Column("packed", LargeBinary),
    )


KEYS = keys_table("keys", METADATA)
RECENT = keys_table("recent", METADATA)
SIGNS = signs_table("signs", METADATA)

NEXT = MetaData()
"""What `refresh` builds beside the tables in use."""
NEXT_KEYS = keys_table("keys_next", NEXT)
NEXT_SIGNS = signs_table("signs_next", NEXT)
