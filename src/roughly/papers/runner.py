"""Running an experiment: corpora read, methods made, the protocol run, the tables put beside the paper's.

Experiments that measure the same thing share one run of their protocol.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from roughly.errors import InputMissing, SettingsError
from roughly.lexicon import Lexicon
from roughly.papers.expected_shapes import ShapeResult
from roughly.papers.experiment import CollectionRole, Experiment, FigureSpec, TableSpec
from roughly.papers.paper_table import Cell, PaperTable, TableColumn
from roughly.papers.setup import ExperimentCase, ExperimentOutcome
from roughly.text.canonical import tokenise
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
        """Ours, with a column of the paper's behind every one that it prints."""
        printed = list(dict.fromkeys(name for cells in self.paper.values() for name in cells))
        own = [column.name for column in self.ours.columns]
        columns: list[TableColumn] = []
        rows: list[list[Cell]] = [[] for _ in self.ours.rows]
        for place, column in enumerate(self.ours.columns):
            columns.append(column)
            for row, cells in zip(rows, self.ours.rows, strict=True):
                row.append(cells[place])
            if column.name in printed:
                columns.append(TableColumn(column.name + IN_PAPER, column.kind))
                for row, cells in zip(rows, self.ours.rows, strict=True):
                    row.append(self.paper.get(str(cells[0]), {}).get(column.name))
        for name in printed:
            if name not in own:
                columns.append(TableColumn(name + IN_PAPER, "number"))
                for row, cells in zip(rows, self.ours.rows, strict=True):
                    row.append(self.paper.get(str(cells[0]), {}).get(name))
        return PaperTable(self.title, columns, rows, self.ours.notes)


@dataclass(frozen=True)
class ExperimentResult:
    """What an experiment gave."""

    experiment: Experiment
    parameters: Mapping[str, Any]
    corpora: Mapping[str, tuple[str, int]]  # by role: name and documents
    lexicon: str | None
    tables: tuple[SharedInputs, ...]
    held: tuple[ShapeResult, ...]
    seconds: Mapping[str, float]

    def document(self) -> dict[str, Any]:
        """Everything but the seconds, as plain values."""
        return {
            "experiment": self.experiment.name,
            "paper": self.experiment.paper,
            "protocol": self.experiment.protocol.name,
            "corpora": {role: {"name": name, "documents": count} for role, (name, count) in self.corpora.items()},
            "lexicon": self.lexicon,
            "parameters": dict(self.parameters),
            "methods": [{"name": row.name, **row.settings} for row in self.experiment.rows],
            "tables": [{"of": table.of, **table.beside.to_dict()} for table in self.tables],
            "expected": [vars(held) for held in self.held],
        }

    def remarks(self) -> list[str]:
        """What is said about the default run, its figures filled in from the tables."""
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
    changed: Mapping[str, Any] = field(default_factory=dict)  # parameters other than the files'
    sample: int = 0  # at most so many documents of each corpus; 0: as the experiment says
    text_column: str | None = None
    label_column: str | None = None
    _outcomes: dict[str, ExperimentOutcome] = field(default_factory=dict)
    _corpora: dict[str, Corpus] = field(default_factory=dict)

    def run(self, experiment: Experiment) -> ExperimentResult:
        """Run it, and check what was expected."""
        if self.lexicon is not None and not experiment.protocol.takes_lexicon:
            raise SettingsError(f"{experiment.name} makes its own lexicons from the corpus; leave --lexicon out")
        parameters = experiment.protocol.settled({**experiment.parameters, **self.changed}, experiment.name)
        corpora = {part.role: self._corpus(experiment, place, part) for place, part in enumerate(experiment.parts)}
        case = ExperimentCase(corpora, experiment.rows, parameters, experiment.columns, self.lexicon)
        outcome = self._outcome(experiment, case)
        tables = tuple(_shared(experiment, shown, outcome) for shown in experiment.tables)
        return ExperimentResult(
            experiment, parameters, {role: (corpus.name, len(corpus)) for role, corpus in corpora.items()},
            self.lexicon.fingerprint if self.lexicon else None, tables,
            _checked(experiment, tables, bool(self.changed)), outcome.seconds,
        )  # fmt: skip

    def _outcome(self, experiment: Experiment, case: ExperimentCase) -> ExperimentOutcome:
        parts = {role: (corpus.name, len(corpus)) for role, corpus in case.corpora.items()}
        rows = [(row.name, dict(row.settings)) for row in case.rows]
        draws = [(part.seed, part.documents, part.labels, part.fewest_words, part.whole) for part in experiment.parts]
        key = json.dumps(
            [experiment.protocol.name, parts, rows, dict(case.parameters), sorted(case.columns), draws], default=str
        )
        if key not in self._outcomes:
            self._outcomes[key] = experiment.protocol.run(case)
        return self._outcomes[key]

    def _corpus(self, experiment: Experiment, place: int, part: CollectionRole) -> Corpus:
        paths = self._paths(experiment, place, part)
        labelled = part.label_column and (self.label_column or part.label_column)
        key = json.dumps([paths, labelled, self.text_column])
        if key not in self._corpora:
            self._corpora[key] = read_corpus(paths, label_column=labelled or None, text_column=self.text_column)
        corpus = self._corpora[key]
        if part.labels and not self.files:
            corpus = corpus.take([i for i, label in enumerate(corpus.labels) if label in part.labels])
        if part.fewest_words:
            lengths = np.diff(tokenise(corpus.texts).offsets)
            corpus = corpus.take(np.flatnonzero(lengths >= part.fewest_words).tolist())
        most = self.sample or (0 if self.files else part.documents)
        if most and most < len(corpus):
            corpus = corpus.take(_drawn(corpus, most, part))
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


def _drawn(corpus: Corpus, most: int, part: CollectionRole) -> list[int]:
    """So many documents at random; or labels at random, with all their documents, until there are so many."""
    dice = random.Random(part.seed)
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
    """What was expected; rows that are not there are an error, unless parameters were changed."""
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
