"""The request of `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from roughly import checks
from roughly.declarations import option
from roughly.fast_dataclass import dataclass
from roughly.tools.metrics.defaults import COST, DRAWS, LEVEL

BY = ("clusters", "pairs")
UNLISTED = ("different", "ignore")


def split_names(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, kw_only=True)
class EvaluateRequest:
    """What counts as found and as true, and how intervals are drawn."""

    by: str = option("clusters", "What counts as found: clusters, or the listed pairs.")
    unlisted: str | None = option(None, "Pairs that labels do not list: different or ignore.")
    label_columns: Sequence[str] = option(
        (), "The two columns to use, as in id_a,id_b or id,cluster.", read=split_names, shown=""
    )
    same_column: str | None = option(None, "Column of pairs that says same or different.")
    resemblance_column: str | None = option(None, "Column of pairs for recall by resemblance.")
    ignore_unknown: bool = option(False, "Leave out labels and results of documents that the run does not have.")
    lists: Path | None = option(None, "Result lists (a TREC run file): sets of duplicates are counted in each.")
    list_length: int = option(20, "Number of documents of a list that count, the best first.")
    cost: float = option(COST, "Cost of a wrongly removed document.")
    draws: int = option(DRAWS, "Draws of the bootstrap.")
    level: float = option(LEVEL, "Level of the confidence intervals.")
    seed: int = option(0, "Seed of the bootstrap.")

    def __post_init__(self) -> None:
        checks.refuse(
            [
                *checks.one_of("by", self.by, BY),
                *([] if self.unlisted is None else checks.one_of("unlisted", self.unlisted, UNLISTED)),
                *checks.share("cost", self.cost, most=1e12),
                *([] if self.list_length >= 2 else [f"list_length must be at least 2, not {self.list_length!r}"]),
            ]
        )
