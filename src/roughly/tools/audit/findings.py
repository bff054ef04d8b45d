"""The findings of an audit, for a screen, a spreadsheet or a program."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import field
from pathlib import Path
from typing import Any

import pyarrow as pa

from roughly.errors import OutputExists
from roughly.fast_dataclass import dataclass
from roughly.model import Reject

FILES = ("findings.csv", "findings.json")


@dataclass(frozen=True)
class Audit:
    """Findings, one per row, sorted; and counts."""

    name: str
    findings: pa.Table
    counts: dict[str, Any]
    request: dict[str, Any]
    unknown: list[str] = field(default_factory=list)  # named, but not among the documents
    rejects: list[Reject] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.findings)

    def summary(self) -> dict[str, Any]:
        """Everything but the findings, as plain values."""
        return {
            "audit": self.name, "asked": self.request, "findings": len(self), **self.counts,
            "unknown": self.unknown, "rejected": len(self.rejects),
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return self.summary() | {"found": self.findings.to_pylist()}

    def write(self, folder: Path, overwrite: bool = False) -> None:
        """Write findings.csv and findings.json."""
        there = [name for name in FILES if (folder / name).exists()]
        if there and not overwrite:
            raise OutputExists(f"{folder / there[0]} exists; name another folder, or add --overwrite")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILES[0]).write_text(self.csv(), encoding="utf-8")
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False)
        (folder / FILES[1]).write_text(text + "\n", encoding="utf-8")

    def csv(self) -> str:
        """The findings as CSV; lists (passages) as JSON."""
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(self.findings.column_names)
        for row in self.findings.to_pylist():
            values = (json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for v in row.values())
            rows.writerow(["" if value is None else value for value in values])
        return out.getvalue()
