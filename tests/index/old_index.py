"""Make an index with whatever version of roughly is imported, and write down what that version answers.

    git archive COMMIT src | tar -x -C old
    PYTHONPATH=old/src python tests/index/old_index.py tests/index/formats/format-2-answers-1

writes `….db.gz` and `….json`. It uses only what every version has. The answers of versions whose indexes are refused
are not kept.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from roughly import Index

QUERIES = ("d1", "d3", "d8")


def documents() -> list[dict[str, Any]]:
    """Twelve texts: near-copies of four, and an equal one."""
    drawn = random.Random(17)
    texts: list[list[str]] = []
    for number in range(12):
        if number < 4:
            texts.append([f"word{drawn.randrange(500)}" for _ in range(120)])
        else:
            changed = list(texts[number % 4])
            for _ in range(number // 4):
                changed[drawn.randrange(120)] = f"changed{number}"
            texts.append(changed)
    rows = [{"doc_id": f"d{number}", "text": " ".join(text)} for number, text in enumerate(texts)]
    rows.append({"doc_id": "equal", "text": rows[1]["text"].upper() + "!"})
    return [
        {**row, "title": f"Title {n}", "url": f"http://a.org/{n}", "date": f"2024-03-{n + 1:02d}", "source": "a.org"}
        for n, row in enumerate(rows)
    ]


def answers(index: Index) -> dict[str, Any]:
    """What the index answers."""
    texts = {row["doc_id"]: row["text"] for row in documents()}
    matches = {name: [match.to_dict() for match in index.query(texts[name], limit=None)] for name in QUERIES}
    return {"pairs": index.pairs().to_pylist(), "matches": matches}


def main(target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        with Index.create(path) as index:
            index.add(documents())
            index.remove(["d11"])
            index.revoke(["d3"])
            found = answers(index)
        Path(f"{target}.db.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    Path(f"{target}.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
