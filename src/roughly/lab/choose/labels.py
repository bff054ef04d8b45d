"""What the user says is the same, read from CSV or Parquet.

| columns | means |
|---|---|
| `id`, `cluster` | documents of one cluster are the same, of two are not |
| `left_id`, `right_id` | these two are the same; so are those that are the same as them |
| `left_id`, `right_id`, `same` | `same` says whether they are; about other pairs nothing is said |

`doc_id` and `cluster_id`, `left` and `right`, and `verdict` with `same` or `different` are taken as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from roughly.errors import InputError, InputMissing
from roughly.lab.metrics.overlap import components_of

_NAMES = {
    "id": ("id", "doc_id"), "cluster": ("cluster", "cluster_id"), "left": ("left_id", "left"),
    "right": ("right_id", "right"), "same": ("same", "verdict"),
}  # fmt: skip
_YES, _NO = ("1", "true", "yes", "same"), ("0", "false", "no", "different")


@dataclass(frozen=True)
class Labels:
    """`sets` names the set of each document listed. With `pairs`, only these pairs are known: (left, right, same);
    sets then are whatever a chain of pairs joins, so that no document stands in two of them."""

    path: str
    sets: dict[str, str]
    pairs: list[tuple[str, str, bool]] | None = None

    def __len__(self) -> int:
        return len(self.sets)


def read_labels(path: Path) -> Labels:
    """The labels in a file."""
    table = _read(path)
    columns = {ours: next((n for n in names if n in table.column_names), None) for ours, names in _NAMES.items()}

    def texts(name: str) -> list[str]:
        values: list[str] = table[columns[name]].cast(pa.string()).to_pylist()
        empty = [row for row, value in enumerate(values, 2) if value is None or value == ""]
        if empty:
            raise InputError(f"{path}: {columns[name]} is empty in line {empty[0]}; every label needs one")
        return values

    if columns["left"] and columns["right"]:
        left, right = texts("left"), texts("right")
        if not columns["same"]:
            return Labels(str(path), _joined(left, right))
        same = [_same(value, path, row) for row, value in enumerate(texts("same"), 2)]
        pairs = list(zip(left, right, same, strict=True))
        return Labels(str(path), _joined(left, right), pairs)
    if columns["id"] and columns["cluster"]:
        ids = texts("id")
        if len(set(ids)) < len(ids):
            twice = Counter(ids).most_common(1)[0][0]
            raise InputError(f"{path}: the document {twice!r} stands there twice; a document is in one cluster")
        return Labels(str(path), dict(zip(ids, texts("cluster"), strict=True)))
    raise InputError(
        f"{path} has the columns {', '.join(table.column_names)}; labels are in the columns id and cluster, or in "
        "left_id and right_id, perhaps with same"
    )


def _read(path: Path) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        head = pa_csv.read_csv(path, convert_options=pa_csv.ConvertOptions(null_values=[]))
        kinds = dict.fromkeys(head.column_names, pa.string())
        return pa_csv.read_csv(path, convert_options=pa_csv.ConvertOptions(column_types=kinds, null_values=[""]))
    except FileNotFoundError:
        raise InputMissing(f"no such file: {path}; labels are a CSV or Parquet file") from None
    except (OSError, pa.ArrowException) as problem:
        raise InputError(f"{path} cannot be read as labels: {problem}") from problem


def _same(value: str, path: Path, row: int) -> bool:
    if value.lower() not in (*_YES, *_NO):
        raise InputError(f"{path}, line {row}: same must be one of {', '.join((*_YES, *_NO))}, not {value!r}")
    return value.lower() in _YES


def _joined(left: Sequence[str], right: Sequence[str]) -> dict[str, str]:
    """Documents that a chain of pairs joins, named by the first of them."""
    names = sorted({*left, *right})
    number = {name: at for at, name in enumerate(names)}
    pairs = np.array([(number[a], number[b]) for a, b in zip(left, right, strict=True)], np.int64).reshape(-1, 2)
    component = components_of(len(names), pairs)
    first: dict[int, str] = {}
    for at, name in enumerate(names):
        first.setdefault(int(component[at]), name)
    return {name: first[int(component[at])] for at, name in enumerate(names)}
