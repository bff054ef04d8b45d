"""Revisions of newswire stories, labelled by headline and time: Reuters-21578, to March and from April 1987.

A story that is filed again has the same headline soon after; one that looks alike, such as the next report of a series
or another company's bond, has another day. Neither is compared by a verdict, which sees the texts only:

- *same*: the same words in the headline, all stories with it filed within 36 hours of each other;
- *different*: filed more than a week apart; listed from a resemblance of `LEAST` on, on shingles of two words;
- what else is similar (other headlines of the same days, stories without one) is not listed.

Of a hundred drawn and read, half of each kind with a resemblance below 1 (of at least 0.3 for the different), 49 and 50
were right; the wrong one is an hourly price list. `made copies` has copies and look-alikes as `benchmarks.lookalikes`.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import roughly
from benchmarks.corpora import DATA
from benchmarks.lookalikes import DIFFERENT, SAME
from benchmarks.tuning import Labelled

FOLDER = DATA / "news"
NEWS = (
    Labelled("Reuters to March", str(FOLDER / "to_march.parquet"), str(FOLDER / "to_march.csv"), sample=20_000),
    Labelled("Reuters from April", str(FOLDER / "from_april.parquet"), str(FOLDER / "from_april.csv"), sample=20_000),
    Labelled("made copies", str(FOLDER / "copies/documents.parquet"), column="cluster", sample=10**6),
)
_APRIL = datetime(1987, 4, 1)
_SOON, _LATER = timedelta(hours=36), timedelta(days=7)
LEAST, SHORTEST = 0.1, 100
"""Resemblance of listed pairs that are different; characters of a text."""

Story = dict[str, str]


def prepare_news(corpora: Path) -> None:
    """Write these corpora, the first time."""
    if not (FOLDER / "copies").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        stories = pq.read_table(corpora / "reuters21578.parquet", columns=["id", "text", "title", "date"])
        timed = [row for row in stories.to_pylist() if len(row["text"]) >= SHORTEST and filed(row) is not None]
        for name in ("to_march", "from_april"):
            own = [row for row in timed if (filed(row) >= _APRIL) == (name == "from_april")]  # type: ignore[operator]
            write_labelled(own, FOLDER / name)
        pq.write_table(stories.slice(0, 800).select(["id", "text"]), FOLDER / "originals.parquet")
        made = {"kinds": SAME + list(DIFFERENT), "documents": 200, "alpha": 7.0}
        roughly.perturb(FOLDER / "originals.parquet", output=FOLDER / "copies", **made)


def write_labelled(stories: list[Story], path: Path) -> None:
    """The stories, and the pairs that are labelled."""
    times = {row["id"]: filed(row) for row in stories}
    texts = pa.table({"id": list(times), "text": [row["text"] for row in stories]})
    pq.write_table(texts, path.with_suffix(".parquet"))
    similar = roughly.truth(texts, threshold=LEAST, shingle_size=2).table
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(("left_id", "right_id", "same"))
        for left, right in zip(similar["left_id"].to_pylist(), similar["right_id"].to_pylist(), strict=True):
            if abs(times[left] - times[right]) > _LATER:  # type: ignore[operator]
                lines.writerow((left, right, 0))
        lines.writerows((*pair, 1) for ids in revised(stories) for pair in combinations(ids, 2))


def revised(stories: list[Story]) -> list[list[str]]:
    """The stories that were filed again, by headline."""
    headlines: dict[str, list[Story]] = defaultdict(list)
    for row in stories:
        headlines[" ".join(re.findall(r"\w+", (row["title"] or "").lower()))].append(row)
    found = []
    for headline, own in headlines.items():
        times = [time for row in own if (time := filed(row)) is not None]
        if headline and len(own) > 1 and max(times) - min(times) < _SOON:
            found.append([row["id"] for row in own])
    return found


def filed(story: Story) -> datetime | None:
    """When a story was filed; None if its date cannot be read."""
    found = re.search(r"(\d+-[A-Z]{3}-\d{4} \d+:\d\d:\d\d)", story["date"].upper())
    try:
        return datetime.strptime(found[1], "%d-%b-%Y %H:%M:%S") if found else None
    except ValueError:  # an hour of three digits
        return None
