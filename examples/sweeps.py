"""Writes three crawls of the pages in policies.jsonl.gz, for docs/sweeps.md: one file of JSON lines per day.

python examples/sweeps.py
"""

import gzip
import json
from pathlib import Path

POLICIES = Path(__file__).parent / "policies.jsonl.gz"

with gzip.open(POLICIES, "rt", encoding="utf-8") as lines:
    versions = sorted(map(json.loads, lines), key=lambda row: row["date"])
for day in ("2021-01-01", "2022-01-01", "2023-01-01"):
    pages = {}
    for row in versions:
        if row["date"] < day:
            service, name = row["id"].partition("#")[0].split("/", 1)
            host = "".join(filter(str.isalnum, service)).lower()
            address = f"https://{host}.example/{name.replace(' ', '-').lower()}"
            pages[address] = {"url": address, "title": row["title"], "text": row["text"]}
    Path(f"{day}.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages.values()), encoding="utf-8")
