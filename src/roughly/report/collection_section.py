"""What was found in the collection: kinds of duplicates, removal by source, the largest clusters.

Everything is computed here, so that the templates contain no arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence

from roughly.amounts import plural
from roughly.fast_dataclass import dataclass
from roughly.report.data import RunData, SourceRow
from roughly.report.run_request import Number, RequestedQuality, number, requested_quality, section
from roughly.report.visible import excerpt, label
from roughly.report.wording import count, plain, score, share, size

SOURCES = 20
CLUSTERS = 20
LARGE = 1_000  # documents: a cluster of this size gets a warning in any collection
LARGE_SHARE = 0.01  # of all documents
LARGE_LEAST = 50  # documents: a smaller cluster never gets this warning
LOW = 0.5  # resemblance that is low if the run has no threshold on it
_EXCERPT = 420


@dataclass(frozen=True, slots=True)
class BarRow:
    """A row of a table with a bar: name, cells, the length of the bar from 0 to 1."""

    name: str
    cells: tuple[str, ...]
    bar: float
    foreign: bool = True  # the name comes from the data and must be isolated


@dataclass(frozen=True, slots=True)
class ClusterCard:
    """One of the largest clusters as a card."""

    cluster_id: str
    size: str
    scores: tuple[tuple[str, str], ...]
    excerpt: str
    warnings: tuple[str, ...]


def kinds(data: RunData) -> list[BarRow]:
    """Removed documents by kind of duplicate, the most frequent first."""
    total = sum(n for _, n in data.kinds)
    most = max((n for _, n in data.kinds), default=0)
    ordered = sorted(data.kinds, key=lambda row: (-row[1], row[0] or ""))
    return [
        BarRow(
            "unknown kind" if kind is None else label(kind),
            (count(n), share(n, total)),
            n / most,
            kind is not None,
        )
        for kind, n in ordered
        if n
    ]


def sources(data: RunData) -> list[BarRow]:
    """Removed documents by source, the most first; all sources after the twentieth in one row."""
    if not any(removed for _, _, removed, _ in data.by_source):
        return []
    ordered = sorted(data.by_source, key=lambda row: (-row[2], -row[1], row[0] or ""))
    head, tail = ordered[:SOURCES], ordered[SOURCES:]
    rest = _others(data, head, tail)
    most = max(head[0][2], rest[2] if rest else 0)

    def row(name: str, documents: int, removed: int, saved: int, foreign: bool) -> BarRow:
        cells = (count(documents), count(removed), share(removed, documents), size(saved))
        return BarRow(name, cells, removed / most, foreign)

    rows = [
        row("no source given" if name is None else label(name, 64), d, r, b, name is not None) for name, d, r, b in head
    ]
    return [*rows, row(*rest, foreign=False)] if rest else rows


def _others(data: RunData, head: Sequence[SourceRow], tail: Sequence[SourceRow]) -> tuple[str, int, int, int] | None:
    """The row for the sources that are not shown.

    The job may give only the first rows of a long list; the rest follows from the counts of the run.
    """
    counts = section(data.run, "counts")
    whole = [number(counts, key) for key in ("documents", "removed", "removed_bytes")]
    shown = [sum(row[at] for row in head) for at in (1, 2, 3)]  # type: ignore[misc]
    given = [sum(row[at] for row in tail) for at in (1, 2, 3)]  # type: ignore[misc]
    missing = [int(w) - s for w, s in zip(whole, shown, strict=True) if w is not None]
    if len(missing) == 3 and min(missing) >= 0 and missing != given:
        return "all other sources", missing[0], missing[1], missing[2]
    if not tail:
        return None
    name = f"{count(len(tail))} other {plural('source', len(tail))}"
    return name, given[0], given[1], given[2]


def clusters(data: RunData) -> list[ClusterCard]:
    """The largest clusters, the largest first, with what looks wrong about them."""
    quality = requested_quality(data.run)
    documents = number(section(data.run, "counts"), "documents")
    ordered = sorted(data.largest, key=lambda row: (-row[1], row[0]))
    return [
        ClusterCard(
            label(cluster_id),
            count(members),
            tuple((name, score(value)) for name, value in (("lowest", low), ("mean", mean)) if value is not None),
            excerpt(text, _EXCERPT),
            tuple(cluster_warnings(members, low, quality, documents)),
        )
        for cluster_id, members, low, mean, text in ordered[:CLUSTERS]
    ]


def cluster_warnings(members: int, low: float | None, quality: RequestedQuality, documents: Number | None) -> list[str]:
    """What looks wrong about a cluster: it is very large, or a member hardly resembles its witness.

    With a threshold on containment a low resemblance is no error: an excerpt hardly resembles its source.
    """
    found = []
    if members >= LARGE or (documents and members >= max(LARGE_LEAST, LARGE_SHARE * documents)):
        part = f", {share(members, documents)} of all documents" if documents else ""
        found.append(f"Very large{part}: often a template, an error page or a notice rather than one text.")
    if low is None:
        return found
    if quality.resemblance is not None and low < quality.resemblance:
        found.append(f"Its lowest resemblance, {score(low)}, is below the threshold {plain(quality.resemblance)}.")
    elif quality.threshold is None and low < LOW:
        found.append(f"Its lowest resemblance is only {score(low)}: these may not all be one document.")
    return found
