"""The SQL of a run: written once, understood by both engines, with select lists from the table of columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from roughly import model
from roughly.engines.relational import statements, summary
from roughly.engines.spark.dialect import to_spark
from roughly.model import Column, Table


def every_statement() -> list[str]:
    """All SQL that both engines run."""
    texts = [
        *statements.written(all_pairs=False).values(),
        *statements.written(all_pairs=True).values(),
        statements.ranked(more=("chunk",)),
        statements.COUNT_REPEATED_IDS.format(table="read_facts"),
        *(getattr(statements, name) for name in ("FIRST_REPEATED_ID", "RENAMED", "ALL_FACTS", "RENAMED_FACTS")),
        *(getattr(statements, name) for name in ("COUNT_DATED", "VERDICTS", "COUNT_ALL_PAIRS", "KEPT_ROWS")),
    ]
    names = ("COUNTS", "IDENTICAL", "SIZES", "RESEMBLANCE", "SOURCES", "KINDS", "LARGEST")
    return [*texts, *(getattr(summary, name) for name in names)]


@pytest.mark.parametrize("sql", every_statement(), ids=range(len(every_statement())))
def test_every_statement_translates_with_the_names_of_the_run(sql: str) -> None:
    pytest.importorskip("sqlglot", reason="the engine spark is not installed: pip install 'roughly[spark]'")
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(to_spark(sql, statements.TABLES, "run_7_"), read="spark")
    named = {cte.alias for cte in tree.find_all(exp.CTE)}
    read = {table.name for table in tree.find_all(exp.Table)} - named
    assert read and read <= {f"run_7_{name}" for name in statements.TABLES}
    assert "INT128" not in tree.sql(dialect="spark")


def test_texts_in_sql_may_hold_anything() -> None:
    pytest.importorskip("sqlglot", reason="the engine spark is not installed: pip install 'roughly[spark]'")
    import sqlglot

    for text in ("it's", "a\\b", "é\n", ""):
        quoted = "'" + text.replace("'", "''") + "'"
        spark = to_spark(f"SELECT {quoted} AS t", (), "")
        assert sqlglot.parse_one(spark, read="spark").selects[0].this.name == text


def test_a_new_column_of_documents_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is selected, typed and written; an expression may use any fact that goes along with a verdict."""
    more = (
        Column("tokens", pa.int64(), "words in its canonical form", nullable=False),
        Column("shouts", pa.bool_(), sql="d.source = 'A'"),
    )
    changed = Table((*model.WRITTEN["documents"].columns, *more))
    monkeypatch.setitem(model.WRITTEN, "documents", changed)
    rows = [
        {"id": "a", "text": "a rose is a rose is a rose", "source": "A"},
        {"id": "b", "text": "A rose is a rose, is a rose.", "source": "B"},
        {"id": "c", "text": "something else", "source": "C"},
    ]
    found = roughly.dedupe(rows, output=tmp_path / "out").documents
    assert found.schema.equals(changed.schema)
    assert found["tokens"].to_pylist() == [8, 8, 2]
    assert found["shouts"].to_pylist() == [True, False, False]
    assert pq.read_schema(tmp_path / "out" / "pairs.parquet").equals(model.WRITTEN["pairs"].schema)
