"""The top of the page: documents read, kept and removed, bytes saved, and further counts.

It reads the counts of run.json. A missing count is not shown; nothing is made up in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roughly.amounts import plural
from roughly.fast_dataclass import dataclass
from roughly.report.run_request import (
    JudgingMethod,
    Number,
    RequestedQuality,
    judging_of,
    number,
    requested_quality,
    section,
)
from roughly.report.wording import NBSP, count, counted, duration, plain, share, size


@dataclass(frozen=True, slots=True)
class HeadlineFigure:
    """A big number, the word under it, and a smaller remark."""

    value: str
    word: str
    remark: str = ""
    tone: str = ""  # "kept" or "removed", for the colour


@dataclass(frozen=True, slots=True)
class Overview:
    """What is shown above the first section."""

    headline: str
    figures: tuple[HeadlineFigure, ...]
    facts: tuple[tuple[str, str, str], ...]  # name, value, what it means
    kept_share: float | None  # of the documents, for the bar


def build_overview(run: Mapping[str, Any]) -> Overview:
    """The overview of a run."""
    counts = section(run, "counts")
    documents, kept, removed = (number(counts, key) for key in ("documents", "kept", "removed"))
    kept_share = kept / documents if documents and kept is not None else None
    return Overview(
        headline(counts, requested_quality(run)),
        tuple(_figures(counts, documents, kept, removed)),
        tuple(_facts(run, counts)),
        kept_share,
    )


def headline(counts: Mapping[str, Any], quality: RequestedQuality) -> str:
    """One sentence: ``37,071 documents in, 31,200 kept, 5,871 removed (15.8 %), 41 MB saved.``"""
    documents, kept, removed = (number(counts, key) for key in ("documents", "kept", "removed"))
    saved = number(counts, "removed_bytes")
    if documents is None:
        return "The run has no counts."
    if documents == 0:
        return "No documents in: there was nothing to compare."
    if removed == 0:
        at = f" at threshold {plain(quality.threshold)}" if quality.threshold is not None else ""
        all_ = "" if documents == 1 else "all "
        return f"{counted(documents, 'document')} in, {all_}kept: no duplicates were found{at}."
    parts = [f"{counted(documents, 'document')} in"]
    if kept is not None:
        parts.append(f"{count(kept)}{NBSP}kept")
    if removed is not None:
        parts.append(f"{count(removed)}{NBSP}removed ({share(removed, documents)})")
    if saved is not None:
        parts.append(f"{size(saved)} saved")
    return ", ".join(parts) + "."


def _figures(
    counts: Mapping[str, Any], documents: Number | None, kept: Number | None, removed: Number | None
) -> list[HeadlineFigure]:
    found = []
    total, saved = number(counts, "bytes"), number(counts, "removed_bytes")
    if documents is not None:
        remark = f"{size(total)} of text" if total is not None else ""
        found.append(HeadlineFigure(count(documents), f"{plural('document', documents)} in", remark))
    if kept is not None:
        found.append(HeadlineFigure(count(kept), "kept", share(kept, documents) if documents else "", "kept"))
    if removed is not None:
        remark = share(removed, documents) if documents else ""
        found.append(HeadlineFigure(count(removed), "removed", remark, "removed"))
    if saved is not None:
        remark = f"{share(saved, total)} of the text" if total else ""
        found.append(HeadlineFigure(size(saved), "saved", remark))
    return found


# key, name, what it means
_COUNTED = (
    ("clusters", "Clusters", "groups of two documents or more"),
    ("largest_cluster", "Largest cluster", "documents in it"),
    ("identical", "Identical", "the same bytes as another document"),
    ("lexical", "Lexically equal", "the same words (or tokens of the DOM) in the same order"),
    (
        "shingle_equivalent",
        "Shingle-equivalent",
        "the same shingles as another document, but not the same words in order",
    ),
    ("empty", "Empty", "documents without words; equal to each other only"),
    ("rejected", "Rejected", "records that could not be used"),
    ("not_html", "No HTML", "compared by their words, since they have no DOM"),
    ("unsigned", "Without a key", "too little was left of them to make one"),
    ("short_documents", "Short documents", "too short for a super shingle"),
    ("common_keys", "Common keys", "in too many documents to form pairs; ignored"),
    ("mostly_common", "Mostly common", "documents of little but common keys; found by the rarest of these"),
    ("candidate_documents", "Candidate documents", "shared a key with another document"),
    ("candidate_pairs", "Candidate pairs", "compared exactly, shingle by shingle"),
    ("verified_pairs", "Verified pairs", "reached the threshold"),
    ("crowded_buckets", "Hot buckets", "split by their rarest shingles"),
)
_IF_ANY = (
    "shingle_equivalent",
    "crowded_buckets",
    "not_html",
    "unsigned",
    "short_documents",
    "common_keys",
    "mostly_common",
)
_ON = {"equality": "by equality", "text": "exactly", "sketch": "by sketches", "keys": "by keys"}


def _meaning(key: str, judging: JudgingMethod) -> tuple[str, str] | None:
    """Name and meaning of a count if pairs were not compared exactly."""
    if judging.on in ("text", "equality"):
        return None
    if key == "candidate_pairs":
        return "Candidate pairs", "compared by their sketches" if judging.on == "sketch" else "shared a key"
    if key == "verified_pairs":
        return "Pairs found", "not verified on the text"
    return None


def _facts(run: Mapping[str, Any], counts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    found = []
    candidates, judging = number(counts, "candidate_pairs"), judging_of(run)
    if judging.how:
        found.append(("Judged", _ON.get(judging.on, judging.on), judging.how))
    for key, name, meaning in _COUNTED:
        value = number(counts, key)
        if value is None or (key in _IF_ANY and not value):
            continue
        if other := _meaning(key, judging):
            name, meaning = other
        elif key == "verified_pairs" and candidates and value <= candidates:
            meaning = f"reached the threshold: {share(value, candidates)} of the candidates"
        found.append((name, count(value), meaning))
    seconds, memory = number(run, "seconds"), number(run, "peak_memory")
    if seconds is not None:
        total = number(counts, "bytes")
        rate = f"{size(total / seconds)} of text per second" if total and seconds > 0 else "the whole run"
        found.append(("Time", duration(seconds), rate))
    if memory is not None:
        found.append(("Peak memory", size(memory), "at its highest"))
    return found
