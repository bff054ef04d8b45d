"""The experiments of I-Match 2002: Table II (syntactic filters), III and IV (contrived duplicates), IX (52 filters)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from roughly.lab.contrived import Contrived, contrive
from roughly.lab.corpus import Corpus
from roughly.lab.detectors import Detector, Groups, by_method
from roughly.lab.metrics import score_family
from roughly.lab.setup import Setup, lexicon_of
from roughly.lab.table import Cell, Column, Table
from roughly.lexicon import Lexicon
from roughly.methods.imatch import IMatch
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.syntactic import Syntactic
from roughly.methods.term_filters import TABLE_IX, TermFilter
from roughly.text.canonical import tokenise
from roughly.text.filters import Filters

Ints = npt.NDArray[np.int64]
NAMES = {"terms": "collection's distinct terms", "text": "collection's running text", "document": "document itself"}
NORM = "imatch"
"""The paper's own scale of idf, from 0 for the commonest term of the collection to 1 for the rarest."""


def combinations() -> Iterator[tuple[str, ...]]:
    """The 32 combinations of the five syntactic filters, in the order of Table II."""
    for stem, nosc, tl25, tg5, sw in itertools.product((False, True), repeat=5):
        names = (("stem", stem), ("nosc", nosc), ("tl25", tl25), ("tg5", tg5), ("sw", sw))
        yield tuple(name for name, on in names if on)


def table_ii(setup: Setup) -> list[Table]:
    """Table II: what is left of the lexicon, and what is found, after each combination of syntactic filters."""
    texts, seconds = setup.corpus.texts, []
    rows: list[list[Cell]] = []
    whole = len(np.unique(tokenise(texts).hashes))
    for names in combinations():
        start = time.process_time()
        filters = Filters(names)
        left = len(np.unique(filters.apply(texts).hashes))
        found = by_method(Syntactic(filters))(texts)
        unique = len(np.unique(found.group))
        rows.append([",".join(names) or "nothing", left / max(whole, 1), 1 - unique / len(texts), unique])
        seconds.append(time.process_time() - start)
    columns = [
        Column("Filters"), Column("Percentage of Original Lexicon", "percent"),
        Column("Percent Found as Duplicates", "percent"), Column("Unique Documents Found in Collection", "count"),
    ]  # fmt: skip
    return [Table(f"Table II. Syntactic experiments: {setup.corpus.name}", columns, rows, seconds=seconds)]


def detectors(lexicon: Lexicon) -> dict[str, Detector]:
    """The methods of Tables III and IV by their names there. Add to this list to compare others.

    DSC-SS leaves out documents with too few sampled shingles, as the paper's did (§4.4).
    """
    return {
        "DSC": by_method(Shingles()),
        "DSC-SS-2": by_method(SuperShingles(2, short="keep")),
        "DSC-SS-4": by_method(SuperShingles(4, short="keep")),
        "DOC-L-90": by_method(IMatch(lexicon=lexicon, filter="Doc-L-90", norm=NORM)),
        "IDF-L-10": by_method(IMatch(lexicon=lexicon, filter="IDF-L-10", norm=NORM)),
        "IDF-L-10 + 10": by_method(IMatch(lexicon=lexicon, filter="IDF-L-10", norm=NORM, lexicons=10)),
    }


def tables_iii_iv(setup: Setup) -> list[Table]:
    """Tables III and IV: of ten documents and ten copies of each, how many each method brings together."""
    options = setup.options
    made = contrive(setup.corpus, seed=options.seed, every=options.every, alpha=options.alpha, added=options.added)
    return compare_families(setup, made, detectors(lexicon_of(made.corpus)))


def compare_families(setup: Setup, made: Contrived, named: Mapping[str, Detector]) -> list[Table]:
    """The two tables for any detectors."""
    scored = {}
    for name, detector in named.items():
        groups = detector(made.corpus.texts).group
        scored[name] = [score_family(groups, made.family(number)) for number in range(len(made.originals))]
    ids = [made.corpus.ids[place] for place in made.originals]
    ratios: list[list[Cell]] = [[own, *(s[i].found for s in scored.values())] for i, own in enumerate(ids)]
    counts: list[list[Cell]] = [[own, *(s[i].clusters for s in scored.values())] for i, own in enumerate(ids)]
    for rows, pick in ((ratios, "found"), (counts, "clusters")):
        rows.append(["Average", *(float(np.mean([getattr(x, pick) for x in s])) for s in scored.values())])
    false = ", ".join(f"{name} {sum(x.false for x in s)}" for name, s in scored.items())
    options = setup.options
    notes = [
        f"Documents of other origin grouped with them (false positives): {false}.",
        f"Something happens at every {options.every}th word if a draw from 1 to 10 is above {options.alpha}; "
        f"words are added from the {NAMES[options.added]}; seed {options.seed}.",
    ]
    found = [Column("Document"), *(Column(name, "percent") for name in scored)]
    clusters = [Column("Document"), *(Column(name, "number") for name in scored)]
    return [
        Table(f"Table III. Documents found ratio: {made.corpus.name}", found, ratios, notes),
        Table(f"Table IV. Document clusters formed: {made.corpus.name}", clusters, counts),
    ]


_COLUMNS = [
    Column("Experiment"), Column("Post Doc Num", "count"), Column("Filtered", "count"),
    Column("Pre Avg Dist Terms", "count"), Column("Post Avg Dist Terms", "count"), Column("Pre Doc Size", "count"),
    Column("Post Doc Size", "count"), Column("Dup Hash", "count"), Column("Dup Title", "count"),
    Column("Dup Total", "count"), Column("Dup Clusters", "count"), Column("Max Cluster", "count"),
]  # fmt: skip


def table_ix(setup: Setup) -> list[Table]:
    """Table IX: every filter of I-Match on one collection, its own lexicon."""
    from roughly.kernels.terms import distinct_terms

    corpus = setup.corpus
    lexicon = setup.lexicon or lexicon_of(corpus)
    tokens = tokenise(corpus.texts)
    sizes = np.diff(tokens.offsets)
    distinct = np.diff(distinct_terms(tokens.hashes, tokens.offsets)[2])
    named: dict[str, Detector] = {"baseline": by_method(Syntactic(Filters.parse("nosc,stem")))}
    for name in TABLE_IX:
        method = IMatch(lexicon=lexicon, filter=name, norm=NORM)
        named[TermFilter.parse(name).in_table] = by_method(method)
    rows: list[list[Cell]] = []
    seconds = []
    for name, detector in named.items():
        start = time.process_time()
        found = detector(corpus.texts)
        seconds.append(time.process_time() - start)
        rows.append([name, *_counts(found, corpus, distinct, sizes)])
    notes = [
        f"{len(corpus):,} documents. Averages before are over all documents, after over those that are left, each with "
        "all its terms, as in the paper. Duplicates are documents beside the first of a cluster; those under "
        "“Dup Title” have the title of another in theirs."
    ]
    return [Table(f"Table IX. I-Match experiments: {corpus.name}", _COLUMNS, rows, notes, seconds)]


def _counts(
    found: Groups, corpus: Corpus, distinct: Ints,
    sizes: Ints,
) -> list[int]:  # fmt: skip
    left = ~found.ignored
    titled = _same_title(found, corpus)
    total = found.duplicates - found.clusters
    return [
        int(left.sum()), int(found.ignored.sum()), _average(distinct), _average(distinct[left]), _average(sizes),
        _average(sizes[left]), total - titled, titled, total, found.clusters, found.largest,
    ]  # fmt: skip


def _same_title(found: Groups, corpus: Corpus) -> int:
    """Documents beside the first of a cluster whose title another before them in it has."""
    seen: set[tuple[int, str]] = set()
    count = 0
    for group, title in zip(found.group.tolist(), corpus.titles, strict=True):
        if title:
            count += (group, title) in seen
            seen.add((group, title))
    return count


def _average(values: Ints) -> int:
    return round(float(values.mean())) if len(values) else 0
