"""The relational steps of a run, once for every engine: SQL in DuckDB's dialect, and the class that runs it."""
