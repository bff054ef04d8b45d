"""`roughly.audit_qrels`, `audit_labels` and `audit_leaks`: documents read, joined exactly, and looked at."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from roughly import checks
from roughly.errors import InputError
from roughly.job.document_texts import texts_of
from roughly.job.session import check_memory
from roughly.meter import Listener, Meter
from roughly.settings import ReadOptions, Resources, parse_size
from roughly.sources import open_parts
from roughly.sources.part import Part
from roughly.tools.audit import label_conflicts as label_audit
from roughly.tools.audit import leaks as leak_audit
from roughly.tools.audit import qrels as qrel_audit
from roughly.tools.audit.findings import Audit
from roughly.tools.labels import unknown_ids
from roughly.tools.truth.find import FoundPairs, find_pairs
from roughly.tools.truth.request import PAIRS_LIMIT, TruthRequest

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
PASSAGES = 1000
COLUMNED = ("parquet", "jsonl", "csv", "table")


def audit_qrels(
    qrels: str | os.PathLike[str],
    documents: Paths,
    *,
    threshold: float = 0.9,
    shingle_size: int = 5,
    main_text: bool = False,
    pairs_limit: int = PAIRS_LIMIT,
    threads: int = 0,
    memory: str | int = "4GB",
    listener: Listener | None = None,
    **reading: Any,
) -> Audit:
    """Relevance judgments that disagree on documents whose resemblance reaches the threshold."""
    held = qrel_audit.read_qrels(Path(qrels))
    asked = _asked("resemblance", threshold, shingle_size, main_text, pairs_limit)
    with tempfile.TemporaryDirectory(prefix="roughly-audit-") as folder:
        parts = open_parts(_listed(documents), ReadOptions(**reading), Path(folder))
        found, pairs = _joined(parts, asked, _resources(threads, memory), Path(folder), listener)
    findings = qrel_audit.disagreements(held, pairs)
    strange = unknown_ids(pc.unique(pa.array(held.documents)), found.ids).to_pylist()
    if len(strange) == len(set(held.documents)):
        raise InputError(f"{qrels} judges none of the documents given; their ids do not go together")
    counts = {
        "documents": found.counted.documents, "duplicate_pairs": len(pairs), "judgments": len(held.topics),
        "topics": len(set(held.topics)), **_kinds(findings, ("differs", "grade", "unjudged")),
        "topics_touched": len(pc.unique(findings["topic"])),
    }  # fmt: skip
    return Audit("qrels", findings, counts, _told(asked), strange, found.rejects)


def audit_labels(
    documents: Paths,
    label: str,
    *,
    threshold: float = 0.9,
    shingle_size: int = 5,
    main_text: bool = False,
    pairs_limit: int = PAIRS_LIMIT,
    threads: int = 0,
    memory: str | int = "4GB",
    listener: Listener | None = None,
    **reading: Any,
) -> Audit:
    """Documents whose resemblance reaches the threshold and whose labels, in the column `label`, differ."""
    asked = _asked("resemblance", threshold, shingle_size, main_text, pairs_limit)
    with tempfile.TemporaryDirectory(prefix="roughly-audit-") as folder:
        # the label is read as a title, which may be missing; a source would be filled in
        parts = open_parts(_listed(documents), ReadOptions(title_column=label, **reading), Path(folder))
        for part in parts:
            if part.format not in COLUMNED:
                known = ", ".join(COLUMNED)
                raise InputError(f"{part.name} is {part.format}, which has no columns; labels need {known}")
        found, pairs = _joined(parts, asked, _resources(threads, memory), Path(folder), listener)
    if found.titles.null_count == len(found.titles):
        raise InputError(f"no document has anything in the column {label!r}; name the column that holds the label")
    findings = label_audit.disagreements(found.ids, found.titles, pairs)
    touched = pc.unique(pa.chunked_array([*findings["left_id"].chunks, *findings["right_id"].chunks], pa.string()))
    counts = {
        "documents": found.counted.documents, "unlabelled": found.titles.null_count,
        "labels": len(pc.unique(found.titles.drop_null())), "duplicate_pairs": len(pairs),
        "documents_touched": len(touched), "labels_that_meet": label_audit.kinds_of(findings),
    }  # fmt: skip
    return Audit("labels", findings, counts, _told(asked) | {"label": label}, [], found.rejects)


def audit_leaks(
    train: Paths,
    test: Paths,
    *,
    threshold: float = 0.5,
    shingle_size: int = 5,
    passages: int = PASSAGES,
    main_text: bool = False,
    pairs_limit: int = PAIRS_LIMIT,
    threads: int = 0,
    memory: str | int = "4GB",
    listener: Listener | None = None,
    **reading: Any,
) -> Audit:
    """Test documents that a training document holds, or that hold one, by a containment that reaches the threshold.

    Of the first `passages` findings the shared passages are looked up.
    """
    checks.refuse(checks.whole("passages", passages, 0, 10**9))
    asked = _asked("containment", threshold, shingle_size, main_text, pairs_limit)
    with tempfile.TemporaryDirectory(prefix="roughly-audit-") as folder:
        options = ReadOptions(**reading)
        (Path(folder) / "test").mkdir()
        learnt = open_parts(_listed(train), options, Path(folder))
        tried = open_parts(_listed(test), options, Path(folder) / "test")
        sides = [False] * len(learnt) + [True] * len(tried)
        resources = _resources(threads, memory)
        found, pairs = _joined([*learnt, *tried], asked, resources, Path(folder), listener, sides)
        findings = leak_audit.leaks(pairs, threshold)
        if passages:
            texts = _texts([*learnt, *tried], found, pairs.slice(0, passages), main_text, resources.threads)
            findings = leak_audit.with_passages(findings, *texts, shingle_size)
    whole = findings.filter(pc.field("kind") == "whole")
    in_test = int(sum(sides[part] for part in found.part.tolist()))
    counts = {
        "train_documents": found.counted.documents - in_test, "test_documents": in_test,
        **_kinds(findings, ("whole", "part")), "test_documents_whole": len(pc.unique(whole["test_id"])),
        "test_documents_touched": len(pc.unique(findings["test_id"])),
    }  # fmt: skip
    return Audit("leaks", findings, counts, _told(asked), [], found.rejects)


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
    asked: TruthRequest,
    resources: Resources,
    folder: Path,
    listener: Listener | None,
    sides: Sequence[bool] | None = None,
) -> tuple[FoundPairs, pa.Table]:
    tables: list[pa.Table] = []
    found = find_pairs(
        parts, asked, resources=resources, scratch=folder, meter=Meter(listener), take=tables.append, sides=sides,
        prefixes=(leak_audit.TRAIN, leak_audit.TEST),
    )  # fmt: skip
    return found, pa.concat_tables(tables).combine_chunks()


def _asked(measure: str, threshold: float, shingle_size: int, main_text: bool, pairs_limit: int) -> TruthRequest:
    return TruthRequest(
        measure=measure, threshold=threshold, shingle_size=shingle_size, main_text=main_text, empty=False,
        pairs_limit=pairs_limit,
    )  # fmt: skip


def _resources(threads: int, memory: str | int) -> Resources:
    resources = Resources(threads=threads, memory=parse_size(memory) if isinstance(memory, str) else memory)
    check_memory(resources)
    return resources


def _told(asked: TruthRequest) -> dict[str, Any]:
    return {"measure": asked.measure, "threshold": asked.threshold, "shingle_size": asked.shingle_size}


def _kinds(findings: pa.Table, names: Sequence[str]) -> Mapping[str, int]:
    counted = {row["values"]: row["counts"] for row in pc.value_counts(findings["kind"]).to_pylist()}
    return {name: counted.get(name, 0) for name in names}


def _listed(paths: Paths) -> list[str | Path]:
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return [os.fspath(path) for path in listed]
