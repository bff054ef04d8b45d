"""The data of the report: `RunData`, filled by the job, shown by the page, stored in the JSON twin.

Everything here is a summary: histograms, the first rows of lists, a few sample pairs. Its size does not
grow with the collection, except for the texts of the sample pairs, which `RunData.bounded` cuts to the
part that is compared. The page is a pure function of this object: the same data give the same page,
byte for byte.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.report.window import cut_pair

COMPARED = 6_000  # characters per side of a sample pair that are compared
EXCERPT = 1_200  # characters of the excerpt of a cluster

ClusterSize = tuple[int, int]  # size, number of clusters of that size
Histogram = tuple[Sequence[float], Sequence[int]]  # n + 1 ascending edges, n counts
SourceRow = tuple[str | None, int, int, int]  # source, documents, removed, removed_bytes
KindRow = tuple[str | None, int]  # kind of duplicate, documents removed as such
LargestClusterRow = tuple[str, int, float | None, float | None, str]
# cluster_id, size, min_resemblance, mean_resemblance, excerpt


@dataclass(frozen=True, slots=True)
class PairSample:
    """Two documents near the threshold. `left` ranks below `right`, as in pairs.parquet.

    Give the whole texts and not the last four fields: `RunData.bounded` fills them in when it cuts.
    """

    left_id: str
    right_id: str
    left_text: str
    right_text: str
    resemblance: float
    containment: float  # fraction of left that right contains
    contained_in: float  # fraction of right that left contains
    left_start: int = 0  # where left_text begins in the document
    right_start: int = 0
    left_length: int | None = None  # characters of the whole document; None if left_text is all of it
    right_length: int | None = None

    def bounded(self) -> PairSample:
        """The pair with both texts cut to the windows that are compared; cutting again changes nothing."""
        left, right = _text(self.left_text), _text(self.right_text)
        window = cut_pair(left, right, COMPARED)
        return replace(
            self,
            left_id=_text(self.left_id),
            right_id=_text(self.right_id),
            left_text=window.left,
            right_text=window.right,
            left_start=self.left_start + window.left_start,
            right_start=self.right_start + window.right_start,
            left_length=len(left) if self.left_length is None else self.left_length,
            right_length=len(right) if self.right_length is None else self.right_length,
        )

    @property
    def left_cut(self) -> bool:
        """Whether the left document continues after left_text."""
        return self.left_length is not None and self.left_start + len(self.left_text) < self.left_length

    @property
    def right_cut(self) -> bool:
        """Whether the right document continues after right_text."""
        return self.right_length is not None and self.right_start + len(self.right_text) < self.right_length


@dataclass(frozen=True, slots=True, kw_only=True)
class RunData:
    """Everything that the page shows. Only `run`, the content of run.json, is required; the rest may be empty."""

    run: Mapping[str, Any]
    cluster_sizes: Sequence[ClusterSize] = ()
    resemblance: Histogram = field(default=((), ()))
    by_source: Sequence[SourceRow] = ()
    kinds: Sequence[KindRow] = ()
    largest: Sequence[LargestClusterRow] = ()
    above: Sequence[PairSample] = ()
    below: Sequence[PairSample] = ()

    def __post_init__(self) -> None:
        """Turn the containers into tuples, and refuse numbers that cannot be drawn, all problems together."""
        for name in ("cluster_sizes", "by_source", "kinds", "largest"):
            object.__setattr__(self, name, tuple(tuple(row) for row in getattr(self, name)))
        for name in ("above", "below"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        edges, counts = self.resemblance
        object.__setattr__(self, "resemblance", (tuple(float(edge) for edge in edges), tuple(int(n) for n in counts)))
        problems = list(_problems(self))
        if problems:
            raise InputError("the report cannot be drawn: " + "; ".join(problems))

    def bounded(self) -> RunData:
        """The same report with the texts cut to what is shown, and all values ready for JSON."""
        run = json_ready(self.run, "run")
        return replace(
            self,
            run=run,
            by_source=[(None if s is None else _text(s), d, r, b) for s, d, r, b in self.by_source],
            kinds=[(None if kind is None else _text(kind), n) for kind, n in self.kinds],
            largest=[(_text(c), n, low, mean, _text(x[:EXCERPT])) for c, n, low, mean, x in self.largest],
            above=[pair.bounded() for pair in self.above],
            below=[pair.bounded() for pair in self.below],
        )


def json_ready(value: Any, where: str) -> Any:
    """A copy that JSON can hold: tuples as lists, keys as strings, a number that is not finite as null."""
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_text(str(key)): json_ready(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(item, f"{where}[{at}]") for at, item in enumerate(value)]
    raise InputError(
        f"{where} contains a {type(value).__name__}, which JSON cannot represent; "
        "give numbers, strings, lists and dicts, as run.json has them"
    )


def _text(value: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot write."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _problems(data: RunData) -> list[str]:
    """Everything that makes the numbers impossible to draw."""
    found = []
    edges, counts = data.resemblance
    if (edges or counts) and len(edges) != len(counts) + 1:
        found.append(f"resemblance has {len(edges)} edges for {len(counts)} counts, and needs one more than counts")
    if any(not math.isfinite(edge) for edge in edges) or list(edges) != sorted(set(edges)):
        found.append("the edges of resemblance must be finite and ascend")
    for name, numbers in (
        ("resemblance", counts),
        ("cluster_sizes", [n for row in data.cluster_sizes for n in row]),
        ("by_source", [n for row in data.by_source for n in row[1:] if not isinstance(n, str)]),
        ("kinds", [n for _, n in data.kinds]),
        ("largest", [row[1] for row in data.largest]),
    ):
        if any(n is None or n < 0 for n in numbers):
            found.append(f"{name} contains a negative or missing count")
    for at, (_, _, low, mean, _) in enumerate(data.largest):
        for score, value in (("min_resemblance", low), ("mean_resemblance", mean)):
            if value is not None and not 0.0 <= value <= 1.0:
                found.append(f"largest[{at}].{score} is {value!r}, not between 0 and 1")
    for name, pairs in (("above", data.above), ("below", data.below)):
        for at, pair in enumerate(pairs):
            for score in ("resemblance", "containment", "contained_in"):
                if not 0.0 <= getattr(pair, score) <= 1.0:
                    found.append(f"{name}[{at}].{score} is {getattr(pair, score)!r}, not between 0 and 1")
    return found
