"""One way to look at what is served, a run or an index: clusters, documents, texts, evidence, figures.

| module | what |
|---|---|
| `shapes` | what is handed out, and the protocol `Collection` |
| `run` | the folder of a run |
| `index` | an index |
| `warnings` | what looks wrong about a cluster, each with its figure |
| `served` | the collections of the holdings, and which of them a request means |
"""

from roughly.service.collection.collection_types import (
    Cluster,
    ClusterList,
    ClusterQuery,
    ClusterRow,
    Collection,
    Document,
    Edge,
    Figures,
    Text,
    Warning,
)
from roughly.service.collection.served import Collections, collections_of

__all__ = [
    "Cluster",
    "ClusterList",
    "ClusterQuery",
    "ClusterRow",
    "Collection",
    "Collections",
    "Document",
    "Edge",
    "Figures",
    "Text",
    "Warning",
    "collections_of",
]
