"""Roughly: finds the documents that are roughly the same, or roughly contained in one another.

    >>> import roughly
    >>> roughly.resemblance("a rose is a rose is a rose", "a rose is a rose")

The names below are the public interface. They are imported when first used, so `import roughly` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roughly.errors import RoughlyError
    from roughly.features.sketching import Sketched
    from roughly.index import Index
    from roughly.index.stream import match
    from roughly.index.sweeping import Sweeps
    from roughly.job import Result, dedupe
    from roughly.job.auditing import audit_labels, audit_leaks, audit_qrels
    from roughly.job.clustering import Clustering
    from roughly.job.objects import cluster_features
    from roughly.job.perturbing import perturb
    from roughly.job.sketching import sketch
    from roughly.job.stored import recluster
    from roughly.job.truth import truth
    from roughly.job.tuning import tune
    from roughly.lab.evaluation import evaluate
    from roughly.results import group_results
    from roughly.service.client import AsyncClient, Client
    from roughly.settings import Settings
    from roughly.verify.comparison import Comparison, compare, containment, contains, resemblance, same

__version__ = "0.1.0"

_HOMES = {
    "AsyncClient": "roughly.service.client",
    "Client": "roughly.service.client",
    "Clustering": "roughly.job.clustering",
    "Comparison": "roughly.verify.comparison",
    "Index": "roughly.index",
    "Result": "roughly.job",
    "RoughlyError": "roughly.errors",
    "Settings": "roughly.settings",
    "Sketched": "roughly.features.sketching",
    "Sweeps": "roughly.index.sweeping",
    "audit_labels": "roughly.job.auditing",
    "audit_leaks": "roughly.job.auditing",
    "audit_qrels": "roughly.job.auditing",
    "cluster_features": "roughly.job.objects",
    "compare": "roughly.verify.comparison",
    "containment": "roughly.verify.comparison",
    "contains": "roughly.verify.comparison",
    "dedupe": "roughly.job",
    "evaluate": "roughly.lab.evaluation",
    "group_results": "roughly.results",
    "match": "roughly.index.stream",
    "perturb": "roughly.job.perturbing",
    "recluster": "roughly.job.stored",
    "resemblance": "roughly.verify.comparison",
    "same": "roughly.verify.comparison",
    "sketch": "roughly.job.sketching",
    "truth": "roughly.job.truth",
    "tune": "roughly.job.tuning",
}

__all__ = [
    "AsyncClient", "Client", "Clustering", "Comparison", "Index", "Result", "RoughlyError", "Settings", "Sketched",
    "Sweeps", "audit_labels", "audit_leaks", "audit_qrels", "cluster_features", "compare", "containment", "contains",
    "dedupe", "evaluate", "group_results", "match", "perturb", "recluster", "resemblance", "same", "sketch", "truth",
    "tune",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'roughly' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
