"""Invoices: pages that resemblance cannot tell from revisions."""

from __future__ import annotations

import random


def invoices(count: int, seed: int = 3) -> list[dict[str, str | None]]:
    """Pages of one template that differ in their numbers, and revisions of each that differ in words only, in
    more or fewer of them than the pages."""
    chance = random.Random(seed)
    base = [f"item{chance.randrange(900)}" for _ in range(60)]
    rows: list[dict[str, str | None]] = []
    for number in range(count):
        figures = [str(chance.randrange(10_000, 99_999)) for _ in range(8)]
        for copy in range(2):
            own = list(base)
            for at in range(8):
                own[7 * at] = figures[at]
            for _ in range(0 if copy == 0 else chance.randrange(2, 22)):
                place = chance.randrange(60)
                own[place] = own[place] if place % 7 == 0 and place < 56 else f"changed{chance.randrange(900)}"
            rows.append({"id": f"{number:03}-{copy}", "text": " ".join(own), "bill": f"bill {number}"})
    return rows
