"""Truth equals brute force, for every measure, whatever the threads and the memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from truth_twins import Pairs, brute_cosine, brute_sets

import roughly
from roughly import lexicon as lexicons
from roughly.errors import DuplicateIds, InputMissing, MemoryTooSmall, OutputExists, SettingsError, TooManyPairs
from roughly.text.canonical import tokenise, words
from roughly.tools.truth import feature_files as stored
from roughly.tools.truth.api import truth
from roughly.tools.truth.vector_join import idf_of


def table_of(texts: dict[str, str]) -> pa.Table:
    return pa.table({"id": list(texts), "text": pa.array(list(texts.values()), pa.large_string())})


def pairs_of(table: pa.Table) -> Pairs:
    columns = [table[name].to_pylist() for name in table.column_names]
    return {(row[0], row[1]): tuple(row[2:]) for row in zip(*columns, strict=True)}


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.8, 1.0])
def test_sets_equal_brute_force(collection: dict[str, str], measure: str, threshold: float) -> None:
    for size in (1, 5):
        found = truth(table_of(collection), measure=measure, threshold=threshold, shingle_size=size)
        expected = brute_sets(collection, measure, threshold, size)
        assert pairs_of(found.table) == expected and found.counts["pairs"] == len(expected) > 0


@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.99])
@pytest.mark.parametrize("weights", ["tf", "binary"])
def test_cosine_equals_brute_force(collection: dict[str, str], threshold: float, weights: str) -> None:
    found = truth(table_of(collection), measure="cosine", threshold=threshold, weights=weights)
    expected = brute_cosine(collection, threshold, None, weights == "binary")
    assert pairs_of(found.table) == expected  # sums of whole numbers: the same to the last bit


@pytest.mark.slow
def test_cosine_weighed_by_a_lexicon(collection: dict[str, str], tmp_path: Path) -> None:
    held = lexicons.build(table_of(dict(list(collection.items())[:200])), threads=1)
    vocabulary = sorted({word for text in collection.values() for word in words(text)})
    idf = idf_of(held, tokenise(pa.array(vocabulary, pa.large_string())).hashes)
    for threshold in (0.5, 0.9):
        found = pairs_of(truth(table_of(collection), measure="cosine", threshold=threshold, lexicon=held).table)
        expected = brute_cosine(collection, threshold, dict(zip(vocabulary, idf.tolist(), strict=True)), False)
        border = {pair for pair, (score,) in expected.items() if score < threshold + 1e-12}
        assert set(expected) - border <= set(found) <= set(expected) | border
        assert all(score == pytest.approx(expected[pair][0], abs=1e-12) for pair, (score,) in found.items())


@pytest.mark.parametrize("measure", ["resemblance", "containment", "cosine"])
def test_the_same_bytes_for_any_threads_memory_and_order(
    collection: dict[str, str], measure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = set()
    for threads in (1, 2, 5):
        out = tmp_path / f"{threads}.parquet"
        truth(table_of(collection), measure=measure, threshold=0.6, threads=threads, output=out)
        digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    turned = dict(list(collection.items())[::-1])
    truth(table_of(turned), measure=measure, threshold=0.6, batch_size=7, output=tmp_path / "turned.parquet")
    digests.add(hashlib.sha256((tmp_path / "turned.parquet").read_bytes()).hexdigest())
    finish = stored.FeatureFiles.finish
    monkeypatch.setattr(stored.FeatureFiles, "finish", lambda self, room: finish(self, 0))  # nothing fits
    spilt = truth(
        table_of(collection), measure=measure, threshold=0.6, memory="640MB", output=tmp_path / "spilt.parquet"
    )
    digests.add(hashlib.sha256((tmp_path / "spilt.parquet").read_bytes()).hexdigest())
    assert len(digests) == 1 and spilt.counts["pairs"] > 100


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
def test_values_are_taken_by_halves_where_memory_is_short(
    collection: dict[str, str], measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from roughly.tools.truth import set_join as sets

    whole = truth(table_of(collection), measure=measure, threshold=0.5)
    grouped, seen = sets._grouped, []

    def scarce(share: sets._Share, *rest: object) -> object:
        if share.bits < 3 - share.number % 2:
            raise MemoryTooSmall("scarce")
        seen.append((share.number, share.bits))
        return grouped(share, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(sets, "_grouped", scarce)
    assert truth(table_of(collection), measure=measure, threshold=0.5).table.equals(whole.table)
    assert sum(2.0**-bits for _, bits in seen) == 1.0 and len(seen) == 6
    monkeypatch.setattr(sets, "_MOST_BITS", 1)
    with pytest.raises(MemoryTooSmall, match="scarce"):
        truth(table_of(collection), measure=measure, threshold=0.5)


def test_blocks_of_vectors(collection: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks, indexed one after the other, find what one block finds."""
    from roughly.tools.truth import vector_join as vectors

    whole = truth(table_of(collection), measure="cosine", threshold=0.5)
    cut = vectors.blocks
    monkeypatch.setattr(vectors, "blocks", lambda weight, room: cut(weight, 20_000))
    assert truth(table_of(collection), measure="cosine", threshold=0.5).table.equals(whole.table)


def test_no_pair_of_a_run_is_missing(collection: dict[str, str]) -> None:
    run = roughly.dedupe(table_of(collection), threshold=0.7, pairs="all")
    found = pairs_of(truth(table_of(collection), threshold=0.7).table)
    listed = zip(*(run.pairs[name].to_pylist() for name in ("left_id", "right_id")), strict=True)
    evidence = {tuple(sorted(pair)) for pair in listed}
    assert evidence <= set(found)


def test_empty_documents(collection: dict[str, str]) -> None:
    texts = {"a": "", "b": " .", "c": "one two three", "d": "one two three", "e": "!"}
    whole, some = truth(table_of(texts)), truth(table_of(texts), empty=False)
    assert set(pairs_of(whole.table)) == {("a", "b"), ("a", "e"), ("b", "e"), ("c", "d")}
    assert set(pairs_of(some.table)) == {("c", "d")} and some.counts["empty"] == 3
    nothing = truth(table_of({"a": "one", "b": "two"}))
    assert nothing.table.num_rows == 0 and nothing.table.column_names[:2] == ["left_id", "right_id"]


def test_files_and_what_is_refused(tmp_path: Path, collection: dict[str, str]) -> None:
    pq.write_table(table_of(collection), tmp_path / "in.parquet")
    out = tmp_path / "deep" / "pairs.csv"
    found = roughly.truth(tmp_path / "in.parquet", threshold=0.9, output=out)
    lines = out.read_text().splitlines()
    assert lines[0].replace('"', "") == "left_id,right_id,resemblance,containment,contained_in"
    assert len(lines) == 1 + found.table.num_rows
    with pytest.raises(OutputExists, match="add overwrite=True"):
        roughly.truth(tmp_path / "in.parquet", output=out)
    with pytest.raises(SettingsError, match=r"must end in \.parquet or \.csv"):
        roughly.truth(tmp_path / "in.parquet", output=tmp_path / "pairs.txt")
    with pytest.raises(SettingsError, match="measure must be one of resemblance, containment, cosine"):
        roughly.truth(table_of(collection), measure="likeness")
    with pytest.raises(SettingsError, match="a lexicon weighs the terms of measure='cosine'"):
        roughly.truth(table_of(collection), lexicon=lexicons.default())
    with pytest.raises(MemoryTooSmall, match="640MB is the minimum"):
        roughly.truth(table_of(collection), memory="100MB")
    with pytest.raises(TooManyPairs, match="more than 5 pairs"):
        roughly.truth(table_of(collection), pairs_limit=5)
    with pytest.raises(DuplicateIds, match="'a' for one"):
        roughly.truth(pa.table({"id": ["a", "a"], "text": ["x", "y"]}))
    with pytest.raises(InputMissing, match="nothing to join"):
        roughly.truth(pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())}))


@pytest.mark.corpora
@pytest.mark.parametrize(("measure", "threshold"), [("resemblance", 0.5), ("containment", 0.7), ("cosine", 0.8)])
@pytest.mark.slow
def test_five_thousand_real_documents(corpora: Path, measure: str, threshold: float) -> None:
    """Package descriptions: sister packages share most of their text, and some hold the text of others."""
    table = pq.read_table(corpora / "package_descriptions_en.parquet", columns=["id", "text"]).slice(0, 5000)
    texts = dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
    found = truth(table, measure=measure, threshold=threshold)
    left, right, scores = _dense(list(texts.values()), measure, threshold)
    names = np.array(list(texts))
    expected = {tuple(sorted((names[a], names[b]))): s for a, b, s in zip(left, right, scores, strict=True)}
    column = {"resemblance": 2, "cosine": 2}.get(measure)
    seen = {pair: values[0] if column else max(values[1], values[2]) for pair, values in pairs_of(found.table).items()}
    assert seen == pytest.approx(expected, abs=1e-12) and len(seen) > 1_000


def _dense(texts: list[str], measure: str, threshold: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs by one sparse product of the whole matrix with itself: no filter of any kind."""
    from scipy.sparse import csr_matrix

    numbers: dict[object, int] = {}
    indices, data, ends = [], [], [0]
    for text in texts:
        listed = words(text)
        size = 1 if measure == "cosine" else min(5, max(1, len(listed)))
        counts: dict[int, int] = {}
        for i in range(len(listed) - size + 1):
            number = numbers.setdefault(tuple(listed[i : i + size]), len(numbers))
            counts[number] = counts.get(number, 0) + 1
        indices += list(counts)
        data += list(counts.values()) if measure == "cosine" else [1] * len(counts)
        ends.append(len(indices))
    matrix = csr_matrix((np.array(data, np.float64), indices, ends), shape=(len(texts), len(numbers)))
    norms = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    parts = []
    for first in range(0, len(texts), 500):
        shared = (matrix[first : first + 500] @ matrix.T).toarray()
        own = norms[first : first + 500, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            if measure == "resemblance":
                score = shared / (own + norms - shared)
            elif measure == "containment":
                score = shared / np.minimum(own, norms)
            else:
                score = np.minimum(1.0, shared / np.sqrt(own * norms))
        both_empty = (own == 0) & (norms == 0)
        score = np.where(both_empty, 1.0, np.nan_to_num(score))
        rows, columns = np.nonzero(score >= threshold)
        use = columns > rows + first
        parts.append((rows[use] + first, columns[use], score[rows[use], columns[use]]))
    left, right, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    return left, right, scores
