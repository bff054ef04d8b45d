"""`roughly.evaluate`: what a run found, measured against labels.

*Found* are the pairs within a run's clusters, or the pairs that it lists; *true* are those of the labels. Pairs that
labels do not list are *different* by default (labels are complete), or ignored (`unlisted="ignore"`), which is the
default if labels also say which pairs are different: then only the judged pairs count.
"""

from __future__ import annotations

import json
import os
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from roughly.declarations import gather
from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.option_types import EvaluateRequestOptions
from roughly.python_words import for_python
from roughly.tools.evaluate.request import EvaluateRequest
from roughly.tools.evaluate.trec_runs import read_lists
from roughly.tools.labels import LabelClusters, LabelPairs, read_labels, read_table, refuse_unknown, unknown_ids
from roughly.tools.metrics.cluster_scores import score_clusters
from roughly.tools.metrics.measure import EvaluationFigures, intervals_of
from roughly.tools.metrics.overlap import Ints, Overlap, components_of, pair_numbers
from roughly.tools.metrics.pair_accuracy import recall_by_bin, score_documents, score_pairs
from roughly.tools.metrics.set_agreement import ListScores, score_lists
from roughly.tools.metrics.utility import Removal, score_removal


@dataclass(frozen=True)
class EvaluatedRun:
    """What was found, by number of document."""

    name: str
    ids: pa.Array
    groups: Ints | None  # None: only pairs are known
    kept: npt.NDArray[np.bool_] | None = None
    witness: Ints | None = None
    pairs: Ints | None = None
    ignored: int | None = None  # documents that the method could not process: without a word, or without a key


@dataclass(frozen=True)
class Evaluation:
    """The figures, and the numbers of documents."""

    figures: EvaluationFigures
    run: str
    labels: str
    by: str
    unlisted: str
    labelled: int  # documents that the labels name
    unknown: list[str] = field(default_factory=list)  # named by labels or lists, not in the run
    lists: ListScores | None = None  # sets by result list, if lists are given

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "run": self.run, "labels": self.labels, "by": self.by, "unlisted": self.unlisted,
            "labelled": self.labelled, "unknown": self.unknown, **self.figures.to_dict(),
            "lists": None if self.lists is None else self.lists.to_dict(),
        }  # fmt: skip


@for_python
def evaluate(
    run: str | os.PathLike[str], labels: str | os.PathLike[str], **options: Unpack[EvaluateRequestOptions]
) -> Evaluation:
    """Measure a run (its output folder, or a file of pairs or clusters) against labels (CSV or Parquet).

    `options` are those of `EvaluateRequest`: `by`, `unlisted`, `label_columns`, `same_column`, `ignore_unknown`, ….
    """
    return measure_run(Path(run), Path(labels), gather(EvaluateRequest, options))


def measure_run(run: Path, labels: Path, request: EvaluateRequest) -> Evaluation:
    """The same with the request as an object."""
    given = read_labels(
        labels,
        columns=request.label_columns,
        same_column=request.same_column,
        resemblance_column=request.resemblance_column,
    )
    found = read_run(run, request.by, given)
    strange = unknown_ids(given.ids, found.ids)
    if not request.ignore_unknown:
        refuse_unknown(labels, strange, found.name)
    known = pc.is_in(given.ids, found.ids)
    if not pc.any(known).as_py():
        raise InputError(f"{labels} names no document of {found.name}; their ids do not match")
    if isinstance(given, LabelPairs):
        judged = given.same is not None and not given.same.all()
        unlisted = request.unlisted or ("ignore" if judged else "different")
        figures = _by_pairs(found, given, unlisted, request)
    else:
        unlisted = request.unlisted or "different"
        figures = _by_clusters(found, given, unlisted, request)
    lists, more = (None, []) if request.lists is None else _by_list(found, given, unlisted, request)
    return Evaluation(
        replace(figures, ignored=found.ignored), str(run), str(labels), request.by, unlisted,
        int(pc.sum(known).as_py() or 0), list(dict.fromkeys([*strange.to_pylist(), *more])), lists,
    )  # fmt: skip


def read_run(path: Path, by: str, labels: LabelPairs | LabelClusters) -> EvaluatedRun:
    """What a run found. With only a file of pairs, the documents are those that it and the labels name."""
    if path.is_dir():
        documents = path / "documents.parquet"
        if not documents.is_file():
            raise InputMissing(f"{path} is not a run: it has no documents.parquet; name the output of roughly dedupe")
        table = read_table(documents)
        ids = table["doc_id"].combine_chunks()
        return EvaluatedRun(
            str(path), ids, _numbers(table["cluster_id"]), table["kept"].to_numpy(), _places(table["kept_id"], ids),
            _pair_places(read_table(path / "pairs.parquet"), ids) if by == "pairs" else None,
            _ignored(path / "run.json"),
        )  # fmt: skip
    listed = read_labels(path)
    if isinstance(listed, LabelPairs):
        if by == "clusters":
            raise InputError(f"{path} lists pairs and no clusters; measure them with --by pairs")
        ids = pc.unique(pa.concat_arrays([listed.ids, labels.ids]))
        return EvaluatedRun(str(path), ids, None, pairs=_index_pairs(listed.left, listed.right, ids))
    return EvaluatedRun(str(path), listed.ids, _numbers(listed.cluster))


def _ignored(path: Path) -> int | None:
    """Documents without a word or without a key, as a run counts them; None if it does not say."""
    if not path.is_file():
        return None
    counts = json.loads(path.read_text(encoding="utf-8")).get("counts", {})
    return counts["empty"] + counts["unsigned"] if {"empty", "unsigned"} <= set(counts) else None


def _by_pairs(found: EvaluatedRun, labels: LabelPairs, unlisted: str, request: EvaluateRequest) -> EvaluationFigures:
    documents = len(found.ids)
    left, right = (_place_of(side, found.ids) for side in (labels.left, labels.right))
    use = (left >= 0) & (right >= 0) & (left != right)
    listed = np.column_stack((left, right))[use]
    same = np.ones(len(listed), np.bool_) if labels.same is None else labels.same[use]
    true = listed[same]
    hit = _is_found(found, listed)
    if unlisted == "ignore":
        overlap = Overlap.of_pairs(documents, listed[hit], true)
    elif found.pairs is not None:
        overlap = Overlap.of_pairs(documents, found.pairs, true)
    else:
        assert found.groups is not None
        overlap = Overlap.of_groups_and_pairs(found.groups, true)
    bins = []
    if labels.resemblance is not None:
        bins = recall_by_bin(labels.resemblance[use][same], hit[same])
    complete = unlisted == "different" and found.groups is not None
    clusters = score_clusters(found.groups, components_of(documents, true)) if complete else None  # type: ignore[arg-type]
    removal = None
    if unlisted == "different" and found.kept is not None and found.witness is not None:
        removal = score_removal(found.kept, found.witness, pairs=true, cost=request.cost)
    return _figures(overlap, clusters, bins, removal, request, with_sets=False)


def _by_clusters(
    found: EvaluatedRun, labels: LabelClusters, unlisted: str, request: EvaluateRequest
) -> EvaluationFigures:
    sets = _labelled_sets(labels, found.ids)
    use = _used(labels, found.ids, unlisted)
    if found.groups is None:
        assert found.pairs is not None
        number = np.cumsum(use) - 1
        inside = found.pairs[use[found.pairs].all(axis=1)]
        overlap = Overlap.of_pairs_and_groups(number[inside], sets[use])
        return _figures(overlap, None, [], None, request, with_sets=False)
    if found.pairs is not None:
        number = np.cumsum(use) - 1
        inside = found.pairs[use[found.pairs].all(axis=1)]
        overlap = Overlap.of_pairs_and_groups(number[inside], sets[use])
    else:
        overlap = Overlap.of_groups(found.groups[use], sets[use])
    removal = None
    if unlisted == "different" and found.kept is not None and found.witness is not None:
        removal = score_removal(found.kept, found.witness, sets=sets, cost=request.cost)
    clusters = score_clusters(found.groups[use], sets[use])
    return _figures(overlap, clusters, [], removal, request, with_sets=found.pairs is None)


def _by_list(
    found: EvaluatedRun, labels: LabelPairs | LabelClusters, unlisted: str, request: EvaluateRequest
) -> tuple[ListScores, list[str]]:
    """The agreement on sets in each result list, and documents of the lists that only they name."""
    path, documents = Path(str(request.lists)), len(found.ids)
    lists = read_lists(path, request.list_length)
    named = pc.unique(pa.array([name for own in lists.values() for name in own], found.ids.type))
    strange = unknown_ids(named, found.ids)
    if not request.ignore_unknown:
        refuse_unknown(path, strange, found.name)
    if isinstance(labels, LabelPairs):
        same = slice(None) if labels.same is None else labels.same
        pairs = _index_pairs(labels.left, labels.right, found.ids)[same]
        true = components_of(documents, pairs[(pairs >= 0).all(axis=1)])
    else:
        true = _labelled_sets(labels, found.ids)
    use = _used(labels, found.ids, unlisted)
    groups = found.groups
    if request.by == "pairs" and found.pairs is not None:
        groups = components_of(documents, found.pairs)
    assert groups is not None  # pairs are measured by pairs
    places = {name: _place_of(pa.array(own, found.ids.type), found.ids) for name, own in lists.items()}
    kept = {name: own[(own >= 0) & use[own]] for name, own in places.items()}
    return score_lists(kept, groups, true), strange.to_pylist()


def _figures(
    overlap: Overlap,
    clusters: Any,
    bins: list[Any],
    removal: Removal | None,
    request: EvaluateRequest,
    *,
    with_sets: bool,
) -> EvaluationFigures:
    intervals = intervals_of(
        overlap, clusters=with_sets, draws=request.draws, level=request.level, seed=request.seed
    )  # fmt: skip
    return EvaluationFigures(
        len(overlap), score_pairs(overlap), score_documents(overlap), clusters, bins, removal, intervals=intervals
    )


def _labelled_sets(labels: LabelClusters, ids: pa.Array) -> Ints:
    """The true set of each document; those without a label are each on their own."""
    place = _place_of(labels.ids, ids)
    sets = -1 - np.arange(len(ids))
    sets[place[place >= 0]] = _numbers(labels.cluster)[place >= 0]
    return sets


def _used(labels: LabelPairs | LabelClusters, ids: pa.Array, unlisted: str) -> npt.NDArray[np.bool_]:
    """Which documents count."""
    known = pc.is_in(ids, labels.ids).to_numpy(zero_copy_only=False)
    return known if unlisted == "ignore" else np.ones(len(ids), np.bool_)


def _is_found(found: EvaluatedRun, pairs: Ints) -> npt.NDArray[np.bool_]:
    if found.pairs is not None:
        documents = len(found.ids)
        codes = pairs.min(axis=1) * documents + pairs.max(axis=1)
        return np.isin(codes, pair_numbers(found.pairs, documents))
    assert found.groups is not None
    together: npt.NDArray[np.bool_] = found.groups[pairs[:, 0]] == found.groups[pairs[:, 1]]
    return together


def _numbers(column: Any) -> Ints:
    codes = pc.dictionary_encode(column)
    chunks = codes.chunks if isinstance(codes, pa.ChunkedArray) else [codes]
    if len(chunks) > 1:
        codes = pc.dictionary_encode(pa.concat_arrays([chunk.cast(pa.string()) for chunk in chunks]))
        chunks = [codes]
    found: Ints = chunks[0].indices.to_numpy(zero_copy_only=False).astype(np.int64) if chunks else np.empty(0, np.int64)
    return found


def _place_of(names: pa.Array, ids: pa.Array) -> Ints:
    """The number of each named document; −1 if there is none."""
    places = pc.fill_null(pc.index_in(names, ids), -1)
    found: Ints = places.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _places(column: Any, ids: pa.Array) -> Ints:
    return _place_of(column.combine_chunks(), ids)


def _pair_places(table: pa.Table, ids: pa.Array) -> Ints:
    return _index_pairs(table["left_id"].combine_chunks(), table["right_id"].combine_chunks(), ids)


def _index_pairs(left: pa.Array, right: pa.Array, ids: pa.Array) -> Ints:
    return np.column_stack((_place_of(left, ids), _place_of(right, ids)))
