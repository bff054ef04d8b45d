"""The request of `suggest`."""

from __future__ import annotations

from roughly import checks
from roughly.declarations import group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources


@dataclass(frozen=True, kw_only=True)
class SuggestRequest:
    """How many documents are looked at, and how many pairs are shown."""

    sample: int = option(4000, "Number of documents to look at.")
    pairs: int = option(10, "Pairs to show on either side of the threshold.")
    seed: int = option(0, "Random seed.")
    main_text: bool = option(False, "Use only the main text of HTML: no navigation, header or footer.")
    reading: ReadOptions = group(ReadOptions, "text_column", "id_column", "format", "markup")
    resources: Resources = group(Resources, "threads")

    def __post_init__(self) -> None:
        checks.refuse(
            [
                *checks.whole("sample", self.sample, 2, 10**6),
                *checks.whole("pairs", self.pairs, 0, 1000),
                *checks.whole("seed", self.seed, 0, 2**63 - 1),
            ]
        )
