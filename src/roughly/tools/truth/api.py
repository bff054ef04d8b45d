"""`roughly.truth`: every pair of documents at or above a threshold, exactly, from any source to one file."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, Unpack

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from roughly.declarations import gather
from roughly.errors import OutputExists, SettingsError
from roughly.job.session import check_memory
from roughly.lexicon import Lexicon
from roughly.meter import Listener, Meter
from roughly.model import Reject
from roughly.option_types import TruthRunOptions
from roughly.python_words import for_python
from roughly.sources import data_or_paths, open_data
from roughly.sources.parquet_open import parquet_table
from roughly.tools.truth.find import FoundPairs, find_pairs
from roughly.tools.truth.request import TruthRun

ENDINGS = (".parquet", ".csv")


@for_python
def truth(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    **options: Unpack[TruthRunOptions],
) -> TruthResult:
    """Every pair of documents whose resemblance, containment or cosine reaches the threshold.

    `data` and `paths` are those of `roughly.dedupe`; `options` those of `TruthRequest` (`measure`, `threshold`,
    `shingle_size`, …), the columns and the format, `threads`, `memory` and `temp`. The pairs are in `table`, and in
    `output` (.parquet or .csv) if that is named.
    """
    data, paths = data_or_paths(data, paths)
    run = gather(TruthRun, options)
    return run_truth(data, paths, run, output=None if output is None else Path(output), overwrite=overwrite)


def run_truth(
    data: Any,
    paths: Sequence[str | os.PathLike[str]] | None,
    run: TruthRun,
    *,
    output: Path | None = None,
    overwrite: bool = False,
    listener: Listener | None = None,
) -> TruthResult:
    """The same with settings as objects. The file appears complete or not at all."""
    resources, request = run.resources, run.request
    if isinstance(request.lexicon, str | os.PathLike):
        request = replace(request, lexicon=Lexicon.open(request.lexicon))
    check_memory(resources)
    if output is not None:
        check_output(output, overwrite)
    folder = Path(tempfile.mkdtemp(prefix="roughly-truth-", dir=resources.temp))
    try:
        parts = open_data(data, paths, run.reading, folder)
        written = folder / "pairs.parquet"
        with PairWriter(written if output is None else output) as writer:
            found = find_pairs(
                parts, request, resources=resources, scratch=folder, meter=Meter(listener), take=writer.take
            )
        done = TruthResult(found, written if output is None else output)
        if output is None:
            weakref.finalize(done, shutil.rmtree, folder, ignore_errors=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return done


class TruthResult:
    """The result of `roughly.truth`: the pairs, and the cost of finding them."""

    def __init__(self, found: FoundPairs, path: Path) -> None:
        self._found, self._path = found, path

    @cached_property
    def table(self) -> pa.Table:
        """Every pair: `left_id`, `right_id` and the scores, sorted."""
        if self._path.suffix == ".csv":
            kinds = {"left_id": pa.string(), "right_id": pa.string()}
            return pa_csv.read_csv(self._path, convert_options=pa_csv.ConvertOptions(column_types=kinds))
        return parquet_table(self._path)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of documents, distinct ones, and pairs that share a rare feature, were compared and were found."""
        return dict(vars(self._found.counted))

    @property
    def rejects(self) -> list[Reject]:
        """Records that could not be read."""
        return self._found.rejects

    def summary(self) -> dict[str, Any]:
        """The request, counts, seconds and memory, as plain values."""
        return self._found.summary()


def check_output(output: Path, overwrite: bool, endings: Sequence[str] = ENDINGS) -> None:
    """Refuse a file of unknown kind, or one that exists."""
    if output.suffix not in endings:
        raise SettingsError(f"the output must end in {' or '.join(endings)}, not {output.name!r}")
    if output.exists() and not overwrite:
        raise OutputExists(f"{output} exists; add --overwrite to replace it, or choose another name")


class PairWriter:
    """Write tables as Parquet or CSV, by the name's ending; the file appears when it is complete. The same tables give
    the same bytes."""

    def __init__(self, output: Path) -> None:
        self._output, self._unfinished = output, output.with_name(f".{output.name}.partial")
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def take(self, table: pa.Table) -> None:
        """Append."""
        if self._writer is None:
            self._output.parent.mkdir(parents=True, exist_ok=True)
            if self._output.suffix == ".csv":
                self._writer = pa_csv.CSVWriter(self._unfinished, table.schema)
            else:
                self._writer = pq.ParquetWriter(self._unfinished, table.schema, compression="zstd")
        self._writer.write_table(table)

    def __exit__(self, kind: type[BaseException] | None, *problem: object) -> None:
        if self._writer is not None:
            self._writer.close()
        if kind is None and self._writer is not None:
            self._unfinished.replace(self._output)
        else:
            self._unfinished.unlink(missing_ok=True)
