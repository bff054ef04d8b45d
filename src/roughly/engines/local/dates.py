"""What a date says, whoever asks: a moment in UTC, and its day.

ISO 8601, the forms below, seconds or milliseconds since 1970; in UTC where a date names no zone. DuckDB reads them,
here and on the workers of a cluster, so that every engine understands the same dates.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa

from roughly.cluster.candidates import NO_DAY

_FORMATS = [
    "%d-%b-%Y %H:%M:%S.%g", "%d-%b-%Y %H:%M:%S", "%a, %d %b %Y %H:%M:%S %z", "%d %b %Y %H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S", "%Y%m%d", "%d.%m.%Y", "%d %b %Y", "%d %B %Y", "%B %d, %Y", "%Y",
]  # fmt: skip
_CLEAN = "regexp_replace(regexp_replace(trim(date), '\\s*\\([^)]*\\)$', ''), '\\s+(GMT|UTC|UT|Z)$', ' +0000')"
PUBLISHED = f"""
    CASE WHEN regexp_full_match(date, '[0-9]{{10}}') THEN to_timestamp(date::BIGINT)
         WHEN regexp_full_match(date, '[0-9]{{13}}') THEN to_timestamp(date::BIGINT / 1000)
         WHEN date ILIKE '%infinity%' THEN NULL
         ELSE coalesce(try_cast({_CLEAN} AS TIMESTAMPTZ), try_strptime({_CLEAN}, {_FORMATS!r})::TIMESTAMPTZ)
    END
"""
"""SQL: the moment that the column `date` tells, or null."""
DAY = f"coalesce(epoch(when_published)::BIGINT // 86400, {NO_DAY})::INTEGER"
"""SQL: the day of `when_published`, since 1970."""


def moments(dates: pa.Array) -> tuple[pa.Array, pa.Array]:
    """(microseconds since 1970 or null, the day or `NO_DAY`) of each date as found."""
    if dates.null_count == len(dates):
        return pa.nulls(len(dates), pa.int64()), pa.array([NO_DAY] * len(dates), pa.int32())
    given = pa.table({"place": pa.array(range(len(dates)), pa.int64()), "date": dates})
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'; SET threads = 1")
        database.register("given", given)
        found = database.sql(
            f"SELECT epoch_us(when_published) AS moment, {DAY} AS day "
            f"FROM (SELECT place, {PUBLISHED} AS when_published FROM given) ORDER BY place"
        ).to_arrow_table()
    return found["moment"].combine_chunks(), found["day"].combine_chunks()
