"""`roughly.cluster_features`: clusters of any objects by features that the caller has extracted (Broder 1997, §6)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly import checks
from roughly.declarations import gather
from roughly.errors import SettingsError
from roughly.features.custom import hash_features, read_features
from roughly.features.sampling import Sampling
from roughly.tools.recluster.clustering import Clustering, cluster_sketches
from roughly.tools.recluster.request import FeatureRequest


def cluster_features(ids: Any, features: Any = None, **options: Any) -> Clustering:
    """Find the objects whose sets of features are roughly the same; the one with most features is kept.

    `features` has a list of numbers, strings, bytes or tuples for each id, or is an Arrow list column; instead of both,
    `ids` may be a Parquet file with these columns. With a `shingle_size` above 1, the order of the features counts.
    `options` are those of `FeatureRequest`.

    >>> found = cluster_features(["a", "b", "c"], [[1, 2, 3, 4], [1, 2, 3, 5], ["x", "y"]], threshold=0.6)
    >>> found.clusters
    {'a': ['a', 'b']}
    """
    request = gather(FeatureRequest, options)
    checks.refuse(checks.shingle_size(request.shingle_size))
    if features is None:
        if not isinstance(ids, str | os.PathLike):
            raise SettingsError("give ids and features, or the path of a Parquet file with both")
        ids, features = read_features(Path(ids), request.id_column, request.features_column)
    tokens = hash_features(features)
    names = ids if isinstance(ids, pa.Array) else pa.array([str(name) for name in ids], pa.string())
    if len(names) != len(tokens):
        raise SettingsError(f"{len(names):,} ids and features of {len(tokens):,} objects do not go together")
    sketched = Sampling.parse(request.sketch, request.groups).apply(tokens, request.shingle_size)
    return cluster_sketches(names.cast(pa.string()), np.diff(tokens.offsets), sketched, request)
