"""What SQLite (FTS5) and PostgreSQL (tsvector) do differently about full-text search.

Words are made by `search_words`, not by the database.

| table | a row has | its number |
|---|---|---|
| `words` | the words of a text | the content |
| `titles` | the words of a title | the document |

On SQLite the tables hold no text, only the positions of words (`content=''`): the text is in `bodies`, and is read
again when its words are deleted. On PostgreSQL a row is a tsvector with a GIN index over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, text

from roughly.errors import SettingsError
from roughly.index.search.search_words import Query, Term
from roughly.index.storage.schema import LIVE
from roughly.index.storage.store import IndexStore

TABLES = {"words": "content", "titles": "document"}
_TITLE_WEIGHT = 2.0  # a word in a title counts as much as this many in the text
_LAST_POSITION, _MOST_POSITIONS = 16_383, 255  # limits of a tsvector

_SQLITE = f"""
WITH hits(document, score) AS (
  SELECT d.document, w.score
  FROM (SELECT rowid AS content, {{words}} AS score FROM words WHERE words MATCH :query) w
  JOIN documents d ON d.content = w.content
  UNION ALL
  SELECT d.document, t.score
  FROM (SELECT rowid AS document, {{titles}} AS score FROM titles WHERE titles MATCH :query) t
  JOIN documents d ON d.document = t.document JOIN contents c ON c.content = d.content AND c.state = {LIVE}
)
"""
_POSTGRES = f"""
WITH hits(document, score) AS (
  SELECT d.document, {{words}} FROM words w JOIN documents d ON d.content = w.content
  WHERE w.found @@ CAST(:query AS tsquery)
  UNION ALL
  SELECT d.document, {{titles}} FROM titles t JOIN documents d ON d.document = t.document
  JOIN contents c ON c.content = d.content AND c.state = {LIVE}
  WHERE t.found @@ CAST(:query AS tsquery)
)
"""
_COUNT = "SELECT count(DISTINCT document) FROM hits"
_BEST = """
SELECT document, sum(score) AS score FROM hits
GROUP BY document ORDER BY score DESC, document LIMIT :most OFFSET :first
"""


def create(store: IndexStore, connection: Connection) -> None:
    """Make the tables, empty."""
    drop_tables(connection)
    for table, number in TABLES.items():
        if store.postgres:
            connection.exec_driver_sql(f"CREATE TABLE {table} ({number} BIGINT PRIMARY KEY, found TSVECTOR NOT NULL)")
            connection.exec_driver_sql(f"CREATE INDEX {table}_found ON {table} USING gin (found)")
            continue
        if not connection.exec_driver_sql("SELECT sqlite_compileoption_used('ENABLE_FTS5')").scalar():
            raise SettingsError("this Python's SQLite has no full-text search (FTS5); use another build of it")
        # words hold ASCII letters, digits and non-ASCII characters, so this tokenizer cuts at the spaces between them
        connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {table} USING fts5(text, content='', tokenize='ascii')")


def drop_tables(connection: Connection) -> None:
    """Delete the tables, if they exist."""
    for table in TABLES:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")


def put(
    store: IndexStore, connection: Connection, table: str, numbers: Sequence[int], found: Iterable[list[str]]
) -> None:  # fmt: skip
    """Store the words of texts under their numbers."""
    if store.postgres:
        rows = ((number, _vector(some)) for number, some in zip(numbers, found, strict=True))
        store.insert(connection, table, (TABLES[table], "found"), rows)
        return
    rows = ((number, " ".join(some)) for number, some in zip(numbers, found, strict=True))
    store.insert(connection, table, ("rowid", "text"), rows)


def drop(
    store: IndexStore, connection: Connection, table: str, numbers: Sequence[int], found: Iterable[list[str]]
) -> None:  # fmt: skip
    """Delete the words of texts, which must be the same words that were put."""
    if store.postgres:
        statement = text(f"DELETE FROM {table} WHERE {TABLES[table]} = ANY(CAST(:numbers AS BIGINT[]))")
        connection.execute(statement, {"numbers": list(numbers)})
        return
    rows = (("delete", number, " ".join(some)) for number, some in zip(numbers, found, strict=True))
    store.insert(connection, table, (table, "rowid", "text"), rows)


def count(store: IndexStore, connection: Connection, query: Query) -> int:
    """The number of documents that a query finds."""
    every = (_POSTGRES if store.postgres else _SQLITE).format(words="0", titles="0")
    return int(connection.execute(text(every + _COUNT), {"query": _to_sql(store, query)}).scalar_one())


def best(store: IndexStore, connection: Connection, query: Query, limit: int, offset: int) -> list[tuple[int, float]]:
    """(document, score), the best first."""
    if store.postgres:
        rank = "ts_rank({}.found, CAST(:query AS tsquery), 1)"  # 1: divided by the logarithm of the length
        ranked = _POSTGRES.format(words=rank.format("w"), titles=f"{_TITLE_WEIGHT} * " + rank.format("t"))
    else:
        ranked = _SQLITE.format(words="-bm25(words)", titles=f"-{_TITLE_WEIGHT} * bm25(titles)")
    given = {"query": _to_sql(store, query), "most": limit, "first": offset}
    return [(row[0], float(row[1])) for row in connection.execute(text(ranked + _BEST), given)]


def numbers_in(store: IndexStore, connection: Connection, table: str) -> set[int]:
    """The numbers of all rows."""
    select = f"SELECT {TABLES[table]} FROM {table}" if store.postgres else f"SELECT id FROM {table}_docsize"
    return set(connection.exec_driver_sql(select).scalars())


def frequencies(store: IndexStore, connection: Connection, table: str) -> Iterator[tuple[str, int]]:
    """Every word, and the number of rows that have it."""
    if store.postgres:
        yield from connection.exec_driver_sql(f"SELECT word, ndoc FROM ts_stat('SELECT found FROM {table}')")
        return
    connection.exec_driver_sql(f"CREATE VIRTUAL TABLE temp.terms_of_{table} USING fts5vocab('main', '{table}', 'row')")
    try:
        yield from connection.exec_driver_sql(f"SELECT term, doc FROM temp.terms_of_{table}").all()
    finally:
        connection.exec_driver_sql(f"DROP TABLE temp.terms_of_{table}")


def _vector(found: list[str]) -> str:
    """The words of a text as PostgreSQL reads them: 'word':1,7 'other':2"""
    places: dict[str, list[str]] = {}
    for place, word in enumerate(found, 1):
        at = places.setdefault(word, [])
        if len(at) < _MOST_POSITIONS:
            at.append(str(min(place, _LAST_POSITION)))
    return " ".join(f"{_quoted(word)}:{','.join(at)}" for word, at in places.items())


def _quoted(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}'"


def _to_sql(store: IndexStore, query: Query) -> str:
    """The query as the database reads it; words are quoted, and hold no quotes."""
    if store.postgres:
        wanted, unwanted = ([_pg_term(term) for term in terms] for terms in (query.wanted, query.unwanted))
        return " & ".join([*wanted, *(f"!{term}" for term in unwanted)])
    wanted, unwanted = ([_fts_term(term) for term in terms] for terms in (query.wanted, query.unwanted))
    every = " AND ".join(wanted)
    return f"({every}) NOT ({' OR '.join(unwanted)})" if unwanted else every


def _fts_term(term: Term) -> str:
    return '"' + " ".join(term.words) + '"' + (" *" if term.prefix else "")


def _pg_term(term: Term) -> str:
    quoted: list[Any] = [_quoted(word) for word in term.words]
    if term.prefix:
        quoted[-1] += ":*"
    return "(" + " <-> ".join(quoted) + ")"
