"""The request of `judge`: which pairs are drawn."""

from __future__ import annotations

from roughly import checks
from roughly.declarations import option
from roughly.fast_dataclass import dataclass

PAIRS = 100


@dataclass(frozen=True, kw_only=True)
class DrawRequest:
    """How many pairs are drawn, and which."""

    pairs: int = option(PAIRS, "Number of pairs to draw, when the first judge begins.")
    seed: int = option(0, "Seed of the draw.")
    found_only: bool = option(False, "Draw no pairs below the threshold.")

    def __post_init__(self) -> None:
        checks.refuse([*checks.whole("pairs", self.pairs, 1, 100_000), *checks.whole("seed", self.seed, 0, 2**63 - 1)])
