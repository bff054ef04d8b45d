"""The data that is served: the folder of a run, that of repeated passages, an index, or several of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from roughly.errors import InputError, InputMissing, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.index import Index
from roughly.tools.passages.passages_result import is_passages_run


@dataclass(frozen=True, eq=False)
class ServedData:
    """A finished run of `dedupe` and one of `passages`, by their folders, and an index. Some may be missing."""

    run: Path | None = None
    index: Index | None = None
    inputs: tuple[str, ...] | None = None  # where the input of the runs is now; None: where they read it
    passages: Path | None = None

    @classmethod
    def open(
        cls, paths: Sequence[str | os.PathLike[str]], *, key_file: str | os.PathLike[str] | None = None,
        inputs: Sequence[str | os.PathLike[str]] | None = None,
    ) -> ServedData:  # fmt: skip
        """Open paths: a folder is a run, anything else an index."""
        runs: dict[bool, Path] = {}  # by whether it is a run of `passages`
        index: str | os.PathLike[str] | None = None
        for path in paths:
            if "://" not in str(path) and Path(path).is_dir():
                folder = Path(path)
                if not (folder / "run.json").is_file():
                    raise InputError(
                        f"{folder} contains no run; name the folder that `roughly dedupe` or `roughly passages` wrote"
                    )
                kind = is_passages_run(folder)
                if kind in runs:
                    raise SettingsError(f"two runs were given, {runs[kind]} and {path}; serve one at a time")
                runs[kind] = folder
            elif index is not None:
                raise SettingsError(f"two indexes were given, {index} and {path}; serve one at a time")
            else:
                index = path
        if index is not None and "://" not in str(index) and not Path(index).exists():
            raise InputMissing(f"no run and no index at {index}; check the spelling and the working folder")
        if not runs and index is None:
            raise SettingsError("nothing to serve; name the folder of a run, an index, or both")
        if inputs and not runs:
            raise SettingsError("--input says where the texts of a run are, and no run is served; leave it out")
        opened = None if index is None else Index.open(index, key_file=key_file)
        return cls(runs.get(False), opened, tuple(map(str, inputs)) if inputs else None, runs.get(True))

    def check(self) -> None:
        """Raise if the run or the index cannot be reached, without a second attempt."""
        if self.index is not None:
            with self.index.read_transaction() as connection:
                connection.exec_driver_sql("SELECT 1 FROM meta").first()
        for run in (self.run, self.passages):
            if run is not None and not (run / "run.json").is_file():
                raise InputMissing(f"{run} no longer exists; serve a run that does")

    def close(self) -> None:
        """Close the index."""
        if self.index is not None:
            self.index.close()
