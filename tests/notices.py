"""Notices: one text that is a duplicate or not, by its title, host, source and date."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

WEEK = "probability=0.5 prior=-7.3 words=6/0 days=1.6/0"
"""Of one text: the same if at most 7 days are between the dates (1.3 / 1.6 = 1 / (1 + 6.92 / 30))."""
HOST = "probability=0.5 prior=-7 words=6/0 same_host=2/0"
ALL = "probability=0.5 prior=-9 words=6/0 title=1/1 same_host=1/0 other_source=1/0 days=2/1"
SETTINGS = {"threshold": 0.5, "shingle_size": 1, "recall": 0.999999}


def notices(count: int) -> list[dict[str, Any]]:
    """Notices of three templates, often word for word the same, with titles, addresses, sources and dates, of which
    some are missing."""
    chance = random.Random(4)
    template = [" ".join(f"{name}{n}" for n in range(12)) for name in ("water", "road", "school")]
    rows = []
    for number in range(count):
        text = f"{chance.choice(template)} {'again' if chance.random() < 0.3 else 'open'}"
        host = chance.choice(["a.example", "A.example:80", "b.example", "c.example"])
        given = {
            "title": chance.choice(["Works in the street", "works, street", "Closed", "…"]),
            "url": f"http://{host}/{number}", "source": chance.choice(["north", "south", " "]),
            "date": str(date(2024, 1, 1) + timedelta(chance.randrange(40))),
        }  # fmt: skip
        known = {name: value if chance.random() < 0.85 else None for name, value in given.items()}
        known["source"] = known["source"] or " "  # null is the name of the file
        rows.append({"id": f"n{number:03}", "text": text} | known)
    return rows
