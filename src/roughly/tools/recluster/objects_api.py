"""`roughly.cluster_features`: clusters of any objects by features that the caller has extracted (Broder 1997, §6)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from roughly import checks
from roughly.declarations import gather
from roughly.errors import SettingsError
from roughly.features.custom import hash_features, is_parquet, joined_lists, read_features
from roughly.features.metadata import values_in
from roughly.features.sampling import Sampling
from roughly.option_types import FeatureRequestOptions
from roughly.python_words import for_python
from roughly.tools.recluster.clustering import Clustering, check_room, cluster_sketches
from roughly.tools.recluster.request import FeatureRequest


@for_python
def cluster_features(ids: Any, features: Any = None, **options: Unpack[FeatureRequestOptions]) -> Clustering:
    """Find the objects whose sets of features are roughly the same; the one with most features is kept.

    `features` has a list of numbers, strings, bytes or tuples for each id, or is an Arrow list column; instead of both,
    `ids` may be a Parquet file or JSON lines with these columns. With a `shingle_size` above 1, the order of the
    features counts. `options` are those of `FeatureRequest`.

    >>> found = cluster_features(["a", "b", "c"], [[1, 2, 3, 4], [1, 2, 3, 5], ["x", "y"]], threshold=0.6)
    >>> found.clusters
    {'a': ['a', 'b']}
    """
    request = gather(FeatureRequest, options)
    if features is not None:
        return cluster_objects(ids, features, request)
    if not isinstance(ids, str | os.PathLike):
        raise SettingsError("give ids and features, or the path of a Parquet file or JSON lines with both")
    return cluster_feature_files([Path(ids)], request)


def cluster_feature_files(files: Sequence[Path], request: FeatureRequest) -> Clustering:
    """The objects of several files together."""
    check_room(sum(values_in(file) for file in files if is_parquet(file)), request.resources)
    read = [read_features(file, request.id_column, request.features_column) for file in files]
    return cluster_objects(pa.concat_arrays([own for own, _ in read]), joined_lists([own for _, own in read]), request)


def cluster_objects(ids: Any, features: Any, request: FeatureRequest) -> Clustering:
    """Objects by ids and features in memory."""
    checks.refuse(checks.shingle_size(request.shingle_size))
    tokens = hash_features(features)
    check_room(len(tokens.hashes), request.resources)
    names = ids if isinstance(ids, pa.Array) else pa.array([str(name) for name in ids], pa.string())
    if len(names) != len(tokens):
        raise SettingsError(f"{len(names):,} ids and features of {len(tokens):,} objects do not match")
    sketched = Sampling.parse(request.sketch, request.groups).apply(tokens, request.shingle_size)
    return cluster_sketches(names.cast(pa.string()), np.diff(tokens.offsets), sketched, request)
