"""`dedupe --engine spark --plan`: what a run would move over the network, and how many executors it needs.

The local engine runs a sample, as for any plan; its counts are the input of the cost model (`engines.spark.cost`).
"""

from __future__ import annotations

from typing import Any

from roughly.engines.spark.cost import CollectionSize, recommend

_SKETCH = 100.0
"""Values of a sketch, where pairs are judged on sketches."""


def spark_plan(plan: dict[str, Any], judged: str) -> dict[str, Any]:
    """The plan of the local engine as one for a cluster. `judged`: on what pairs are judged."""
    of = CollectionSize(
        plan["documents"], plan["tokens"], plan["keys_a_document"], plan["candidate_share"],
        judged if judged in ("text", "sketch") else "keys", _SKETCH if judged == "sketch" else 0.0,
    )  # fmt: skip
    size = {name: plan[name] for name in ("parts", "input_bytes", "documents", "text_bytes", "s_curve", "finds")}
    size |= {name: plan[name] for name in ("tokens", "keys_a_document", "candidate_share")}
    return size | recommend(of, plan["seconds"] * plan["threads"])
