"""Which documents are kept and removed once decisions count: only clusters that a decision names may change.

Documents are taken in this order, and each is removed if a kept one before it is its witness, and kept otherwise:

1. documents of `keep`, the latest decision first;
2. documents that the run kept, those of a `together` after the others;
3. removed documents, the longest first.

A *witness* is a kept document whose verified score reaches the threshold of the run: from the stored pairs, or measured
now on both texts if the stored witness is no longer kept. `different` takes a pair out, `together` makes the kept
document of the group the witness of the others, whatever their scores. So a document is removed without a verified
witness only by a `together` that names it, and kept beside a verified witness only by a `keep` or `different` that
names it; both are marked as overridden, with the decision and its author. A document that loses its witness comes back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from roughly.fast_dataclass import dataclass
from roughly.tools.decide.decision_file import Decision

Texts = Callable[[Sequence[str]], Mapping[str, str | None]]
"""The texts of documents; None where a text cannot be read."""
_READ_AT_ONCE = 200


class Scores(NamedTuple):
    """Scores of a document and its witness; None where nothing was measured."""

    resemblance: float | None = None
    containment: float | None = None  # share of the document that the witness has
    contained_in: float | None = None

    def turned(self) -> Scores:
        """The same pair with the other document first."""
        return Scores(self.resemblance, self.contained_in, self.containment)


@dataclass(frozen=True, slots=True)
class DecidedDocument:
    """A document whose verdict or witness changes."""

    doc_id: str
    was_kept: bool
    kept: bool
    kept_id: str
    cluster_id: str
    scores: Scores
    why: str
    overridden: bool  # against what was verified
    decisions: tuple[int, ...]
    by: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        names = ("doc_id", "was_kept", "kept", "kept_id", "cluster_id", "why", "overridden")
        values = {name: getattr(self, name) for name in names}
        return {**values, **self.scores._asdict(), "decisions": list(self.decisions), "by": list(self.by)}


@dataclass(frozen=True)
class RunRules:
    """What makes a pair a duplicate in the run."""

    measure: str
    threshold: float | None  # None: nothing was measured
    equality: bool  # documents of a cluster are equal in what the method looks at
    score: Callable[[str, str], Scores]  # measures two texts

    def reaches(self, scores: Scores) -> bool:
        """Whether the witness holds enough of the document."""
        value = scores.containment if self.measure == "containment" else scores.resemblance
        return self.threshold is None or value is None or value >= self.threshold


@dataclass
class _Evidence:
    """What is verified about pairs, in both directions, without those that are decided to be different."""

    rules: RunRules
    found: dict[str, dict[str, Scores]] = field(default_factory=lambda: defaultdict(dict))
    different: set[frozenset[str]] = field(default_factory=set)

    def add(self, left: str, right: str, scores: Scores) -> None:
        for one, other, facing in ((left, right, scores), (right, left, scores.turned())):
            if self.rules.reaches(facing):
                self.found[one].setdefault(other, facing)

    def of(self, doc_id: str, kept: Iterable[str]) -> tuple[str, Scores] | None:
        """The most similar of the kept documents, if there is one."""
        own = self.found.get(doc_id, {})
        able = [(name, own[name]) for name in kept if name in own and frozenset((doc_id, name)) not in self.different]
        return max(able, key=lambda one: (one[1].resemblance or 0.0, one[0]), default=None)


@dataclass(frozen=True)
class Concerned:
    """What the run knows about the documents that decisions may change."""

    rows: Sequence[Mapping[str, Any]]  # documents of the clusters that are named, with their verdicts
    pairs: Iterable[tuple[str, str, Scores]]  # verified, with at least one of those
    outside: Mapping[str, str]  # other kept documents in those pairs, each with its cluster


def effects(decisions: Sequence[Decision], run: Concerned, rules: RunRules, texts: Texts) -> list[DecidedDocument]:
    """The documents whose verdict or witness changes."""
    return _Resolution(decisions, run, rules, texts).changes()


class _Resolution:
    def __init__(self, decisions: Sequence[Decision], run: Concerned, rules: RunRules, texts: Texts) -> None:
        self.decisions, self.rules, self.texts, self.outside = decisions, rules, texts, run.outside
        self.rows = {row["doc_id"]: row for row in run.rows}
        self.evidence = _Evidence(rules)
        for row in run.rows:
            if not row["kept"]:
                scores = Scores(row["resemblance"], row["containment"], row["contained_in"])
                self.evidence.add(row["doc_id"], row["kept_id"], scores)
            if row["equal_to"]:
                self.evidence.add(row["doc_id"], row["equal_to"], Scores(1.0, 1.0, 1.0))
        for left, right, scores in run.pairs:
            self.evidence.add(left, right, scores)
        self.evidence.different = {frozenset(one.ids) for one in decisions if one.kind == "different"}
        self.groups = _groups(one.ids for one in decisions if one.kind == "together")
        self.pinned = {one.ids[0]: one.number for one in decisions if one.kind == "keep"}
        self.naming: dict[str, list[Decision]] = defaultdict(list)
        for one in decisions:
            for name in one.ids:
                self.naming[name].append(one)
        self.kept: set[str] = set()
        self.new: list[str] = []  # kept ones that the run removed: their pairs may have to be measured
        self.witness: dict[str, tuple[str, Scores, bool]] = {}
        self.unread: set[str] = set()

    def changes(self) -> list[DecidedDocument]:
        ordered = sorted(self.rows, key=self._order)
        for doc_id in ordered:
            self._settle(doc_id)
        found = [self._changed(doc_id) for doc_id in ordered]
        return [one for one in found if one is not None]

    def _order(self, doc_id: str) -> tuple[int, int, int, str]:
        row = self.rows[doc_id]
        if doc_id in self.pinned:
            return 0, -self.pinned[doc_id], 0, doc_id
        group = self.groups.get(doc_id)
        if row["kept"]:
            place = 0 if group is None else 1 + group.index(doc_id)
            return 1, place, -(row["tokens"] or 0), doc_id
        return 2, 0, -(row["tokens"] or 0), doc_id

    def _settle(self, doc_id: str) -> None:
        if doc_id in self.pinned and not self._is_beaten(doc_id):
            self._keep(doc_id)
            return
        group = self.groups.get(doc_id)
        found = self._verified(doc_id)
        if found is None and group is not None:
            for name in group:  # the kept one of the group, or a witness of one of them
                other = None if name == doc_id else self._verified(name, measure=False)
                if name in self.kept or other is not None:
                    witness = name if other is None else other[0]
                    found = witness, self._scores(doc_id, witness), False
                    break
        if found is None:
            self._keep(doc_id)
        else:
            self.witness[doc_id] = found

    def _is_beaten(self, doc_id: str) -> bool:
        """Whether a later `keep` names a document that this one duplicates."""
        return self._verified(doc_id, among=[name for name in self.new if name in self.pinned]) is not None or any(
            name in self.kept and name in self.pinned for name in self.groups.get(doc_id, ())
        )

    def _keep(self, doc_id: str) -> None:
        self.kept.add(doc_id)
        if not self.rows[doc_id]["kept"] or doc_id in self.pinned:
            self.new.append(doc_id)

    def _verified(
        self, doc_id: str, measure: bool = True, among: Sequence[str] | None = None
    ) -> tuple[str, Scores, bool] | None:
        """A kept document that is its witness, with their scores."""
        row = self.rows.get(doc_id)
        before = None if row is None or row["kept"] else row["kept_id"]
        stays = before is not None and (before in self.kept or before in self.outside)
        if among is None and stays and frozenset((doc_id, before)) not in self.evidence.different:
            return str(before), self.evidence.found[doc_id].get(str(before), Scores()), True  # it stays as it was
        stored = self.evidence.of(doc_id, [*self.kept, *self.outside] if among is None else among)
        if stored is not None:
            return *stored, True
        if row is None or not measure:
            return None
        candidates = [
            name for name in (self.new if among is None else among)
            if self.rows[name]["cluster_id"] == row["cluster_id"]
            and frozenset((doc_id, name)) not in self.evidence.different
        ]  # fmt: skip
        return self._measured(doc_id, candidates)

    def _measured(self, doc_id: str, candidates: Sequence[str]) -> tuple[str, Scores, bool] | None:
        if not candidates:
            return None
        if self.rules.equality:
            return candidates[0], Scores(), True
        if self.rules.threshold is None:
            return None
        for start in range(0, len(candidates), _READ_AT_ONCE):
            some = candidates[start : start + _READ_AT_ONCE]
            read = self.texts([doc_id, *some])
            own = read.get(doc_id)
            if own is None:
                self.unread.add(doc_id)
                return None
            for name in some:
                other = read.get(name)
                if other is not None and self.rules.reaches(scores := self.rules.score(own, other)):
                    self.evidence.add(doc_id, name, scores)
                    return name, scores, True
        return None

    def _scores(self, left: str, right: str) -> Scores:
        """The scores of two documents, as far as their texts can be read."""
        if self.rules.threshold is None:
            return Scores()
        read = self.texts([left, right])
        one, other = read.get(left), read.get(right)
        return Scores() if one is None or other is None else self.rules.score(one, other)

    def _changed(self, doc_id: str) -> DecidedDocument | None:
        row = self.rows[doc_id]
        kept = doc_id in self.kept
        witness, scores, verified = (doc_id, Scores(1.0, 1.0, 1.0), True) if kept else self.witness[doc_id]
        if kept == row["kept"] and witness == row["kept_id"]:
            return None
        named = self.naming.get(doc_id, [])
        causes = named or self.naming.get(row["kept_id"], []) or self.naming.get(witness, [])
        if not causes:
            members = {name for name in self.naming if self.rows[name]["cluster_id"] == row["cluster_id"]}
            causes = [one for one in self.decisions if members & set(one.ids)]
        duplicates = self.evidence.found.get(doc_id, {})
        beside = kept and any(name in self.kept or name in self.outside for name in duplicates if name != doc_id)
        overridden = bool(named) and (beside or not verified)
        return DecidedDocument(
            doc_id, bool(row["kept"]), kept, witness, self._cluster_of(witness), scores,
            self._why(doc_id, kept, verified, bool(named)), overridden,
            tuple(sorted({one.number for one in causes})), tuple(sorted({one.by for one in causes})),
        )  # fmt: skip

    def _cluster_of(self, kept_id: str) -> str:
        """The cluster of a kept document: that of the run, named after another document if its first one is removed."""
        row = self.rows.get(kept_id)
        if row is None:
            return self.outside[kept_id]
        named = str(row["cluster_id"])
        if not row["kept"] or named == kept_id:
            return kept_id
        return self.witness[named][0] if named in self.witness else named

    def _why(self, doc_id: str, kept: bool, verified: bool, named: bool) -> str:
        if kept and doc_id in self.pinned:
            return "decided: keep this one instead"
        if kept and named:
            return "decided: not a duplicate"
        if kept and doc_id in self.unread:
            return "its witness is no longer kept, and its text cannot be read to look for another"
        if kept:
            return "its witness is no longer kept, and no other kept document of its cluster resembles it enough"
        if not verified:
            return "decided: these belong together"
        if self.rows[doc_id]["kept"]:
            return "a document that it duplicates is kept instead"
        return "its witness is another document now"


def _groups(together: Iterable[Sequence[str]]) -> dict[str, list[str]]:
    """Every named document with all that belong together with it, in the order in which they were named."""
    groups: dict[str, list[str]] = {}
    for ids in together:
        joined: list[str] = []
        for name in ids:
            joined += [one for one in groups.get(name, [name]) if one not in joined]
        for name in joined:
            groups[name] = joined
    return groups
