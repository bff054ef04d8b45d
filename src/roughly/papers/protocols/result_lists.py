"""Duplicates in result lists: their kinds, the sizes of sets, and the agreement of term vectors (Conrad 2003, §3 and
§7.2).

The paper's queries are those of its users, its lists those of its search engine, and its judges people. Here a query is
the title of a document drawn at random; a list is the twenty documents of highest score,

    score(q, d) = Σ_{t ∈ q ∩ d} idf(t)² / √( Σ_{t ∈ d} idf(t)² )

and the judgement is the definition that the paper's judges were given (§7.2, footnote 7): two documents are duplicates
if enough of the words of one are in the other, "in terms of overall terminology rather than individual term frequency".

    overlap   |A ∩ B| / max(|A|, |B|) ≥ t        the same words, both ways
    cosine    |A ∩ B| / √(|A|·|B|) ≥ t           looser: an excerpt of a quarter has one half

Duplicate sets are the connected components within a list.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.cluster.in_memory import ClusterRules, DocumentFacts, longest_first, resolve_in_memory, work_of
from roughly.dates import days_of
from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.methods import lexicon_checks as checks
from roughly.methods.method import Method
from roughly.papers.cosine_truth import term_matrix
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import ExperimentCase, ExperimentOutcome, batch_of
from roughly.settings import Resources
from roughly.signing.text_batch import TextBatch
from roughly.text.canonical import tokenise, words
from roughly.tools.corpus import Corpus
from roughly.tools.metrics.set_agreement import ListScores, SetAgreement, is_missed
from roughly.verify.kinds import KINDS, kinds_of_pairs

FOUND = 20
"""Documents in a list."""
FEWEST_WORDS = 3
MEASURES = ("overlap", "cosine")
CATEGORIES = {
    kind: f"{number}. {'focus (rewrite)' if kind == 'rewrite' else kind}" for number, kind in enumerate(KINDS, 1)
}
"""The paper's categories, in its order and with its names."""
REASONS = (
    "too few terms for a signature", "lengths too far apart", "dates too far apart or not known",
    "too few terms in common",
)  # fmt: skip
SIZES = {2: "Pairs", 3: "Triples", 4: "Quadruplets", 5: "Quintuplets", 6: "Sextuplets"}

Sets = list[frozenset[int]]


@dataclass(frozen=True)
class ResultLists:
    """Result lists of some queries over a corpus, with the true sets of each."""

    corpus: Corpus
    lists: list[list[int]]
    true: list[Sets]

    @property
    def sets(self) -> Sets:
        """All true sets."""
        return [own for found in self.true for own in found]


@dataclass(frozen=True)
class WeightedTerms:
    """Documents × terms of a corpus, as ones, with the squared idf of terms."""

    names: npt.NDArray[np.uint64]
    matrix: Any
    sizes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    norms: npt.NDArray[np.float64]


@lru_cache(maxsize=4)
def _weighted(corpus: Corpus) -> WeightedTerms:
    tokens = tokenise(corpus.texts)
    matrix, sizes = term_matrix(tokens)
    frequency = np.asarray(matrix.sum(axis=0)).ravel()
    weights = np.log((len(corpus) + 0.5) / np.maximum(frequency, 1)) ** 2
    norms = np.sqrt(np.maximum(np.asarray(matrix.multiply(weights).tocsr().sum(axis=1)).ravel(), 1e-12))
    return WeightedTerms(np.unique(tokens.hashes), matrix, sizes, weights, norms)


def query(corpus: Corpus, queries: int, seed: str, measure: str, similar: float) -> ResultLists:
    """Draw queries, rank documents, and find the duplicates in each list."""
    titled = [i for i, title in enumerate(corpus.titles) if title and len(words(title)) >= FEWEST_WORDS]
    if len(titled) < queries or len(corpus) < FOUND:
        raise InputError(
            f"{corpus.name} has {len(titled)} documents with a title of {FEWEST_WORDS} words; {queries} are needed, "
            f"or say fewer with --set queries=…; and there must be {FOUND} documents"
        )
    drawn = random.Random(f"{seed} {corpus.name}").sample(titled, queries)
    titles = pa.array([corpus.titles[i] for i in drawn], pa.large_string())
    known = _weighted(corpus)
    matrix, sizes = known.matrix, known.sizes
    asked = term_matrix(tokenise(titles), known.names)[0].multiply(known.weights).tocsr()
    scores = np.asarray((asked @ matrix.T).todense()) / known.norms
    lists, true = [], []
    for own in scores:
        best = [int(i) for i in np.argsort(-own, kind="stable")[:FOUND] if own[i] > 0]
        shared = np.asarray((matrix[best] @ matrix[best].T).todense()).astype(np.float64)
        a, b = np.meshgrid(sizes[best], sizes[best])
        base = np.maximum(a, b) if measure == "overlap" else np.sqrt(a * b)
        near = shared >= similar * np.maximum(base, 1) - 1e-9
        lists.append(best)
        true.append(_components(best, [(i, j) for i, j in combinations(range(len(best)), 2) if near[i, j]]))
    return ResultLists(corpus, lists, true)


def run(case: ExperimentCase) -> ExperimentOutcome:
    """Kinds of the duplicates, sizes of the sets, and the agreement of a method with them."""
    checks.refuse(checks.one_of("measure", case.number("measure"), MEASURES))
    rounds = {}
    for role, corpus, _ in case.named():
        for name in case.number("rounds"):
            called = ", ".join(part for part in (name, role if len(case.corpora) > 1 else "") if part)
            seed = f"{case.number('seed')} {name}"
            rounds[called] = query(corpus, case.number("queries"), seed, case.number("measure"), case.number("similar"))
    with_sets = [
        f"{name}: {sum(bool(found) for found in one.true)} of {len(one.lists)} queries have duplicate sets, "
        f"{len(one.sets)} sets of {sum(len(own) for own in one.sets)} documents"
        for name, one in rounds.items()
    ]
    notes = [
        f"{case.corpus.name if len(case.corpora) == 1 else 'Each collection'}: titles of documents drawn at random as "
        f"queries, lists of {FOUND}; duplicates by {case.number('measure')} of words ≥ {case.number('similar')}. "
        f"{'; '.join(with_sets)}."
    ]
    tables = {"kinds": _kinds(rounds, notes), "sizes": _sizes(rounds, notes)}
    if case.rows:
        method = case.rows[0].make(case.lexicon, case.number("seed"))
        tables["agreement"], tables["misses"] = _agreement(rounds, method, notes)
    return ExperimentOutcome(tables)


def _kinds(rounds: dict[str, ResultLists], notes: list[str]) -> PaperTable:
    """Table 2: a set is of the kind that most of its documents are to the oldest of them."""
    columns, cells = [TableColumn("Category")], {kind: [] for kind in CATEGORIES}  # type: ignore[var-annotated]
    for name, one in rounds.items():
        sets: Counter[str] = Counter()
        documents: Counter[str] = Counter()
        tokens = batch_of(one.corpus).tokens
        days = days_of(one.corpus.dates)
        for own in one.sets:
            oldest = min(own, key=lambda i: (int(days[i]), i))
            others = sorted(own - {oldest})
            codes = kinds_of_pairs(tokens, np.array(others), np.full(len(others), oldest))
            counted = Counter(KINDS[code] for code in codes.tolist())
            kind = max(KINDS, key=lambda k: counted[k])
            sets[kind] += 1
            documents[kind] += len(own)
        columns += [TableColumn(f"Sets, {name}", "percent"), TableColumn(f"Documents, {name}", "percent")]
        for kind, row in cells.items():
            row += [counts[kind] / counts.total() if counts.total() else None for counts in (sets, documents)]
    rows: list[list[Cell]] = [[CATEGORIES[kind], *row] for kind, row in cells.items()]
    return PaperTable("Duplicate document distribution", columns, rows, notes)


def _sizes(rounds: dict[str, ResultLists], notes: list[str]) -> PaperTable:
    """Table 7: the number of sets of each size."""
    counted = {name: Counter(len(own) for own in one.sets) for name, one in rounds.items()}
    rows: list[list[Cell]] = [[called, *(c[size] for c in counted.values())] for size, called in SIZES.items()]
    rows.append(["Larger", *(sum(n for size, n in c.items() if size > max(SIZES)) for c in counted.values())])
    rows.append(["Total", *(c.total() for c in counted.values())])
    return PaperTable(
        "Duplicate sets by size", [TableColumn("Set size"), *(TableColumn(n, "count") for n in counted)], rows, notes
    )


def _agreement(rounds: dict[str, ResultLists], method: Method, notes: list[str]) -> tuple[PaperTable, PaperTable]:
    """Table 8: sets that the method finds completely, in part or not at all, and false sets; why it missed."""
    cells: list[list[int]] = []
    reasons: list[Counter[str]] = []
    for one in rounds.values():
        agreed: dict[str, SetAgreement] = {}
        why: Counter[str] = Counter()
        for best, true in zip(one.lists, one.true, strict=True):
            found = _found(method, one.corpus, best)
            agreed[str(len(agreed))] = SetAgreement.of(found, true)
            why.update(_reason(method, one.corpus, sorted(own)) for own in true if is_missed(own, found))
        total = ListScores(agreed, {}).total
        cells.append([total.same, total.partly, total.missed, total.over, total.sets])
        reasons.append(why)
    names = (
        "Agreement, the same set", "Agreement in part", "Misses (False Negatives)",
        "Over-Identification (False Positives)", "Sets to find",
    )  # fmt: skip
    rows: list[list[Cell]] = [[name, *(own[place] for own in cells)] for place, name in enumerate(names)]
    rows.append(["Share recognised", *((own[0] + own[1]) / own[4] if own[4] else None for own in cells)])
    columns = [TableColumn("Performance"), *(TableColumn(name, "number") for name in rounds)]
    missing: list[list[Cell]] = [[reason, *(own[reason] for own in reasons)] for reason in REASONS]
    return (
        PaperTable("Agreement", columns, rows, notes),
        PaperTable(
            "Sets missed, and why",
            [TableColumn("Reason"), *columns[1:]],
            missing,
            ["The first reason that fits a set."],
        ),
    )


def _reason(method: Method, corpus: Corpus, members: list[int]) -> str:
    """Why no two documents of a set were found together."""
    own = corpus.take(members)
    texts = TextBatch(own.texts)
    keys, judge = texts.sign(method).keys, method.judge()
    signed = [int(i) for i in np.flatnonzero(~keys.missing())] if keys is not None else []
    if len(signed) < 2:
        return REASONS[0]
    lengths, days = texts.lengths, days_of(own.dates)
    pairs = list(combinations(signed, 2))
    if judge.lengths is not None:
        pairs = [(i, j) for i, j in pairs if min(lengths[[i, j]]) >= (1 - judge.lengths) * max(lengths[[i, j]])]
    if not pairs:
        return REASONS[1]
    if judge.dates is not None:
        pairs = [(i, j) for i, j in pairs if abs(int(days[i]) - int(days[j])) <= judge.dates]
    return REASONS[2] if not pairs else REASONS[3]


def _found(method: Method, corpus: Corpus, best: list[int]) -> Sets:
    own = corpus.take(best)
    texts = TextBatch(own.texts)
    signature, lengths = texts.sign(method), texts.lengths
    if signature.keys is None:
        raise TypeError(f"{method.name} has no keys; it is no detector")
    facts = DocumentFacts(signature.sketch, lengths, days_of(own.dates))
    found = resolve_in_memory(
        signature.keys, method.judge(), facts, rank=longest_first(lengths), work=work_of(Resources(threads=1)),
        rules=ClusterRules(linked=True),
    )  # fmt: skip
    groups: dict[int, list[int]] = {}
    for place, root in enumerate(found.root.tolist()):
        groups.setdefault(root, []).append(best[place])
    return [frozenset(members) for members in groups.values() if len(members) > 1]


def _components(members: list[int], links: list[tuple[int, int]]) -> Sets:
    root = list(range(len(members)))

    def find(i: int) -> int:
        while root[i] != i:
            i = root[i]
        return i

    for i, j in links:
        root[find(j)] = find(i)
    groups: dict[int, list[int]] = {}
    for i in range(len(members)):
        groups.setdefault(find(i), []).append(members[i])
    return [frozenset(own) for own in groups.values() if len(own) > 1]


PROTOCOL = Protocol(
    "results", "duplicates in the lists that queries find: kinds, sizes of sets, and a method's agreement", run,
    ("kinds", "sizes", "agreement", "misses"),
    {"seed": 0, "queries": 50, "rounds": [""], "measure": "overlap", "similar": 0.8},
    takes_methods=True, needs_methods=False, takes_lexicon=True,
)  # fmt: skip
