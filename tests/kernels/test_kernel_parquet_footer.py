"""Sizes in footers of Parquet: as the reader in plain Python has them, and refused where the footer is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roughly.kernels.parquet_footer import sizes_in_footer
from roughly.sources.parquetfooter import _Reader, group_sizes, split

TABLE = pa.table(
    {
        "text": ["one", "zwei", "one", None] * 50,
        "number": np.arange(200) * 1.5,
        "nested": [{"a": [1, 2], "b": "x"}] * 200,
        "ja": [True, False] * 100,
    }
)


def footer_of(folder: Path) -> bytes:
    pq.write_table(TABLE, folder / "t.parquet", row_group_size=30, compression={"text": "zstd", "number": "none"})
    return split(memoryview((folder / "t.parquet").read_bytes()))[1]


def test_the_sizes_are_those_of_the_plain_reader(tmp_path: Path) -> None:
    footer = footer_of(tmp_path)
    groups, columns, names = sizes_in_footer(footer)
    expected = _Reader(footer).struct()[4][1][1]
    assert groups.tolist() == [[group[3][1], group[2][1]] for group in expected]
    chunks = [(number, chunk[3][1]) for number, group in enumerate(expected) for chunk in group[1][1][1]]
    assert names == [b".".join(chunk[3][1][1]).decode() for _, chunk in chunks]
    assert columns.tolist() == [
        [number, *(chunk[field][1] for field in (1, 4, 5, 6)), int(chunk.get(11, (0, 0))[1] > 0)]
        for number, chunk in chunks
    ]


def test_they_are_those_of_pyarrow(tmp_path: Path) -> None:
    footer = footer_of(tmp_path)
    metadata = pq.read_metadata(tmp_path / "t.parquet")
    for index, group in enumerate(group_sizes(footer)):
        theirs = metadata.row_group(index)
        assert (group.rows, group.nbytes) == (theirs.num_rows, theirs.total_byte_size)
        assert [(c.path, c.nbytes, c.values, c.has_dictionary) for c in group.columns] == [
            (c.path_in_schema, c.total_uncompressed_size, c.num_values, c.has_dictionary_page)
            for c in map(theirs.column, range(theirs.num_columns))
        ]


def test_a_footer_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    footer = footer_of(tmp_path)
    for length in range(0, len(footer), 7):
        with pytest.raises(ValueError, match="the footer"):
            sizes_in_footer(footer[:length])


def test_a_footer_that_is_changed_is_read_or_refused(tmp_path: Path) -> None:
    footer, rng = footer_of(tmp_path), np.random.default_rng(5)
    for _ in range(2000):
        changed = bytearray(footer)
        for at in rng.integers(0, len(footer), 3):
            changed[at] = rng.integers(0, 256)
        try:
            sizes_in_footer(bytes(changed))
        except ValueError as problem:
            assert "the footer" in str(problem)


@pytest.mark.parametrize(
    "footer", [b"", b"\x49\xfc\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x1c" * 100, b"\x1b\x00\x00"]
)
def test_lengths_and_depths_are_checked(footer: bytes) -> None:
    with pytest.raises(ValueError, match="the footer"):
        sizes_in_footer(footer)
