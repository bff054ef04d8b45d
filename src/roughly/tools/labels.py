"""Labels: what is true of some documents, as people write it down.

Two forms, CSV or Parquet, told apart by their columns:

- *pairs*: two columns of ids, and perhaps one that says whether the two are the same;
- *clusters*: a column of ids and one that names the set each document belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from roughly.errors import InputError, InputMissing

PAIR_COLUMNS = (("left_id", "right_id"), ("id_a", "id_b"), ("left", "right"), ("a", "b"), ("id1", "id2"))
ID_COLUMNS = ("doc_id", "id", "document", "document_id")
CLUSTER_COLUMNS = ("cluster_id", "cluster", "set", "group", "class")
SAME = ("same", "1", "true", "yes", "duplicate")
DIFFERENT = ("different", "0", "false", "no")
SAME_COLUMN = "same"
_TOLD = 5


@dataclass(frozen=True)
class LabelPairs:
    """Pairs by name; `same` where each was judged, `resemblance` where each was measured."""

    left: pa.Array
    right: pa.Array
    same: npt.NDArray[np.bool_] | None = None
    resemblance: npt.NDArray[np.float64] | None = None

    @property
    def ids(self) -> pa.Array:
        """Every id that is named, once."""
        return pc.unique(pa.concat_arrays([self.left, self.right]))


@dataclass(frozen=True)
class LabelClusters:
    """The set of each document, by name."""

    ids: pa.Array
    cluster: pa.Array


def read_table(path: Path) -> pa.Table:
    """A CSV or Parquet file; every CSV column is text, so that 007 stays 007."""
    if not path.is_file():
        raise InputMissing(f"{path} is not there; name a CSV or Parquet file")
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        with path.open("rb") as file:
            head = file.readline().decode("utf-8-sig").strip()
        separator = "\t" if path.suffix == ".tsv" else ","
        names = [name.strip().strip('"') for name in head.split(separator)]
        return pa_csv.read_csv(
            path,
            parse_options=pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError) as problem:
        raise InputError(f"{path} cannot be read as {path.suffix or 'CSV'}: {problem}") from None


def read_labels(
    path: Path, *, columns: Sequence[str] = (), same_column: str | None = None, resemblance_column: str | None = None
) -> LabelPairs | LabelClusters:
    """Labels of a file. `columns` names the two that matter where their names are others: two ids, or id and
    cluster."""
    table = read_table(path)
    if columns:
        if len(columns) != 2:
            raise InputError(f"name two columns, as in id_a,id_b or id,cluster, not {', '.join(columns)}")
        _there(path, table, columns)
        first, second = columns
        if second in CLUSTER_COLUMNS or not _looks_like_id(second):
            return _clusters(path, table, first, second)
        return _pairs(path, table, first, second, same_column, resemblance_column)
    for first, second in PAIR_COLUMNS:
        if first in table.column_names and second in table.column_names:
            return _pairs(path, table, first, second, same_column, resemblance_column)
    ids = [name for name in ID_COLUMNS if name in table.column_names]
    sets = [name for name in CLUSTER_COLUMNS if name in table.column_names]
    if ids and sets:
        return _clusters(path, table, ids[0], sets[0])
    raise InputError(
        f"{path} has the columns {', '.join(table.column_names)}, which are no labels: pairs need two columns of ids "
        f"({PAIR_COLUMNS[0][0]}, {PAIR_COLUMNS[0][1]}), clusters an id and a cluster; name them with --label-columns"
    )


def _looks_like_id(name: str) -> bool:
    return "id" in name.lower() or any(name in pair for pair in PAIR_COLUMNS)


def _pairs(
    path: Path, table: pa.Table, first: str, second: str, same_column: str | None, resemblance_column: str | None
) -> LabelPairs:
    wanted = [name for name in (same_column, resemblance_column) if name is not None]
    _there(path, table, wanted)
    same_column = same_column or (SAME_COLUMN if SAME_COLUMN in table.column_names else None)
    resemblance_column = resemblance_column or ("resemblance" if "resemblance" in table.column_names else None)
    same = None if same_column is None else _verdicts(path, table[same_column], same_column)
    resemblance = None
    if resemblance_column is not None:
        try:
            resemblance = pc.cast(table[resemblance_column], pa.float64()).to_numpy()
        except pa.ArrowInvalid as problem:
            raise InputError(f"{path}, column {resemblance_column}: {problem}") from None
    return LabelPairs(_text(path, table, first), _text(path, table, second), same, resemblance)


def _clusters(path: Path, table: pa.Table, first: str, second: str) -> LabelClusters:
    ids, cluster = _text(path, table, first), _text(path, table, second)
    counted = pc.value_counts(ids)
    twice = counted.filter(pc.greater(counted.field("counts"), 1))
    if len(twice):
        raise InputError(
            f"{path}: {len(twice):,} documents stand in more than one row, {twice[0]['values'].as_py()!r} for one; a "
            "document belongs to one set"
        )
    return LabelClusters(ids, cluster)


def _verdicts(path: Path, column: Any, name: str) -> npt.NDArray[np.bool_]:
    values = pc.utf8_lower(pc.utf8_trim_whitespace(pc.cast(column, pa.string()))).combine_chunks()
    same, different = pc.is_in(values, pa.array(SAME)), pc.is_in(values, pa.array(DIFFERENT))
    strange = values.filter(pc.invert(pc.or_(same, different)))
    if len(strange):
        raise InputError(
            f"{path}, column {name}: {strange[0].as_py()!r} is neither of {', '.join(SAME)} nor of "
            f"{', '.join(DIFFERENT)}; name another column with --same-column"
        )
    found: npt.NDArray[np.bool_] = same.to_numpy(zero_copy_only=False)
    return found


def _text(path: Path, table: pa.Table, name: str) -> pa.Array:
    column = pc.cast(table[name], pa.string())
    if column.null_count:
        raise InputError(f"{path}, column {name}: {column.null_count:,} rows are empty; fill them or leave them out")
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _there(path: Path, table: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise InputError(f"{path} has no column {missing[0]!r}; its columns are {', '.join(table.column_names)}")


def unknown_ids(request: pa.Array, known: pa.Array) -> pa.Array:
    """Ids that are not known, sorted."""
    strange = request.filter(pc.invert(pc.is_in(request, known)))
    return strange.take(pc.sort_indices(strange))


def refuse_unknown(path: Path, strange: pa.Array, where: str) -> None:
    """Say which documents the labels name that are not there."""
    if len(strange):
        listed = ", ".join(repr(name) for name in strange[:_TOLD].to_pylist())
        more = f" and {len(strange) - _TOLD:,} more" if len(strange) > _TOLD else ""
        raise InputError(
            f"{path} names {len(strange):,} documents that {where} does not have: {listed}{more}; check the ids, or "
            "leave them out with --ignore-unknown"
        )
