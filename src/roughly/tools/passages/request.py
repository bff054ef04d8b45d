"""The request of `passages`: what a passage is, which of them count, and what is done with them."""

from __future__ import annotations

from typing import Any

from roughly import checks
from roughly.declarations import declarations, group, option
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.keep_rules import rule_names, rule_problem
from roughly.settings import ReadOptions, Resources

UNITS = ("window", "line", "sentence", "paragraph")
DOINGS = ("report", "mark", "remove")
PRESETS = {"ngram-8": 8, "ngram-13": 13, "ngram-50": 50}
"""Overlap with a test set as published: 8 tokens (GPT-2), 13 (GPT-3), 50 (Lee et al. 2022)."""
LEAST = 4
_DEFAULT_LEAST = {"window": 50}
_MOST = 1 << 20
_MANY = 1 << 31
_READING = tuple(one.name for one in declarations(ReadOptions) if one.name != "features")  # which have no passages


@dataclass(frozen=True, kw_only=True)
class PassagesRequest:
    """What decides the answer."""

    unit: str = option("window", f"What is compared: {', '.join(UNITS)}.", choices=lambda: UNITS)
    least: int | None = option(None, f"Fewest tokens of a passage; by default 50 for windows, {LEAST} for other units.")
    preset: str | None = option(None, f"Windows as published for test sets: {', '.join(PRESETS)}.")
    gap: int = option(0, "Join exact runs, of a third of that length at least, across this many changed tokens.")
    do: str = option("report", f"What is done: {', '.join(DOINGS)}.", choices=lambda: DOINGS)
    times: int = option(2, "Fewest places of a passage.")
    documents: int = option(1, "Fewest documents that contain it.", "--in-documents")
    sources: int = option(1, "Fewest sources that contain it.", "--in-sources")
    site_share: float = option(0.0, "Smallest fraction of the documents of some source that contain it.")
    keep: tuple[str, ...] = option(
        ("first",), f"Whose passage is kept: rules in order, {', '.join(rule_names())}.", read=str, shown="first"
    )
    least_left: int = option(1, "Remove a document whole if fewer tokens than this are left of it.")
    date_format: str | None = option(None, "How dates are written, such as %d/%m/%Y (strptime).")

    def __post_init__(self) -> None:
        keep = [self.keep] if isinstance(self.keep, str) else self.keep
        rules = tuple(rule.strip() for given in keep for rule in str(given).split(",") if rule.strip())
        object.__setattr__(self, "keep", rules)
        checks.refuse([*self._problems()])
        if self.preset is not None:
            object.__setattr__(self, "least", PRESETS[self.preset])
        if self.least is None:
            object.__setattr__(self, "least", _DEFAULT_LEAST.get(self.unit, LEAST))
        if self.gap and (self.unit != "window" or self.gap >= self.window):
            raise SettingsError(
                f"gap must be below a third of the fewest tokens of a passage, {self.window}, and the unit window; "
                f"not {self.gap} and {self.unit}"
            )

    def _problems(self) -> Any:
        yield from checks.one_of("unit", self.unit, UNITS)
        yield from checks.one_of("do", self.do, DOINGS)
        if self.preset is not None:
            yield from checks.one_of("preset", self.preset, PRESETS)
            if self.least is not None or self.unit != "window":
                yield "a preset says the unit and the fewest tokens of a passage; leave --unit and --least out"
        if self.least is not None:
            shortest = LEAST if self.unit == "window" else 1
            yield from checks.whole("least", self.least, shortest, _MOST)
        for name in ("times", "documents", "sources"):
            yield from checks.whole(name, getattr(self, name), 2 if name == "times" else 1, _MANY)
        yield from checks.whole("gap", self.gap, 0, _MOST)
        yield from checks.share("site_share", self.site_share)
        yield from checks.whole("least_left", self.least_left, 0, _MANY)
        yield from (problem for rule in self.keep if (problem := rule_problem(rule)) is not None)

    @property
    def shortest(self) -> int:
        """Fewest tokens of a passage."""
        assert self.least is not None  # set on construction
        return self.least

    @property
    def window(self) -> int:
        """Fewest tokens of an exact run: those of a passage, or a third of them where gaps are allowed."""
        return max(LEAST, -(-self.shortest // 3)) if self.gap else self.shortest


@dataclass(frozen=True, kw_only=True)
class PassagesRun:
    """A request with reading options and resources."""

    request: PassagesRequest = group(PassagesRequest)
    reading: ReadOptions = group(ReadOptions, *_READING)
    resources: Resources = group(Resources)
