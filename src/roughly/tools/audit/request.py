"""The request of an audit: the join and the reading."""

from __future__ import annotations

from roughly import checks
from roughly.declarations import group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources
from roughly.tools.truth.request import PAIRS_LIMIT

PASSAGES = 1000
LEAK_THRESHOLD = 0.5


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """When two documents count as duplicates."""

    threshold: float = option(0.9, "Similarity of duplicates.")
    shingle_size: int = option(5, "Words per shingle.")
    main_text: bool = option(False, "Use only the main text of HTML: no navigation, header or footer.")
    pairs_limit: int = option(PAIRS_LIMIT, "Refuse to find more pairs than this.")
    passages: int = option(PASSAGES, "Number of findings to list with passages.")
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, "memory", "threads", "temp")

    def __post_init__(self) -> None:
        checks.refuse(checks.whole("passages", self.passages, 0, 10**9))
