"""Tokens on disk: written by several threads, read back as sets and kinds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from roughly.engines.local.token_store import TokenStore, TokenWriter, kinds_of
from roughly.features.shingle_sets import shingle_sets
from roughly.text.canonical import Tokens
from roughly.verify import KINDS, kinds_of_tokens


@pytest.mark.parametrize("files", [1, 3])
def test_what_several_threads_write_is_read_back(files: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    documents = [rng.integers(0, 2**64, n, np.uint64) for n in rng.integers(0, 300, 200)]
    documents[7] = np.delete(documents[6], 3) if len(documents[6]) > 50 else documents[6]

    def tokens(docs: np.ndarray) -> Tokens:
        parts = [documents[d] for d in docs]
        return Tokens(np.concatenate(parts), np.r_[0, np.cumsum([len(part) for part in parts])].astype(np.int64))

    batches = np.split(rng.permutation(200), 20)
    paths = [tmp_path / f"tokens-{number}.bin" for number in range(files)]
    with TokenWriter(paths, 200) as writer, ThreadPoolExecutor(4) as pool:
        added = list(pool.map(lambda docs: writer.add(docs, tokens(docs)), batches))
    assert sum(count for count, _ in added) == 200
    assert sum(size for _, size in added) == sum(path.stat().st_size for path in paths) == 8 * sum(map(len, documents))

    store = TokenStore(paths, writer.starts, writer.lengths, shingle_size=4, threads=3)
    asked = rng.integers(0, 200, 90)
    found, wanted = store.load(asked), shingle_sets(tokens(asked), 4)
    assert found.values.tolist() == wanted.values.tolist() and found.offsets.tolist() == wanted.offsets.tolist()
    pairs = np.array([[7, 6, 0, 0, 0], [7, 7, 0, 0, 0], [9, 3, 0, 0, 0]], np.int32)
    kinds = kinds_of(store, pairs).to_pylist()
    assert kinds == [kinds_of_tokens(documents[a], documents[b]) for a, b in pairs[:, :2]] and set(kinds) <= set(KINDS)
    assert len(kinds_of(store, pairs[:0])) == 0
    store.close()
