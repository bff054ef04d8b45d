"""Labels: which documents are the same, as people write it down.

Two forms, CSV or Parquet, distinguished by their columns:

- *pairs*: two columns of ids, perhaps one that says whether the two are the same, and perhaps one of weights;
- *clusters*: a column of ids and one that names the set each document belongs to.

The column that says so may have any name: it is the one whose values are all verdicts (`SAME`, `DIFFERENT`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from roughly.amounts import counted
from roughly.errors import InputError, InputMissing, first_line, list_names
from roughly.fast_dataclass import dataclass
from roughly.sources.parquet_open import parquet_table

PAIR_COLUMNS = (("left_id", "right_id"), ("id_a", "id_b"), ("left", "right"), ("a", "b"), ("id1", "id2"))
ID_COLUMNS = ("doc_id", "id", "document", "document_id")
CLUSTER_COLUMNS = ("cluster_id", "cluster", "set", "group", "class")
SAME = ("same", "1", "true", "yes", "y", "t", "duplicate", "dup", "match", "1.0", "positive", "equal")
DIFFERENT = (
    "different", "0", "false", "no", "n", "f", "distinct", "not duplicate", "non-duplicate", "no match", "non-match",
    "nonmatch", "nonduplicate", "mismatch", "0.0", "-1", "negative",
)  # fmt: skip
SAME_COLUMNS = ("same", "label", "is_duplicate", "duplicate", "is_match", "match", "verdict", "gold", "class")
WEIGHT_COLUMN = "weight"
_MOST_LISTED = 5


@dataclass(frozen=True)
class LabelPairs:
    """Pairs by name; `same` if pairs were judged, `resemblance` if they were measured, `weight` if each pair stands
    for several."""

    left: pa.Array
    right: pa.Array
    same: npt.NDArray[np.bool_] | None = None
    resemblance: npt.NDArray[np.float64] | None = None
    weight: npt.NDArray[np.float64] | None = None
    verdicts: str | None = None  # the column that `same` was read from
    unread: str | None = None  # a column that could say so, whose values do not

    @property
    def ids(self) -> pa.Array:
        """Every id that is named, once."""
        return pc.unique(pa.concat_arrays([self.left, self.right]))


@dataclass(frozen=True)
class LabelClusters:
    """The set of each document, by name."""

    ids: pa.Array
    cluster: pa.Array
    empty: int = 0  # rows without a set, which are left out


def read_table(path: Path) -> pa.Table:
    """A CSV or Parquet file; every CSV column is text, so that 007 remains 007."""
    if not path.is_file():
        raise InputMissing(f"{path} does not exist; name a CSV or Parquet file")
    try:
        if path.suffix == ".parquet":
            return parquet_table(path)
        with path.open("rb") as file:
            head = file.readline().decode("utf-8-sig").strip()
        if head.startswith("{"):
            raise InputError(
                f"{path} is JSON, and labels are CSV or Parquet; convert it (verdicts of `roughly judge` with --csv)"
            )
        separator = "\t" if path.suffix == ".tsv" else ","
        names = [name.strip().strip('"') for name in head.split(separator)]
        return pa_csv.read_csv(
            path,
            parse_options=pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path} cannot be read as {path.suffix or 'CSV'}: {first_line(problem)}") from None


def read_labels(
    path: Path, *, columns: Sequence[str] = (), same_column: str | None = None, resemblance_column: str | None = None
) -> LabelPairs | LabelClusters:
    """Labels of a file. `columns` names the two to use if their names are not the usual ones: two ids, or id and
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
        f"{path} has the columns {list_names(table.column_names)}, which are no labels: pairs need two columns of ids "
        f"({PAIR_COLUMNS[0][0]}, {PAIR_COLUMNS[0][1]}), clusters an id and a cluster; name them with --label-columns"
    )


def _looks_like_id(name: str) -> bool:
    return "id" in name.lower() or any(name in pair for pair in PAIR_COLUMNS)


def _pairs(
    path: Path, table: pa.Table, first: str, second: str, same_column: str | None, resemblance_column: str | None
) -> LabelPairs:
    wanted = [name for name in (same_column, resemblance_column) if name is not None]
    _there(path, table, wanted)
    same_column = same_column or _verdict_column(path, table, (first, second))
    resemblance_column = resemblance_column or ("resemblance" if "resemblance" in table.column_names else None)
    same = None if same_column is None else _verdicts(path, table[same_column], same_column)
    read = (first, second, resemblance_column, WEIGHT_COLUMN)
    others = [name for name in (*SAME_COLUMNS, *table.column_names) if name in table.column_names and name not in read]
    found = LabelPairs(
        _text(path, table, first), _text(path, table, second), same,
        None if resemblance_column is None else _numbers(path, table, resemblance_column),
        _numbers(path, table, WEIGHT_COLUMN) if WEIGHT_COLUMN in table.column_names else None, same_column,
        others[0] if same_column is None and others else None,
    )  # fmt: skip
    if found.weight is not None and not (found.weight > 0).all():
        raise InputError(f"{path}, column {WEIGHT_COLUMN}: weights must be above 0; repair or leave out the column")
    _refuse_contradictions(path, found)
    return found


def _numbers(path: Path, table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    try:
        numbers: npt.NDArray[np.float64] = pc.cast(table[name], pa.float64()).to_numpy()
    except pa.ArrowInvalid as problem:
        raise InputError(f"{path}, column {name}: {problem}") from None
    return numbers


def _verdict_column(path: Path, table: pa.Table, ids: tuple[str, str]) -> str | None:
    """The column that says whether pairs are the same: one with a usual name, or the only one of verdicts."""
    others = [name for name in table.column_names if name not in ids]
    usual = [name for name in SAME_COLUMNS if name in others]
    if usual and usual[0] == SAME_COLUMNS[0]:
        return usual[0]
    for name in usual:
        known = pc.is_in(_lowered(table[name]), pa.array(SAME + DIFFERENT))
        if pc.any(known).as_py():
            return name
    kinds = {name: _kinds(table[name]) for name in others}
    both = [name for name, (same, different, strange) in kinds.items() if same and different and not strange]
    if len(both) > 1:
        raise InputError(
            f"{path} has {len(both)} columns that could say which pairs are the same, {', '.join(both)}; name one with "
            "--same-column"
        )
    return both[0] if both else None


def _kinds(column: Any) -> tuple[bool, bool, bool]:
    """Whether a column has values that say same, different, and neither."""
    values = pc.unique(_lowered(column))
    same, different = pc.is_in(values, pa.array(SAME)), pc.is_in(values, pa.array(DIFFERENT))
    neither = pc.invert(pc.or_(same, different))
    return tuple(bool(pc.any(one).as_py()) for one in (same, different, neither))  # type: ignore[return-value]


def _refuse_contradictions(path: Path, pairs: LabelPairs) -> None:
    """Refuse a pair that is listed both as the same and as different."""
    if pairs.same is None:
        return
    left, right = pairs.left.to_pylist(), pairs.right.to_pylist()
    said: dict[tuple[str, str], bool] = {}
    both = set()
    for a, b, same in zip(left, right, pairs.same.tolist(), strict=True):
        if said.setdefault((min(a, b), max(a, b)), same) != same:
            both.add((min(a, b), max(a, b)))
    if both:
        (a, b), are = min(both), "is" if len(both) == 1 else "are"
        raise InputError(
            f"{path}: {counted(len(both), 'pair')} {are} listed both as the same and as different, {a!r} and {b!r} for "
            "one; decide, and keep one row of each pair"
        )


def _clusters(path: Path, table: pa.Table, first: str, second: str) -> LabelClusters:
    has_set = pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(pc.cast(table[second], pa.string())), ""), False)
    empty, table = len(table) - pc.sum(has_set).as_py(), table.filter(has_set)
    if not len(table):
        raise InputError(f"{path}, column {second}: no row has a value, so nothing is labelled")
    ids, cluster = _text(path, table, first), _text(path, table, second)
    times = pc.value_counts(ids)
    twice = times.filter(pc.greater(times.field("counts"), 1))
    if len(twice):
        are = "is" if len(twice) == 1 else "are"
        raise InputError(
            f"{path}: {counted(len(twice), 'document')} {are} in more than one row, {twice[0]['values'].as_py()!r} for "
            "one; a document belongs to one set, so keep one row"
        )
    return LabelClusters(ids, cluster, empty)


def _verdicts(path: Path, column: Any, name: str) -> npt.NDArray[np.bool_]:
    values = _lowered(column)
    same, different = pc.is_in(values, pa.array(SAME)), pc.is_in(values, pa.array(DIFFERENT))
    strange = values.filter(pc.invert(pc.or_(same, different)))
    if len(strange):
        raise InputError(
            f"{path}, column {name}: {_rows_with(strange)} neither of {', '.join(SAME)} nor of {', '.join(DIFFERENT)}; "
            "leave such rows out, or name another column with --same-column"
        )
    found: npt.NDArray[np.bool_] = same.to_numpy(zero_copy_only=False)
    return found


def _rows_with(strange: pa.Array) -> str:
    """How many rows have what for a verdict, and the verb for it."""
    value = strange[0].as_py()
    first = "empty" if not value else repr(value)
    if len(strange) == 1:
        return f"1 row is {first},"
    return f"{len(strange):,} rows, one of them {first}, are"


def _lowered(column: Any) -> pa.Array:
    values = pc.utf8_lower(pc.utf8_trim_whitespace(pc.cast(column, pa.string()))).combine_chunks()
    return pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values


def _text(path: Path, table: pa.Table, name: str) -> pa.Array:
    column = pc.cast(table[name], pa.string())
    empty = column.null_count + (pc.sum(pc.equal(pc.utf8_trim_whitespace(column), "")).as_py() or 0)
    if empty:
        is_are = "row is" if empty == 1 else "rows are"
        raise InputError(f"{path}, column {name}: {empty:,} {is_are} empty; fill them or leave them out")
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _there(path: Path, table: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise InputError(f"{path} has no column {missing[0]!r}; its columns are {list_names(table.column_names)}")


def unknown_ids(request: pa.Array, known: pa.Array) -> pa.Array:
    """Ids that are not known, sorted."""
    strange = request.filter(pc.invert(pc.is_in(request, known)))
    return strange.take(pc.sort_indices(strange))


def refuse_unknown(path: Path, strange: pa.Array, where: str) -> None:
    """The error for documents that the labels name and that do not exist."""
    if len(strange):
        listed = ", ".join(repr(name) for name in strange[:_MOST_LISTED].to_pylist())
        more = f" and {len(strange) - _MOST_LISTED:,} more" if len(strange) > _MOST_LISTED else ""
        raise InputError(
            f"{path} names {counted(len(strange), 'document')} that {where} does not have: {listed}{more}; check the "
            "ids, or leave them out with --ignore-unknown"
        )
