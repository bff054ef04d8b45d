"""What the user asks for, checked at once and as a whole.

`Settings` is everything that decides the answer; its fingerprint is stored in every artefact, and an
artefact with another fingerprint is refused. `Resources` is what only decides how long the answer takes:
it is never part of the fingerprint, because the answer must not depend on it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from roughly.errors import SettingsError

ANSWER_VERSION = 1
"""Raised whenever the same settings may give another answer than before (see CHANGELOG)."""

METHODS = ("identical", "lexical", "minhash")
MEASURES = ("resemblance", "containment")
CLUSTERINGS = ("star", "components")
PAIRS = ("evidence", "all")
KEEP_RULES = ("longest", "shortest", "newest", "oldest", "first", "last", "url", "source:a>b")
MARKUP = ("auto", "html", "none")
ON_DUPLICATE_ID = ("refuse", "number")

_KEEP = re.compile(r"(longest|shortest|newest|oldest|first|last|url)|source:[^>]+(>[^>]+)*")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides which documents stay."""

    method: str = "minhash"
    threshold: float = 0.8
    recall: float = 0.99
    measure: str = "resemblance"
    shingle_size: int = 5
    bands: int | None = None  # None: derived from threshold and recall
    rows: int | None = None
    seed: int = 0
    cluster: str = "star"
    keep: tuple[str, ...] = ("longest",)
    pairs: str = "evidence"
    pairs_limit: int = 20_000_000  # `pairs="all"` is refused past this many candidate pairs
    markup: str = "auto"
    main_text: bool = False  # of markup, take the main text only: no navigation, header, footer
    on_duplicate_id: str = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", _as_rules(self.keep))
        problems = list(self._problems())
        if problems:
            raise SettingsError(*problems)
        object.__setattr__(self, "threshold", float(self.threshold))  # 1 and 1.0 are one setting, one fingerprint
        object.__setattr__(self, "recall", float(self.recall))

    def _problems(self) -> Any:
        yield from _one_of("method", self.method, METHODS)
        yield from _one_of("measure", self.measure, MEASURES)
        yield from _one_of("cluster", self.cluster, CLUSTERINGS)
        yield from _one_of("pairs", self.pairs, PAIRS)
        yield from _one_of("markup", self.markup, MARKUP)
        yield from _one_of("on_duplicate_id", self.on_duplicate_id, ON_DUPLICATE_ID)
        if not _is_number(self.threshold) or not 0 < self.threshold <= 1:
            yield f"threshold must be above 0 and at most 1, not {self.threshold!r}"
        if not _is_number(self.recall) or not 0 < self.recall < 1:
            yield f"recall must be between 0 and 1, both excluded, not {self.recall!r} (0.99 is usual)"
        if not _is_whole(self.shingle_size) or not 1 <= self.shingle_size <= 64:
            yield f"shingle_size must be a whole number from 1 to 64, not {self.shingle_size!r}"
        if (self.bands is None) != (self.rows is None):
            yield "bands and rows go together: give both, or neither to have them derived"
        elif self.bands is not None and (not _is_whole(self.bands) or not 1 <= self.bands <= 1024):
            yield f"bands must be a whole number from 1 to 1024, not {self.bands!r}"
        elif self.rows is not None and (not _is_whole(self.rows) or not 1 <= self.rows <= 64):
            yield f"rows must be a whole number from 1 to 64, not {self.rows!r}"
        if not _is_whole(self.seed) or not 0 <= self.seed < 2**63:
            yield f"seed must be a whole number from 0, not {self.seed!r}"
        if not _is_whole(self.pairs_limit) or self.pairs_limit < 1:
            yield f"pairs_limit must be a whole number from 1, not {self.pairs_limit!r}"
        for rule in self.keep:
            if not _KEEP.fullmatch(rule):
                yield f"unknown keep rule {rule!r}; rules are {', '.join(KEEP_RULES)}"

    def to_dict(self) -> dict[str, Any]:
        """As plain values; `from_dict` gives back an equal object."""
        return dataclasses.asdict(self) | {"keep": list(self.keep)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The settings in a dictionary; unknown names are refused, all at once."""
        known = {f.name for f in dataclasses.fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise SettingsError(*(f"unknown setting {name!r}" for name in unknown))
        return cls(**values)

    def fingerprint(self) -> str:
        """Sixteen hex digits that change whenever the answer may."""
        text = json.dumps([ANSWER_VERSION, self.to_dict()], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use. None of it changes the answer."""

    threads: int = 0  # 0: as many as there are cores
    memory: int = 4 << 30  # bytes, for the whole process
    temp: Path | None = None  # where to spill; None: beside the output

    def __post_init__(self) -> None:
        if not _is_whole(self.threads) or not 0 <= self.threads <= 1024:
            raise SettingsError(f"threads must be a whole number from 0, not {self.threads!r}")
        if not _is_whole(self.memory) or self.memory < 1:
            raise SettingsError(f"memory must be a number of bytes, not {self.memory!r}")
        if self.threads == 0:
            object.__setattr__(
                self,
                "threads",
                len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            )


def parse_size(text: str) -> int:
    """Bytes meant by "4GB", "512 MiB", "1.5g" or "100000"; powers of 1024."""
    match = _SIZE.fullmatch(text)
    if not match:
        raise SettingsError(f"not a size: {text!r}; write for instance 4GB, 512MB or 1.5g")
    return int(float(match[1]) * 1024 ** _POWERS[match[2].lower()])


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _as_rules(keep: Any) -> tuple[str, ...]:
    rules = [keep] if isinstance(keep, str) or not isinstance(keep, list | tuple) else keep
    return tuple(rule.strip() for listed in rules for rule in str(listed).split(",") if rule.strip())


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        yield f"{name} must be one of {', '.join(allowed)}, not {value!r}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
