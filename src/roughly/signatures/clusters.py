"""Clusters from signatures alone: documents connected by signatures that their method calls those of duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from roughly.methods.method import Keys
from roughly.signatures.dates import days_of
from roughly.signatures.file import Signatures, read_signatures
from roughly.signatures.grouping import Facts, connect, group, key_rows

CLUSTERED = pa.schema(
    [
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("cluster_id", pa.string(), nullable=False),  # the least id in the cluster
    ]
)


def cluster(paths: str | Path | Sequence[str | Path]) -> pa.Table:
    """Every document of files of signatures with the cluster that it stands in, in the order of the ids."""
    return cluster_signatures(read_signatures([paths] if isinstance(paths, str | Path) else paths))


def cluster_signatures(signatures: Signatures) -> pa.Table:
    """The same for signatures in memory.

    Where pairs are to be judged on texts, which are not at hand, sharing a key is all there is to go by: the clusters
    are then those of candidates.
    """
    judge = signatures.made.judge
    facts = Facts(signatures.tokens, days_of(signatures.dates), signatures.sketch)
    if is_unverified(signatures):
        found = connect(_chains(signatures.keys), len(signatures))
    else:
        found = group(signatures.keys, judge, facts)
    equal = connect(_chains(Keys(signatures.equal.reshape(-1, 1))), len(signatures))
    numbers = np.arange(len(signatures))
    both = connect(np.concatenate([np.stack([numbers, found], 1), np.stack([numbers, equal], 1)]), len(signatures))
    ids = pa.array(signatures.ids, pa.string())
    return pa.Table.from_arrays([ids, ids.take(pa.array(both))], schema=CLUSTERED)


def is_unverified(signatures: Signatures) -> bool:
    """Whether the method would verify pairs on texts."""
    return signatures.made.judge.on == "text"


def _chains(keys: Keys) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Links from each document of a key to the next."""
    rows = key_rows(keys)
    order = np.lexsort((rows.documents, rows.values, rows.bands))
    bands, values, documents = rows.bands[order], rows.values[order], rows.documents[order]
    same = (bands[1:] == bands[:-1]) & (values[1:] == values[:-1])
    links: np.ndarray[tuple[int, int], np.dtype[np.int64]] = np.stack([documents[:-1], documents[1:]], axis=1)[same]
    return links
