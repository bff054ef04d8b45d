"""The SQL of a run (`engines.relational.statements`), translated from DuckDB's dialect to Spark's by sqlglot."""

from __future__ import annotations

from collections.abc import Collection


def to_spark(sql: str, tables: Collection[str], prefix: str) -> str:
    """The statement in Spark's dialect; the run's tables have a prefix, because runs may share a session."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="duckdb")
    for table in list(tree.find_all(exp.Table)):
        if table.name in tables:
            renamed = exp.to_table(prefix + table.name)
            table.replace(exp.alias_(renamed, table.alias_or_name, table=True))
    for kind in tree.find_all(exp.DataType):
        if kind.this == exp.DataType.Type.INT128:  # Spark has no unsigned type: twenty digits, whose sum has thirty
            kind.replace(exp.DataType.build("DECIMAL(20, 0)"))
    return tree.sql(dialect="spark")
