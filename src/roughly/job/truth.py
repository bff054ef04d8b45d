"""`roughly.truth`: every pair of documents at or above a threshold, exactly, from any source to one file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from roughly.errors import OutputExists, SettingsError
from roughly.lab.truth.asked import PAIRS_LIMIT, Asked
from roughly.lab.truth.find import Found, find_pairs
from roughly.lexicon import Lexicon
from roughly.meter import Listener, Meter
from roughly.settings import Resources, parse_size
from roughly.sources import open_data
from roughly.sources.part import ReadOptions

ENDINGS = (".parquet", ".csv")


def truth(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    measure: str = "resemblance",
    threshold: float = 0.8,
    shingle_size: int = 5,
    weights: str = "tf",
    lexicon: str | os.PathLike[str] | Lexicon | None = None,
    main_text: bool = False,
    empty: bool = True,
    pairs_limit: int = PAIRS_LIMIT,
    threads: int = 0,
    memory: str | int = "4GB",
    temp: str | os.PathLike[str] | None = None,
    **reading: Any,
) -> Found:
    """Every pair of documents whose resemblance, containment or cosine reaches the threshold.

    `data` and `paths` are those of `roughly.dedupe`; `reading` are the columns and the format. The pairs are in
    `table`, and in `output` (.parquet or .csv) where that is named.
    """
    if (data is None) == (paths is None):
        raise SettingsError("give either data or paths")
    if isinstance(data, str | os.PathLike):
        data, paths = None, [data]
    held = Lexicon.open(lexicon) if isinstance(lexicon, str | os.PathLike) else lexicon
    asked = Asked(
        measure=measure, threshold=threshold, shingle_size=shingle_size, weights=weights, lexicon=held,
        main_text=main_text, empty=empty, pairs_limit=pairs_limit,
    )  # fmt: skip
    resources = Resources(
        threads=threads, memory=parse_size(memory) if isinstance(memory, str) else memory,
        temp=None if temp is None else Path(temp),
    )  # fmt: skip
    return run_truth(
        data, paths, asked, resources=resources, reading=ReadOptions(**reading),
        output=None if output is None else Path(output), overwrite=overwrite,
    )  # fmt: skip


def run_truth(
    data: Any,
    paths: Sequence[str | os.PathLike[str]] | None,
    asked: Asked,
    *,
    resources: Resources,
    reading: ReadOptions,
    output: Path | None = None,
    overwrite: bool = False,
    listener: Listener | None = None,
) -> Found:
    """The same with settings as objects. The file appears whole or not at all."""
    if output is not None:
        check_output(output, overwrite)
    with tempfile.TemporaryDirectory(prefix="roughly-truth-", dir=resources.temp) as name:
        parts = open_data(data, paths, reading, Path(name))
        found = find_pairs(parts, asked, resources=resources, scratch=Path(name), meter=Meter(listener))
    if output is not None:
        write_pairs(found.table, output)
    return found


def check_output(output: Path, overwrite: bool, endings: Sequence[str] = ENDINGS) -> None:
    """Refuse a file of unknown kind, or one that is there."""
    if output.suffix not in endings:
        raise SettingsError(f"the output must end in {' or '.join(endings)}, not {output.name!r}")
    if output.exists() and not overwrite:
        raise OutputExists(f"{output} exists; add --overwrite to replace it, or choose another name")


def write_pairs(table: pa.Table, output: Path) -> None:
    """A table as Parquet or CSV, by the name's ending; the same table gives the same bytes."""
    output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = output.with_name(f".{output.name}.partial")
    if output.suffix == ".csv":
        pa_csv.write_csv(table, unfinished)
    else:
        pq.write_table(table, unfinished, compression="zstd")
    shutil.move(unfinished, output)
