"""Which document of a cluster is kept: every rule, as data.

A rule is a list of columns to sort documents by. The SQL of a batch run, the sort of Spark, the order of an index, the
check of the settings and the help are all made from `RULES`, so a new rule is a line there. The first rule that
distinguishes two documents decides, and ties are broken by id, so that the order never depends on the order of the
input, except with the rules `first` and `last`. Documents without a value come last.

With a measure for which the longer document ranks first (`measures`), the length precedes all rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from roughly.errors import SettingsError, did_you_mean
from roughly.fast_dataclass import dataclass
from roughly.measures import MEASURES

COLUMNS = ("doc", "doc_id", "tokens", "bytes", "published", "url", "source")
"""What every engine and every index knows about a document: `doc` is its position in the input, `published` its
time."""


@dataclass(frozen=True)
class SortKey:
    """A column to sort by, smallest value first and nulls last."""

    column: str
    descending: bool = False
    length: bool = False  # by the length of the value
    order: tuple[str, ...] = ()  # these values first, in this order; all others are equal

    def sql(self) -> str:
        """As a term of ORDER BY."""
        term = f"length({self.column})" if self.length else self.column
        if self.order:
            places = " ".join(f"WHEN {_quoted(value)} THEN {place}" for place, value in enumerate(self.order))
            term = f"CASE {self.column} {places} ELSE {len(self.order)} END"
        return f"{term} {'DESC' if self.descending else 'ASC'} NULLS LAST"

    def value(self, document: Any) -> tuple[Any, ...]:
        """The same for a document with these columns as attributes, to compare with that of another."""
        found = getattr(document, self.column)
        if self.order:
            found = self.order.index(found) if found in self.order else len(self.order)
        if found is None:
            return (True,)
        found = len(found) if self.length else found
        return False, _Descending(found) if self.descending else found


@dataclass(frozen=True)
class KeepRule:
    """A rule by its name; `parameter` shows what follows the name and a colon, if the rule has values."""

    name: str
    keys: tuple[SortKey, ...]
    help: str
    parameter: str = ""

    @property
    def written(self) -> str:
        """As users write it."""
        return f"{self.name}:{self.parameter}" if self.parameter else self.name


RULES: dict[str, KeepRule] = {}


def register(rule: KeepRule) -> None:
    """Add a rule."""
    unknown = [key.column for key in rule.keys if key.column not in COLUMNS]
    if unknown:
        raise SettingsError(f"keep rules sort by {', '.join(COLUMNS)}, not by {', '.join(unknown)}")
    if rule.name in RULES:
        raise SettingsError(f"there is a keep rule {rule.name} already")
    RULES[rule.name] = rule


for _rule in (
    KeepRule("longest", (SortKey("tokens", True), SortKey("bytes", True)), "most tokens, then bytes"),
    KeepRule("shortest", (SortKey("tokens"), SortKey("bytes")), "fewest tokens, then bytes"),
    KeepRule("newest", (SortKey("published", True),), "the latest date"),
    KeepRule("oldest", (SortKey("published"),), "the earliest date"),
    KeepRule("first", (SortKey("doc"),), "comes first in the input"),
    KeepRule("last", (SortKey("doc", True),), "comes last in the input"),
    KeepRule("url", (SortKey("url", length=True), SortKey("url")), "the shortest url, then alphabetically"),
    KeepRule("source", (SortKey("source"),), "documents of source a, then those of source b, then all others", "a>b"),
):
    register(_rule)


def rule_names() -> tuple[str, ...]:
    """Every rule as users write it."""
    return tuple(rule.written for rule in RULES.values())


def rule_problem(written: str) -> str | None:
    """What is wrong with a rule that a user wrote, if anything."""
    name, colon, values = written.partition(":")
    rule = RULES.get(name)
    if rule is None or bool(colon) != bool(rule.parameter) or (colon and not all(values.split(">"))):
        known = rule_names()
        return f"unknown keep rule {written!r}; rules are {', '.join(known)}{did_you_mean(written, known)}"
    return None


def sort_keys(rules: Iterable[str], measure: str) -> list[SortKey]:
    """The columns to sort documents by, so that the one that is kept comes first."""
    keys = [SortKey("tokens", descending=True)] if MEASURES[measure].longer_first else []
    for written in rules:
        name, _, values = written.partition(":")
        order = tuple(dict.fromkeys(value.strip() for value in values.split(">"))) if values else ()
        keys += [dataclasses.replace(key, order=order) for key in RULES[name].keys]
    return [*keys, SortKey("doc_id")]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def order_by(rules: Sequence[str], measure: str) -> str:
    """The ORDER BY list over a table with `COLUMNS`."""
    return ", ".join(key.sql() for key in sort_keys(rules, measure))


def sort_order(rules: Sequence[str], measure: str) -> Callable[[Any], tuple[Any, ...]]:
    """The same order as a key to sort objects with `COLUMNS` as attributes by."""
    keys = sort_keys(rules, measure)
    return lambda document: tuple(part for key in keys for part in key.value(document))


class _Descending:
    """A value that sorts the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Descending) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]
