"""The row groups of a Parquet file: which rows and how many bytes each has, and whether one thread may read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roughly.fast_dataclass import dataclass
from roughly.sources.parquetfooter import GroupSize

LARGEST_GROUP = 32 << 20  # bytes of the wanted columns; larger row groups are read in slices
LARGEST_OF_ONE_THREAD = 256 << 20  # a row group that one thread may read, a slice at a time
MOST_ROWS_OF_ONE_THREAD = 1 << 16
MOST_UNFOLDED = 256 << 20  # bytes that the values of dictionaries may unfold to in a row group


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A row group of the file."""

    index: int
    first_row: int
    count: int
    nbytes: int  # of some columns, decompressed
    dictionaries: tuple[str, ...] = ()  # columns whose dictionary may unfold to very many bytes


def row_groups(
    sizes: Sequence[GroupSize], wanted: set[str] | None = None, most: int = MOST_UNFOLDED
) -> Iterator[RowGroup]:
    """The row groups, with the bytes of the wanted columns, or of all; dictionaries may unfold to `most` bytes."""
    first = 0
    for index, group in enumerate(sizes):
        nbytes = group.nbytes
        if wanted is not None:
            nbytes = sum(column.nbytes for column in group.columns if column.path.split(".")[0] in wanted)
        yield RowGroup(index, first, group.rows, nbytes, _unfolding(group, wanted, most))
        first += group.rows


def _unfolding(group: GroupSize, wanted: set[str] | None, most: int) -> tuple[str, ...]:
    """Columns of strings whose dictionary may unfold to too much: as many times its size as there are values."""
    return tuple(
        column.path
        for column in group.columns
        if (wanted is None or column.path in wanted)
        and column.is_bytes
        and "." not in column.path
        and column.has_dictionary
        and column.values * column.nbytes > most
    )


def fits_one_thread(group: RowGroup) -> bool:
    is_moderate = group.nbytes <= LARGEST_OF_ONE_THREAD and group.count <= MOST_ROWS_OF_ONE_THREAD
    return is_moderate or group.nbytes <= LARGEST_GROUP
