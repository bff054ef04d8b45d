"""Writes the tables of the page on internet scale from the cost model (`engines/spark/cost.py`).

    python docs/make_spark.py

A test fails while the page is not what this prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from roughly.engines.spark import cost
from roughly.engines.spark.cost import CollectionSize, recommend, stages

PAGE = Path(__file__).parent / "internet-scale.md"
BEGIN = "<!-- from the cost model: python docs/make_spark.py -->"
END = "<!-- end of what is generated -->"
TOKENS = 400
SHARE = 0.3
METHODS = {
    "identical, lexical": CollectionSize(1e9, 1e9 * TOKENS, 0, 0.0, "keys"),
    "minhash, 0.8 at 0.99": CollectionSize(1e9, 1e9 * TOKENS, 16, SHARE),
    "minhash, containment": CollectionSize(1e9, 1e9 * TOKENS, TOKENS, SHARE),
    "shingles, mod:25": CollectionSize(1e9, 1e9 * TOKENS, TOKENS / 25, SHARE, "sketch", TOKENS / 25),
    "mega-shingles": CollectionSize(1e9, 1e9 * TOKENS, 15, SHARE, "keys"),
    "imatch, 10 lexicons": CollectionSize(1e9, 1e9 * TOKENS, 11, SHARE, "keys"),
    "rare-terms, term-vector": CollectionSize(1e9, 1e9 * TOKENS, 60, SHARE, "sketch", 60),
}
"""Keys a document, assumed but for minhash: bands, sampled shingles, pairs of mega shingles, signatures, terms."""
CONSTANTS = (
    "FACTS",
    "EQUAL",
    "WANTED",
    "KEYS",
    "KEY",
    "ENTRY",
    "EDGE",
    "ROUNDS",
    "BUCKETS",
    "TOKEN",
    "DOCUMENT",
    "OVERHEAD",
)
MEANING = {
    "FACTS": "facts of a document", "EQUAL": "its fingerprint", "WANTED": "a candidate, without its content",
    "KEYS": "its row when keys meet ranks",
    "KEY": "a key in that row", "ENTRY": "a key with its document", "EDGE": "an edge", "ROUNDS": "rounds of components",
    "BUCKETS": "buckets of a candidate (e)", "TOKEN": "a token", "DOCUMENT": "a verdict",
    "OVERHEAD": "core seconds on Spark for one on the local engine",
}  # fmt: skip
LOCAL_SECONDS = 586 * 2 / 10e6
"""Core seconds a document on one machine: ten million documents on two cores (docs/scale.md)."""


def size(count: float) -> str:
    """Bytes in words."""
    for unit in ("B", "KB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def lines() -> Iterator[str]:
    """What stands between the marks."""
    yield "| constant | value | meaning |\n|---|---:|---|"
    for name in CONSTANTS:
        yield f"| `{name}` | {getattr(cost, name):g} | {MEANING[name]} |"
    yield "\n## By method\n"
    yield f"Bytes shuffled per document, with {TOKENS} tokens per document and {100 * SHARE:.0f} % candidates:\n"
    yield "| method | group | verify | total |\n|---|---:|---:|---:|"
    for method, of in METHODS.items():
        each = {stage.name: stage.shuffled / of.documents for stage in stages(of)}
        yield f"| {method} | {each['group']:,.0f} | {each['verify']:,.0f} | {sum(each.values()):,.0f} |"
    yield "\n## Projections\n"
    yield (
        "MinHash at 0.8 and 0.99, executors of "
        f"{cost.CORES} cores and {size(cost.CORES * cost.TASK_MEMORY)}, from the core seconds of the local engine on "
        f"ten million documents ({LOCAL_SECONDS * 1e6:.0f} µs each) times `OVERHEAD`; "
        "as many executors as hold the shuffle:\n"
    )
    yield "| documents | text | shuffled | stored between stages | core hours | executors | hours |"
    yield f"|{'---:|' * 7}"
    for documents in (1e9, 1e10, 1e11):
        of = CollectionSize(documents, documents * TOKENS, 16, SHARE)
        plan = recommend(of, documents * LOCAL_SECONDS, target=24 * cost.HOUR)
        stored = sum(stage["stored"] for stage in plan["stages"])
        yield (
            f"| {documents / 1e9:.0f} billion | {size(documents * TOKENS * 6.2)} | "
            f"{size(plan['shuffled_a_document'] * documents)} | {size(stored)} | {plan['core_seconds'] / 3600:,.0f} | "
            f"{plan['executors']:,} | {plan['seconds'] / 3600:.1f} |"
        )


def page() -> str:
    """The page as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + "\n\n" + "\n".join(lines()) + "\n\n" + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
