"""`roughly.cluster_features`: clusters of any objects by features that the caller has extracted (Broder 1997, §6)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from roughly import checks
from roughly.declarations import gather
from roughly.errors import InputError, SettingsError
from roughly.features.custom import hashed_batches, read_features
from roughly.features.sampling import Sampling
from roughly.option_types import FeatureRequestOptions
from roughly.python_words import for_python
from roughly.sources.feature_lists import is_list
from roughly.text.canonical import Tokens
from roughly.tools.recluster.clustering import Clustering, cluster_sketches, spool_for
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
    names: list[pa.Array] = []

    def lists() -> Iterator[pa.Array]:
        kinds: set[str] = set()
        for file in files:
            for ids, own in read_features(file, request.id_column, request.features_column):
                names.append(ids)
                kinds |= {str(own.type.value_type)} - {"null"} if is_list(own.type) else set()
                if len(kinds) > 1:
                    raise InputError(f"the files have features of different types: {' and '.join(sorted(kinds))}")
                yield own

    return _cluster(names, chain.from_iterable(map(hashed_batches, lists())), request)


def cluster_objects(ids: Any, features: Any, request: FeatureRequest) -> Clustering:
    """Objects by ids and features in memory."""
    if not isinstance(ids, Iterable) or not isinstance(features, Iterable | pa.Array | pa.ChunkedArray):
        raise SettingsError("ids and features are lists: one id and one list of features per object")
    try:
        names = ids if isinstance(ids, pa.Array) else pa.array([str(name) for name in ids], pa.string())
    except UnicodeEncodeError as problem:
        raise InputError(f"an id has half of a character (a surrogate), which no file can hold: {problem}") from problem
    return _cluster([names.cast(pa.string())], hashed_batches(features), request)


def _cluster(names: list[pa.Array], hashed: Iterable[Tokens], request: FeatureRequest) -> Clustering:
    """Cluster objects; `names` is complete once all of them are hashed."""
    checks.refuse(checks.shingle_size(request.shingle_size))
    sampling = Sampling.parse(request.sketch, request.groups)
    spool = spool_for(request.resources)
    lengths = [np.empty(0, np.int64)]
    for tokens in hashed:
        lengths.append(np.diff(tokens.offsets))
        spool.add(sampling.apply(tokens, request.shingle_size))
    ids, objects = pa.concat_arrays(names or [pa.array([], pa.string())]), np.concatenate(lengths)
    if len(ids) != len(objects):
        raise SettingsError(f"{len(ids):,} ids and features of {len(objects):,} objects do not match")
    return cluster_sketches(ids, objects, spool.sketch(), request)
