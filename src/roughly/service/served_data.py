"""The data that is served: the folder of a run, an index, or both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roughly.errors import InputError, InputMissing, SettingsError
from roughly.index import Index


@dataclass(frozen=True, eq=False)
class ServedData:
    """A finished run, by its folder, and an index. One of the two may be missing."""

    run: Path | None = None
    index: Index | None = None
    inputs: tuple[str, ...] | None = None  # where the input of the run is now; None: where dedupe read it

    @classmethod
    def open(
        cls, paths: Sequence[str | os.PathLike[str]], *, key_file: str | os.PathLike[str] | None = None,
        inputs: Sequence[str | os.PathLike[str]] | None = None,
    ) -> ServedData:  # fmt: skip
        """Open paths: a folder is a run, anything else an index."""
        run: Path | None = None
        index: str | os.PathLike[str] | None = None
        for path in paths:
            if "://" not in str(path) and Path(path).is_dir():
                if run is not None:
                    raise SettingsError(f"two runs were given, {run} and {path}; serve one at a time")
                run = Path(path)
                if not (run / "run.json").is_file():
                    raise InputError(f"{run} contains no run; name the folder that `roughly dedupe` wrote")
            elif index is not None:
                raise SettingsError(f"two indexes were given, {index} and {path}; serve one at a time")
            else:
                index = path
        if run is None and index is None:
            raise SettingsError("nothing to serve; name the folder of a run, an index, or both")
        if inputs and run is None:
            raise SettingsError("--input says where the texts of a run are, and no run is served; leave it out")
        opened = None if index is None else Index.open(index, key_file=key_file)
        return cls(run, opened, tuple(map(str, inputs)) if inputs else None)

    def check(self) -> None:
        """Raise if the run or the index cannot be reached, without a second attempt."""
        if self.index is not None:
            with self.index.read_transaction() as connection:
                connection.exec_driver_sql("SELECT 1 FROM meta").first()
        if self.run is not None and not (self.run / "run.json").is_file():
            raise InputMissing(f"{self.run} no longer exists; serve a run that does")

    def close(self) -> None:
        """Close the index."""
        if self.index is not None:
            self.index.close()
