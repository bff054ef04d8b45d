"""The requests of `sketch`, `cluster` and `cluster_features`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from roughly.declarations import group, option
from roughly.fast_dataclass import dataclass
from roughly.methods.shingles import COMMON
from roughly.settings import CLUSTERINGS, MEASURES, ReadOptions, Resources

MAIN_TEXT = "Use only the main text of HTML: no navigation, header or footer"


@dataclass(frozen=True, kw_only=True)
class SketchRequest:
    """Which shingles are kept."""

    sketch: Any = option("mod:25", "Which shingles are kept: all, mod:25, min:400 or adaptive.", read=str)
    groups: Sequence[Sequence[float]] = option((), "Groups of the sketch adaptive: most tokens and ratio of each.")
    shingle_size: int = option(10, "Words per shingle.")
    seed: int = option(0, "Seed of the sample of shingles.")
    main_text: bool = option(False, f"{MAIN_TEXT}.")
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, "memory", "threads", "temp")


@dataclass(frozen=True, kw_only=True)
class ReclusterRequest:
    """How to cluster; options that are None are taken from the files."""

    threshold: float | None = option(None, "Similarity of duplicates; 0.5 for sketches if not given.")
    measure: str | None = option(None, f"{' or '.join(MEASURES)}; the first if not given.")
    cluster: str = option("star", f"{' or '.join(CLUSTERINGS)}.")
    common: int | None = option(None, f"A key of more documents makes no pairs; {COMMON} for sketches if not given.")
    pairs: str = option("evidence", "Pairs to return: evidence or all.")
    shingle_size: int | None = option(None, "Words per shingle of --text; as stored if not given.")
    main_text: bool | None = option(None, f"{MAIN_TEXT}; as stored for sketches.")


@dataclass(frozen=True, kw_only=True)
class ReclusterRun:
    """A request with reading options and resources."""

    request: ReclusterRequest = group(ReclusterRequest)
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, "memory", "threads", "temp")


@dataclass(frozen=True, kw_only=True)
class FeatureRequest:
    """How objects are clustered by the caller's own features."""

    threshold: float = option(0.5, "Similarity of duplicates.")
    measure: str = option("resemblance", f"{' or '.join(MEASURES)}.")
    shingle_size: int = option(1, "Features per shingle; above 1 their order counts.")
    sketch: str = option("all", "Which shingles are kept: all, mod:25, min:400 or adaptive.")
    groups: Sequence[Sequence[float]] = option((), "Groups of the sketch adaptive.")
    common: int = option(COMMON, "A feature of more objects makes no pairs.")
    cluster: str = option("star", f"{' or '.join(CLUSTERINGS)}.")
    pairs: str = option("evidence", "Pairs to return: evidence or all.")
    id_column: str = option("id", "Column of the id.")
    features_column: str = option("features", "Column of the features.")
    resources: Resources = group(Resources, "memory", "threads", "temp")
