"""Documents to be looked at: families of versions, odd ids, hostile fields, texts of five megabytes."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from service.hostile_documents import hostile_rows

Row = dict[str, Any]
ODD = (
    "a/b/../c",
    "with space",
    "report.json",
    "q?x=1&y=2#z",
    "per%2Fcent",
    "//twice",
    "..",
    "naïve ✓",
    "semi;colon+plus",
)
"""Ids that a path of an address could mistake for something else."""
LONG = ("long-1", "long-2")


@cache
def looked_at_rows() -> list[Row]:
    """Nine families with an odd id, thirty plain ones, hostile documents, and a pair of five megabytes each."""
    chance = random.Random(8)

    def words(number: int) -> list[str]:
        return [
            f"{chance.choice('bcdfghklmnprst')}{chance.choice('aeiou')}{chance.randrange(9000)}" for _ in range(number)
        ]

    rows: list[Row] = []
    for family, name in enumerate([*ODD, *(f"plain-{n:02}" for n in range(30))]):
        text = words(120)
        for version in range(2 + family % 4):
            if version:
                text[chance.randrange(120)] = f"edit{version}"
            rows.append(
                {
                    "id": name if version == 0 else f"{name} v{version}",
                    "text": " ".join(text) + (" and an ending" if version == 0 else ""),
                    "title": f"Family {family}, version {version}",
                    "url": f"http://site{version}.example/{family}/{version}?a=b",
                    "date": f"20{10 + family % 10}-0{1 + version}-05",
                    "source": f"source {version if family % 7 else 0}",
                }
            )
    step = words(40)
    for link in range(12):  # each like the one before, the last not like the first
        rows.append({"id": f"chain-{link}", "text": " ".join(step), "title": "A chain", "source": f"link {link}"})
        step = [*step[5:], *words(5)]
    close = words(200)
    for copy in range(7):  # all but equal, and one that only just belongs to them
        text = [*close, f"copy{copy}"] if copy < 6 else [*close[:165], *words(15)]
        rows.append({"id": f"close-{copy}", "text": " ".join(text), "title": "Close", "source": "close"})
    long = words(700_000)
    changed = [*long]
    changed[350_000] = "changed"
    rows += [
        {"id": name, "text": " ".join(text), "title": "Long"} for name, text in zip(LONG, (long, changed), strict=True)
    ]
    return [*rows, *hostile_rows()[:-1]]


def write_rows(rows: list[Row], path: Path) -> Path:
    """As JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
