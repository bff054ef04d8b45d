"""What several commands print in the same way: a summary as JSON, and the records that were rejected."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from roughly.amounts import counted, records_were

if TYPE_CHECKING:
    from roughly.model import Reject

LISTED = 5
"""Rejected records, and ids that are not there, that are named one by one."""


def print_json(value: Any) -> None:
    """Print plain values as JSON."""
    json.dump(value, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


def print_json_line(value: Any) -> None:
    """Print plain values as one line of JSON."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def print_rejects(rejects: Sequence[Reject]) -> None:
    """Name the first rejected records on standard error, and say how many there are."""
    for reject in rejects[:LISTED]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if rejects:
        print(f"{records_were(len(rejects))} rejected", file=sys.stderr)


def end(rejects: Sequence[Reject], *, failed: bool = False) -> None:
    """Name the rejected records; exit code 3 where there are some, or where a check failed."""
    print_rejects(rejects)
    if rejects or failed:
        raise SystemExit(3)


def size(count: float) -> str:
    """Bytes as people write them."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"


def print_speed(text_bytes: int, seconds: float, rejects: Sequence[Reject]) -> None:
    """Print how long the reading of documents took."""
    speed = text_bytes / max(seconds, 1e-9) / 1e6
    print(f"took        {seconds:.1f} s, {speed:,.0f} MB/s; {counted(len(rejects), 'record')} rejected")
