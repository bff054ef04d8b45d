"""What the Parquet files that we write say of themselves."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from roughly.errors import InputError, InputMissing


def read_metadata(path: Path, what: str, command: str) -> dict[bytes, bytes]:
    """The metadata of a file of `what`, which `command` makes."""
    try:
        return dict(pq.read_schema(path).metadata or {})
    except FileNotFoundError:
        raise InputMissing(f"no {what} in {path}; make them with {command}") from None
    except (OSError, pa.ArrowException) as problem:
        raise InputError(f"{path} cannot be read as Parquet: {problem}; make the {what} anew") from problem
