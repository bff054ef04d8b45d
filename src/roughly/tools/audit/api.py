"""`roughly.audit_qrels`, `audit_labels` and `audit_leaks`: documents read, joined exactly, and looked at."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from roughly.declarations import gather
from roughly.errors import InputError
from roughly.job.document_texts import texts_of
from roughly.job.session import check_memory
from roughly.meter import Listener, Meter
from roughly.settings import Resources
from roughly.sources import open_parts
from roughly.sources.part import Part
from roughly.tools.audit import label_conflicts as label_audit
from roughly.tools.audit import leaks as leak_audit
from roughly.tools.audit import qrels as qrel_audit
from roughly.tools.audit.findings import Audit
from roughly.tools.audit.request import LEAK_THRESHOLD, AuditRequest
from roughly.tools.labels import unknown_ids
from roughly.tools.truth.find import FoundPairs, find_pairs
from roughly.tools.truth.request import TruthRequest

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
COLUMNED = ("parquet", "jsonl", "csv", "table")


def audit_qrels(qrels: str | os.PathLike[str], documents: Paths, **options: Any) -> Audit:
    """Relevance judgments that disagree on documents whose resemblance reaches the threshold.

    `options` are those of `AuditRequest`: `threshold`, `shingle_size`, the columns and the format, `threads`, ….
    """
    return run_audit_qrels(Path(qrels), documents, gather(AuditRequest, options))


def run_audit_qrels(qrels: Path, documents: Paths, request: AuditRequest, listener: Listener | None = None) -> Audit:
    """The same with the request as an object."""
    held = qrel_audit.read_qrels(qrels)
    wanted = _truth("resemblance", request)
    with tempfile.TemporaryDirectory(prefix="roughly-audit-") as folder:
        parts = open_parts(_listed(documents), request.reading, Path(folder))
        found, pairs = _joined(parts, wanted, request.resources, Path(folder), listener)
    findings = qrel_audit.disagreements(held, pairs)
    strange = unknown_ids(pc.unique(pa.array(held.documents)), found.ids).to_pylist()
    if len(strange) == len(set(held.documents)):
        raise InputError(f"{qrels} judges none of the documents given; their ids do not go together")
    counts = {
        "documents": found.counted.documents, "duplicate_pairs": len(pairs), "judgments": len(held.topics),
        "topics": len(set(held.topics)), **_kinds(findings, ("differs", "grade", "unjudged")),
        "topics_touched": len(pc.unique(findings["topic"])),
    }  # fmt: skip
    return Audit("qrels", findings, counts, _told(wanted), strange, found.rejects)


def audit_labels(documents: Paths, label: str, **options: Any) -> Audit:
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
        raise InputError(f"no document has anything in the column {label!r}; name the column that holds the label")
    findings = label_audit.disagreements(found.ids, found.titles, pairs)
    touched = pc.unique(pa.chunked_array([*findings["left_id"].chunks, *findings["right_id"].chunks], pa.string()))
    counts = {
        "documents": found.counted.documents, "unlabelled": found.titles.null_count,
        "labels": len(pc.unique(found.titles.drop_null())), "duplicate_pairs": len(pairs),
        "documents_touched": len(touched), "labels_that_meet": label_audit.kinds_of(findings),
    }  # fmt: skip
    return Audit("labels", findings, counts, _told(wanted) | {"label": label}, [], found.rejects)


def audit_leaks(train: Paths, test: Paths, **options: Any) -> Audit:
    """Test documents that a training document holds, or that hold one, by a containment that reaches the threshold.

    `options` are those of `AuditRequest`; the threshold is 0.5 if not given. The shared passages of the first
    `passages` findings are looked up.
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
    return Audit("leaks", findings, counts, _told(wanted), [], found.rejects)


def _texts(
    parts: Sequence[Part], found: FoundPairs, pairs: pa.Table, main_text: bool, threads: int
) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of the documents of some pairs, test and training, by their own ids."""
    sides = []
    for column, prefix in (("left_id", leak_audit.TEST), ("right_id", leak_audit.TRAIN)):
        names = pc.unique(pairs[column].combine_chunks())
        at = pc.index_in(names, found.ids).to_numpy(zero_copy_only=False)
        places = list(zip(found.part[at].tolist(), found.row[at].tolist(), strict=True))
        texts = texts_of(parts, places, main_text, threads)
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


def _told(wanted: TruthRequest) -> dict[str, Any]:
    return {"measure": wanted.measure, "threshold": wanted.threshold, "shingle_size": wanted.shingle_size}


def _kinds(findings: pa.Table, names: Sequence[str]) -> Mapping[str, int]:
    counted = {row["values"]: row["counts"] for row in pc.value_counts(findings["kind"]).to_pylist()}
    return {name: counted.get(name, 0) for name in names}


def _listed(paths: Paths) -> list[str | Path]:
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return [os.fspath(path) for path in listed]
