"""Running an experiment: read corpora, make methods, run the protocol, put the tables beside the paper's.

Experiments that measure the same thing share one run of their protocol.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.errors import InputMissing, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.lexicon import Lexicon
from roughly.papers.draws import SEEDS, mean_seconds, mean_table, shape_of_all
from roughly.papers.expected_shapes import ShapeResult
from roughly.papers.experiment import CollectionRole, Experiment, FigureSpec, TableSpec
from roughly.papers.paper_table import Cell, PaperTable, Range, TableColumn
from roughly.papers.setup import ExperimentCase, ExperimentOutcome
from roughly.text.canonical import buffers, tokenise
from roughly.tools.corpus import Corpus, read_corpus

IN_PAPER = ", in the paper"


@dataclass(frozen=True)
class SharedInputs:
    """A table of a result: ours, what the paper prints, and the two together."""

    of: str
    title: str
    ours: PaperTable
    paper: Mapping[str, Mapping[str, float]]  # by row and column
    figure: FigureSpec | None
    only: bool

    @cached_property
    def beside(self) -> PaperTable:
        """Ours, each column followed by the paper's, if it prints one."""
        printed = list(dict.fromkeys(name for cells in self.paper.values() for name in cells))
        own = [column.name for column in self.ours.columns]
        columns: list[TableColumn] = []
        rows: list[list[Cell]] = [[] for _ in self.ours.rows]
        ranges: list[list[Range | None]] = [[] for _ in self.ours.rows]

        def add(column: TableColumn, place: int | None, name: str) -> None:
            columns.append(column)
            for number, cells in enumerate(self.ours.rows):
                paper = self.paper.get(str(cells[0]), {}).get(name)
                rows[number].append(paper if place is None else cells[place])
                ranges[number].append(None if place is None else self.ours.range_of(number, place))

        for place, column in enumerate(self.ours.columns):
            add(column, place, column.name)
            if column.name in printed:
                add(TableColumn(column.name + IN_PAPER, column.kind), None, column.name)
        for name in printed:
            if name not in own:
                add(TableColumn(name + IN_PAPER, "number"), None, name)
        return PaperTable(self.title, columns, rows, self.ours.notes, ranges if self.ours.ranges else ())


@dataclass(frozen=True)
class ExperimentResult:
    """The result of an experiment."""

    experiment: Experiment
    parameters: Mapping[str, Any]
    corpora: Mapping[str, tuple[str, int]]  # by role: name and documents
    lexicon: str | None
    tables: tuple[SharedInputs, ...]
    held: tuple[ShapeResult, ...]
    seconds: Mapping[str, tuple[float, float]]  # mean and standard deviation of the draws
    seeds: tuple[int, ...]
    inputs: str  # a digest of the documents

    def document(self) -> dict[str, Any]:
        """Everything but the seconds, as plain values."""
        return {
            "experiment": self.experiment.name,
            "paper": self.experiment.paper,
            "protocol": self.experiment.protocol.name,
            "corpora": {role: {"name": name, "documents": count} for role, (name, count) in self.corpora.items()},
            "lexicon": self.lexicon,
            "parameters": dict(self.parameters),
            "seeds": list(self.seeds),
            "methods": [{"name": row.name, **row.settings} for row in self.experiment.rows],
            "tables": [{"of": table.of, **table.beside.to_dict()} for table in self.tables],
            "expected": [vars(held) for held in self.held],
        }

    def remarks(self) -> list[str]:
        """The remarks about the default run, with figures from the tables."""
        found = {table.of: _Rows(table.ours, self.experiment.name) for table in self.tables}
        filled = []
        for text in self.experiment.remarks:
            try:
                filled.append(text.format(**found))
            except (KeyError, IndexError, ValueError) as problem:
                raise SettingsError(f"{self.experiment.name}: the remark {text[:40]!r}… names {problem}") from problem
        return filled


class _Rows:
    """Cells as people read them, by row and column, for remarks."""

    def __init__(self, table: PaperTable, where: str) -> None:
        self._table, self._where = table, where

    def __getitem__(self, row: str) -> dict[str, str]:
        for cells in self._table.rows:
            if str(cells[0]) == str(row):
                columns = self._table.columns
                return {column.name: column.shown(cell) for column, cell in zip(columns, cells, strict=True)}
        raise SettingsError(f"{self._where}: a remark names the row {row!r}, which is not in {self._table.title}")


@dataclass
class ExperimentRunner:
    """What experiments are run on: the files given, or those that the experiments name in a folder."""

    files: Sequence[str] = ()
    folder: Path | None = None
    lexicon: Lexicon | None = None
    changed: Mapping[str, Any] = field(default_factory=dict)  # changed parameters
    sample: int = 0  # most documents per corpus; 0: as the experiment says
    seeds: int = SEEDS  # draws of an experiment that depends on a seed
    text_column: str | None = None
    label_column: str | None = None
    _outcomes: dict[str, ExperimentOutcome] = field(default_factory=dict)
    _corpora: dict[str, Corpus] = field(default_factory=dict)

    def run(self, experiment: Experiment) -> ExperimentResult:
        """Run an experiment, and check its expected shapes."""
        if self.lexicon is not None and not experiment.protocol.takes_lexicon:
            raise SettingsError(f"{experiment.name} makes its own lexicons from the corpus; leave --lexicon out")
        parameters = experiment.protocol.parameters_of({**experiment.parameters, **self.changed}, experiment.name)
        first = parameters.get("seed", 0)
        seeds = tuple(range(first, first + (self.seeds if experiment.random else 1)))
        outcomes = [self._outcome(experiment, parameters, seed) for seed in seeds]
        draws = [tuple(_shared(experiment, shown, own) for shown in experiment.tables) for own in outcomes]
        tables = tuple(
            replace(same[0], ours=mean_table([own.ours for own in same], seeds)) for same in zip(*draws, strict=True)
        )
        changed = bool(self.changed)
        checked = [_checked(experiment, own, changed) for own in draws]
        held = _checked(experiment, tables, changed)
        if len(seeds) > 1:
            held = tuple(shape_of_all(own, mean) for *own, mean in zip(*checked, held, strict=True))
        corpora = self._drawn(experiment, first)
        return ExperimentResult(
            experiment, parameters, {role: (corpus.name, len(corpus)) for role, corpus in corpora.items()},
            self.lexicon.fingerprint if self.lexicon else None, tables, held,
            mean_seconds([own.seconds for own in outcomes]), seeds, _digest(corpora.values()),
        )  # fmt: skip

    def _drawn(self, experiment: Experiment, seed: int) -> dict[str, Corpus]:
        return {part.role: self._corpus(experiment, place, part, seed) for place, part in enumerate(experiment.parts)}

    def _outcome(self, experiment: Experiment, parameters: Mapping[str, Any], seed: int) -> ExperimentOutcome:
        rows = [(row.name, dict(row.settings)) for row in experiment.rows]
        parts = [{**vars(part), "stands_for": ""} for part in experiment.parts]
        columns = sorted(experiment.columns) if experiment.protocol.columns else []
        lexicon = self.lexicon.fingerprint if self.lexicon else ""
        key = json.dumps([experiment.protocol.name, parts, rows, dict(parameters), columns, seed, lexicon], default=str)
        if key not in self._outcomes:
            own = {**parameters, "seed": seed} if "seed" in parameters else parameters
            corpora = self._drawn(experiment, seed)
            case = ExperimentCase(corpora, experiment.rows, own, experiment.columns, self.lexicon)
            self._outcomes[key] = experiment.protocol.run(case)
        return self._outcomes[key]

    def _corpus(self, experiment: Experiment, place: int, part: CollectionRole, seed: int = 0) -> Corpus:
        paths = self._paths(experiment, place, part)
        labelled = part.label_column and (self.label_column or part.label_column)
        key = json.dumps([paths, labelled, self.text_column])
        if key not in self._corpora:
            self._corpora[key] = read_corpus(paths, label_column=labelled or None, text_column=self.text_column)
        drawn = bool(self.sample or (0 if self.files else part.documents))
        if drawn:
            return self._part(self._corpora[key], part, seed)
        own = json.dumps([key, part.labels, part.fewest_words])
        if own not in self._corpora:
            self._corpora[own] = self._part(self._corpora[key], part, seed)
        return self._corpora[own]

    def _part(self, corpus: Corpus, part: CollectionRole, seed: int) -> Corpus:
        """The documents of a collection that an experiment uses; each seed draws others, if not all are used."""
        if part.labels and not self.files:
            corpus = corpus.take([i for i, label in enumerate(corpus.labels) if label in part.labels])
        if part.fewest_words:
            lengths = np.diff(tokenise(corpus.texts).offsets)
            corpus = corpus.take(np.flatnonzero(lengths >= part.fewest_words).tolist())
        most = self.sample or (0 if self.files else part.documents)
        if most and most < len(corpus):
            corpus = corpus.take(_drawn(corpus, most, part, seed))
        return corpus

    def _paths(self, experiment: Experiment, place: int, part: CollectionRole) -> list[str]:
        parts = len(experiment.parts)
        if self.files and parts == 1:
            return list(self.files)
        if self.files and len(self.files) == 1:
            return list(self.files)
        if self.files and len(self.files) != parts:
            roles = ", ".join(own.role for own in experiment.parts)
            raise SettingsError(
                f"{experiment.name} has {parts} collections ({roles}): give one file for each with --corpus, or one "
                f"for all, not {len(self.files)}"
            )
        if self.files:
            return [self.files[place]]
        if self.folder is None:
            raise InputMissing(
                f"{experiment.name} needs documents: give files with --corpus, or with --corpora the folder that holds "
                f"{part.file}"
            )
        return [str(self.folder / part.file)]


def _digest(corpora: Iterable[Corpus]) -> str:
    """Sixteen hex digits of the ids and texts of collections."""
    found = hashlib.sha256()
    for corpus in corpora:
        for column in (pa.array(corpus.ids, pa.large_string()), corpus.texts):
            data, offsets = buffers(column)
            found.update(np.ascontiguousarray(data).tobytes())
            found.update(np.diff(offsets).tobytes())
    return found.hexdigest()[:16]


def _drawn(corpus: Corpus, most: int, part: CollectionRole, seed: int) -> list[int]:
    """A random sample of `most` documents; or random labels, with all their documents, until there are enough."""
    dice = random.Random(part.seed + seed)
    if not part.whole:
        return sorted(dice.sample(range(len(corpus)), most))
    owners: dict[str, list[int]] = {}
    for place, label in enumerate(corpus.labels):
        owners.setdefault(label or "", []).append(place)
    labels = sorted(owners)
    dice.shuffle(labels)
    chosen: list[int] = []
    for label in labels:
        if len(chosen) + len(owners[label]) <= most:
            chosen += owners[label]
    return sorted(chosen or dice.sample(range(len(corpus)), most))


def _shared(experiment: Experiment, shown: TableSpec, outcome: ExperimentOutcome) -> SharedInputs:
    table = outcome.table(shown.of, experiment.name).chosen(shown.columns, f"{experiment.name}, {shown.of}")
    paper: dict[str, dict[str, float]] = {}
    for entry in shown.paper:
        cells = {name: value for name, value in entry.items() if name != "row"}
        divisors = shown.paper_of
        paper[str(entry["row"])] = {n: value / divisors[n] if n in divisors else value for n, value in cells.items()}
    if shown.figure is not None:
        for name in (shown.figure.x, *shown.figure.y):
            table.place(name, f"{experiment.name}, figure")
    return SharedInputs(shown.of, shown.title or experiment.title, table, paper, shown.figure, shown.only)


def _checked(experiment: Experiment, tables: tuple[SharedInputs, ...], changed: bool) -> tuple[ShapeResult, ...]:
    """Check the expected shapes; missing rows are an error, unless parameters were changed."""
    by_name = {table.of: table for table in tables}
    held = []
    for shape in experiment.expected:
        table = by_name[shape.table] if shape.table else tables[0]
        try:
            held.append(shape.check(table.ours, table.paper, experiment.name))
        except SettingsError as problem:
            if not changed:
                raise
            held.append(ShapeResult(shape.says, None, str(problem)))
    return tuple(held)
