"""`roughly.audit_qrels`, `audit_labels` and `audit_leaks`: read documents, join them exactly, and report conflicts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from roughly.declarations import gather
from roughly.errors import InputError, SettingsError
from roughly.job.document_texts import texts_of
from roughly.job.session import check_memory
from roughly.meter import Listener, Meter
from roughly.option_types import AuditRequestOptions
from roughly.python_words import for_python
from roughly.settings import Resources
from roughly.sources import open_parts
from roughly.sources.part import Part
from roughly.text.markup import page_text
from roughly.tools.audit import label_conflicts as label_audit
from roughly.tools.audit import leaks as leak_audit
from roughly.tools.audit import qrels as qrel_audit
from roughly.tools.audit.findings import Audit
from roughly.tools.audit.grouped_pairs import grouped_pairs
from roughly.tools.audit.request import LEAK_THRESHOLD, AuditRequest
from roughly.tools.labels import unknown_ids
from roughly.tools.truth.find import FoundPairs, find_pairs
from roughly.tools.truth.request import TruthRequest

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
ONE_OF = "give either the documents, which are compared exactly, or a run whose groups are used (--documents or --run)"
COLUMNED = ("parquet", "jsonl", "csv", "table")


@for_python
def audit_qrels(
    qrels: str | os.PathLike[str],
    documents: Paths | None = None,
    *,
    run: str | os.PathLike[str] | None = None,
    **options: Unpack[AuditRequestOptions],
) -> Audit:
    """Relevance judgments that disagree on documents whose resemblance reaches the threshold.

    `options` are those of `AuditRequest`: `threshold`, `shingle_size`, the columns and the format, `threads`, …. With
    `run` instead of `documents`, the output of `roughly.dedupe` with any method or a file of pairs or clusters,
    documents that it puts together are duplicates.
    """
    if (documents is None) == (run is None):
        raise SettingsError(ONE_OF)
    if run is not None:
        return run_audit_groups(Path(qrels), Path(run), gather(AuditRequest, options))
    return run_audit_qrels(Path(qrels), documents or (), gather(AuditRequest, options))


def run_audit_qrels(qrels: Path, documents: Paths, request: AuditRequest, listener: Listener | None = None) -> Audit:
    """The same with the request as an object."""
    judgments = qrel_audit.read_qrels(qrels)
    wanted = _truth("resemblance", request)
    with tempfile.TemporaryDirectory(prefix="roughly-audit-") as folder:
        parts = open_parts(_listed(documents), request.reading, Path(folder))
        found, pairs = _joined(parts, wanted, request.resources, Path(folder), listener)
    findings, counts, strange = _judged(qrels, judgments, found.ids, pairs)
    counts["documents"] = found.counted.documents  # those without words too
    return Audit("qrels", findings, counts, _parameters(wanted), strange, found.rejects)


def run_audit_groups(qrels: Path, run: Path, request: AuditRequest) -> Audit:
    """Judgments that disagree on documents that a run puts together, whatever its method."""
    judgments = qrel_audit.read_qrels(qrels)
    ids, pairs = grouped_pairs(run, pa.array(judgments.documents, pa.string()), request.pairs_limit)
    findings, counts, strange = _judged(qrels, judgments, ids, pairs)
    return Audit("qrels", findings, counts, {"run": str(run)}, strange)


def _judged(
    qrels: Path, judgments: qrel_audit.Qrels, ids: pa.Array, pairs: pa.Table
) -> tuple[pa.Table, dict[str, Any], list[str]]:
    """The findings, their counts, and the documents that are judged and not there."""
    findings = qrel_audit.disagreements(judgments, pairs)
    strange = unknown_ids(pc.unique(pa.array(judgments.documents)), ids).to_pylist()
    if len(strange) == len(set(judgments.documents)):
        raise InputError(f"{qrels} judges none of the documents given; their ids do not match")
    counts = {
        "documents": len(ids), "duplicate_pairs": len(pairs), "judgments": len(judgments.topics),
        "topics": len(set(judgments.topics)), **_kinds(findings, ("differs", "grade", "unjudged")),
        "topics_touched": len(pc.unique(findings["topic"])),
    }  # fmt: skip
    return findings, counts, strange


@for_python
def audit_labels(documents: Paths, label: str, **options: Unpack[AuditRequestOptions]) -> Audit:
    """Documents whose resemblance reaches the threshold and whose labels, in the column `label`, differ.

    `options` are those of `AuditRequest`.
    """
    return run_audit_labels(documents, label, gather(AuditRequest, options))


def run_audit_labels(documents: Paths, label: str, request: AuditRequest, listener: Listener | None = None) -> Audit:
    """The same with the request as an object."""
    wanted = _truth("resemblance", request)
    with tempfile.TemporaryDirectory(prefix="roughly-audit-") as folder:
        # the label is read as a title, which may be missing; a source would be filled in
        parts = open_parts(_listed(documents), replace(request.reading, title_column=label), Path(folder))
        for part in parts:
            if part.format not in COLUMNED:
                known = ", ".join(COLUMNED)
                raise InputError(f"{part.name} is {part.format}, which has no columns; labels need {known}")
        found, pairs = _joined(parts, wanted, request.resources, Path(folder), listener)
    if found.titles.null_count == len(found.titles):
        raise InputError(f"no document has a value in the column {label!r}; name the column of the label")
    findings = label_audit.disagreements(found.ids, found.titles, pairs)
    touched = pc.unique(pa.chunked_array([*findings["left_id"].chunks, *findings["right_id"].chunks], pa.string()))
    counts = {
        "documents": found.counted.documents, "unlabelled": found.titles.null_count,
        "labels": len(pc.unique(found.titles.drop_null())), "duplicate_pairs": len(pairs),
        "documents_touched": len(touched), "labels_that_meet": label_audit.kinds_of(findings),
    }  # fmt: skip
    return Audit("labels", findings, counts, _parameters(wanted) | {"label": label}, [], found.rejects)


@for_python
def audit_leaks(train: Paths, test: Paths, **options: Unpack[AuditRequestOptions]) -> Audit:
    """Test documents that a training document contains, or that contain one, with a containment that reaches the
    threshold.

    `options` are those of `AuditRequest`; the threshold is 0.5 if not given. The shared passages of the first
    `passages` findings are included.
    """
    return run_audit_leaks(train, test, gather(AuditRequest, {"threshold": LEAK_THRESHOLD, **options}))


def run_audit_leaks(train: Paths, test: Paths, request: AuditRequest, listener: Listener | None = None) -> Audit:
    """The same with the request as an object."""
    wanted = _truth("containment", request)
    with tempfile.TemporaryDirectory(prefix="roughly-audit-") as folder:
        options = request.reading
        (Path(folder) / "test").mkdir()
        learnt = open_parts(_listed(train), options, Path(folder))
        tried = open_parts(_listed(test), options, Path(folder) / "test")
        sides = [False] * len(learnt) + [True] * len(tried)
        resources = request.resources
        found, pairs = _joined([*learnt, *tried], wanted, resources, Path(folder), listener, sides)
        findings = leak_audit.leaks(pairs, request.threshold)
        if request.passages:
            some = pairs.slice(0, request.passages)
            texts = _texts([*learnt, *tried], found, some, request.main_text, resources.threads)
            findings = leak_audit.with_passages(findings, *texts, request.shingle_size)
    whole = findings.filter(pc.field("kind") == "whole")
    in_test = int(sum(sides[part] for part in found.part.tolist()))
    counts = {
        "train_documents": found.counted.documents - in_test, "test_documents": in_test,
        **_kinds(findings, ("whole", "part")), "test_documents_whole": len(pc.unique(whole["test_id"])),
        "test_documents_touched": len(pc.unique(findings["test_id"])),
    }  # fmt: skip
    return Audit("leaks", findings, counts, _parameters(wanted), [], found.rejects)


def _texts(
    parts: Sequence[Part], found: FoundPairs, pairs: pa.Table, main_text: bool, threads: int
) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of the documents of some pairs, test and training, by their own ids."""
    sides = []
    for column, prefix in (("left_id", leak_audit.TEST), ("right_id", leak_audit.TRAIN)):
        names = pc.unique(pairs[column].combine_chunks())
        at = pc.index_in(names, found.ids).to_numpy(zero_copy_only=False)
        places = list(zip(found.part[at].tolist(), found.row[at].tolist(), strict=True))
        texts = texts_of(parts, places, page_text(main_text), threads)
        sides.append(
            {name.removeprefix(prefix): texts[place] for name, place in zip(names.to_pylist(), places, strict=True)}
        )
    return sides[0], sides[1]


def _joined(
    parts: Sequence[Part],
    wanted: TruthRequest,
    resources: Resources,
    folder: Path,
    listener: Listener | None,
    sides: Sequence[bool] | None = None,
) -> tuple[FoundPairs, pa.Table]:
    tables: list[pa.Table] = []
    found = find_pairs(
        parts, wanted, resources=resources, scratch=folder, meter=Meter(listener), take=tables.append, sides=sides,
        prefixes=(leak_audit.TRAIN, leak_audit.TEST),
    )  # fmt: skip
    return found, pa.concat_tables(tables).combine_chunks()


def _truth(measure: str, request: AuditRequest) -> TruthRequest:
    check_memory(request.resources)
    return TruthRequest(
        measure=measure,
        threshold=request.threshold,
        shingle_size=request.shingle_size,
        main_text=request.main_text,
        empty=False,
        pairs_limit=request.pairs_limit,
    )


def _parameters(wanted: TruthRequest) -> dict[str, Any]:
    return {"measure": wanted.measure, "threshold": wanted.threshold, "shingle_size": wanted.shingle_size}


def _kinds(findings: pa.Table, names: Sequence[str]) -> Mapping[str, int]:
    counted = {row["values"]: row["counts"] for row in pc.value_counts(findings["kind"]).to_pylist()}
    return {name: counted.get(name, 0) for name in names}


def _listed(paths: Paths) -> list[str | Path]:
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return [os.fspath(path) for path in listed]
