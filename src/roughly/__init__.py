"""Roughly: finds the documents that are roughly the same, or roughly contained in one another.

    >>> import roughly
    >>> roughly.resemblance("a rose is a rose is a rose", "a rose is a rose")

The names below are the public interface. They are imported when first used, so `import roughly` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from roughly.version import __version__ as __version__

if TYPE_CHECKING:
    from roughly.errors import RoughlyError, RoughlyWarning
    from roughly.index import Index
    from roughly.index.stream import match
    from roughly.index.sweeps.api import Sweeps
    from roughly.job import Result, dedupe
    from roughly.results import group_results
    from roughly.service.client import AsyncClient, Client
    from roughly.settings import Settings
    from roughly.signing.sketching import Sketched
    from roughly.steps.deduplicator import Deduplicator
    from roughly.tools.audit.api import audit_labels, audit_leaks, audit_qrels
    from roughly.tools.decide.api import Decisions
    from roughly.tools.evaluate.api import evaluate
    from roughly.tools.passages.api import passages
    from roughly.tools.passages.passages_result import PassagesResult
    from roughly.tools.perturb.api import perturb
    from roughly.tools.recluster.clustering import Clustering
    from roughly.tools.recluster.objects_api import cluster_features
    from roughly.tools.recluster.sketching_api import sketch
    from roughly.tools.recluster.stored_clusters import recluster
    from roughly.tools.suggest.api import suggest
    from roughly.tools.truth.api import truth
    from roughly.tools.tune.api import tune
    from roughly.verify.comparison import Comparison, compare, containment, contains, resemblance, same


_HOMES = {
    "AsyncClient": "roughly.service.client",
    "Client": "roughly.service.client",
    "Clustering": "roughly.tools.recluster.clustering",
    "Comparison": "roughly.verify.comparison",
    "Decisions": "roughly.tools.decide.api",
    "Deduplicator": "roughly.steps.deduplicator",
    "Index": "roughly.index",
    "PassagesResult": "roughly.tools.passages.passages_result",
    "Result": "roughly.job",
    "RoughlyError": "roughly.errors",
    "RoughlyWarning": "roughly.errors",
    "Settings": "roughly.settings",
    "Sketched": "roughly.signing.sketching",
    "Sweeps": "roughly.index.sweeps.api",
    "audit_labels": "roughly.tools.audit.api",
    "audit_leaks": "roughly.tools.audit.api",
    "audit_qrels": "roughly.tools.audit.api",
    "cluster_features": "roughly.tools.recluster.objects_api",
    "compare": "roughly.verify.comparison",
    "containment": "roughly.verify.comparison",
    "contains": "roughly.verify.comparison",
    "dedupe": "roughly.job",
    "evaluate": "roughly.tools.evaluate.api",
    "group_results": "roughly.results",
    "match": "roughly.index.stream",
    "passages": "roughly.tools.passages.api",
    "perturb": "roughly.tools.perturb.api",
    "recluster": "roughly.tools.recluster.stored_clusters",
    "resemblance": "roughly.verify.comparison",
    "same": "roughly.verify.comparison",
    "sketch": "roughly.tools.recluster.sketching_api",
    "suggest": "roughly.tools.suggest.api",
    "truth": "roughly.tools.truth.api",
    "tune": "roughly.tools.tune.api",
}

__all__ = [
    "AsyncClient", "Client", "Clustering", "Comparison", "Decisions", "Deduplicator", "Index", "PassagesResult",
    "Result", "RoughlyError", "RoughlyWarning", "Settings", "Sketched", "Sweeps", "audit_labels", "audit_leaks",
    "audit_qrels", "cluster_features", "compare", "containment", "contains", "dedupe", "evaluate", "group_results",
    "match", "passages", "perturb", "recluster", "resemblance", "same", "sketch", "suggest", "truth", "tune",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'roughly' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
