"""An experiment as a file declares it: method × settings × corpus → table, figure, expected shape.

    title     = "Table III. Documents found ratio"
    paper     = "I-Match 2002, §4.3"
    about     = "contrived duplicates found again"
    protocol  = "contrived"                         # of roughly.papers.protocols

    [parameters]                                    # of the protocol
    every = 10

    [[corpus]]                                      # one for each part that a collection plays
    role = "collection"
    file = "reuters21578.parquet"                   # in the folder that --corpora names
    stands_for = "18,232 articles of the LA Times"
    documents = 2000                                # drawn at random; all of them if not said
    label_column = "label"
    whole = true                                    # draw labels, with all their documents

    [[methods]]                                     # rows; settings are those of `roughly dedupe`
    name = "DSC-SS-{super_size}"
    method = "super-shingles"
    vary = { super_size = [2, 4] }                  # one row for each

    [[tables]]
    of = "average"                                  # a table of the protocol
    columns = ["Found", "Clusters"]                 # all of them if not said
    paper = [{ row = "DSC", Found = 0.309 }]        # what the paper prints
    figure = { x = "Method", y = ["Found"] }

    [[expected]]                                    # a shape, checked on the result (roughly.papers.expected_shapes)
    says = "DSC finds more than super shingles of two"
    above = ["DSC", "DSC-SS-2"]
    column = "Found"

    remarks = ["Where we differ, and why: {average[DSC][Found]} …"]

All problems of a file are reported together, with its name.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from roughly.errors import InputError, InputMissing, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.papers.expected_shapes import ExpectedShape
from roughly.papers.protocols import PROTOCOLS
from roughly.papers.protocols.protocol import Protocol
from roughly.papers.setup import MethodRow

_TOP = {"title", "paper", "about", "protocol", "parameters", "corpus", "methods", "tables", "expected", "remarks"}
_CORPUS = {"role", "file", "stands_for", "documents", "seed", "label_column", "labels", "whole", "fewest_words"}
_TABLE = {"of", "title", "columns", "paper", "paper_of", "figure", "only"}
_FIGURE = {"kind", "x", "y", "x_label", "y_label", "log", "title"}
KINDS = ("lines", "bars")


@dataclass(frozen=True)
class CollectionRole:
    """A role of a collection, and the collection in that role unless another is given."""

    role: str
    file: str
    stands_for: str
    documents: int = 0  # 0: all
    seed: int = 0
    label_column: str | None = None
    labels: tuple[str, ...] = ()  # only documents with one of these
    fewest_words: int = 0  # shorter documents are left out
    whole: bool = False  # documents of one label are drawn together, so that similar ones are not separated


@dataclass(frozen=True)
class FigureSpec:
    """A picture of a table: some of its columns over one of them."""

    x: str
    y: tuple[str, ...]
    kind: str = "lines"
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    log: str = ""  # x, y or xy


@dataclass(frozen=True)
class TableSpec:
    """A table of the protocol as it is shown, with what the paper prints."""

    of: str
    title: str = ""
    columns: tuple[str, ...] = ()  # empty: all
    paper: tuple[Mapping[str, Any], ...] = ()
    paper_of: Mapping[str, float] = field(default_factory=dict)  # the paper's counts in a column are divided by this
    figure: FigureSpec | None = None
    only: bool = False  # the figure alone is shown on the page, since the table is long


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    name: str
    title: str
    paper: str
    about: str
    protocol: Protocol
    parameters: Mapping[str, Any]
    parts: tuple[CollectionRole, ...]
    rows: tuple[MethodRow, ...]
    tables: tuple[TableSpec, ...]
    expected: tuple[ExpectedShape, ...]
    remarks: tuple[str, ...]

    @property
    def has_figure(self) -> bool:
        """Whether there is a picture to draw."""
        return any(shown.figure for shown in self.tables)

    @property
    def random(self) -> bool:
        """Whether the result depends on the seed."""
        if "seed" not in self.protocol.parameters:
            return False
        return not self.protocol.seeds_methods or any(row.random for row in self.rows)

    @property
    def columns(self) -> frozenset[str]:
        """All measures that its tables show; empty if one shows all."""
        if any(not shown.columns for shown in self.tables):
            return frozenset()
        named = {name for shown in self.tables for name in shown.columns}
        return frozenset(named | {shape.column for shape in self.expected if shape.column})


def read_experiment(path: Path) -> Experiment:
    """The experiment in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputMissing(f"no such file: {path}") from None
    return parse_experiment(path.stem, text)


def parse_experiment(name: str, text: str) -> Experiment:
    """The experiment in the text of a file."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{name} cannot be read as TOML: {problem}") from problem
    problems = [f"{name}: unknown entry {key!r}; entries are {', '.join(sorted(_TOP))}" for key in values.keys() - _TOP]
    needed = ("title", "paper", "about", "protocol", "corpus", "tables", "expected")
    problems += [f"{name}: {key} is missing" for key in needed if not values.get(key)]
    if "protocol" in values and values["protocol"] not in PROTOCOLS:
        problems.append(f"{name}: unknown protocol {values['protocol']!r}; protocols are {', '.join(PROTOCOLS)}")
    if problems:
        raise SettingsError(*problems)
    protocol = PROTOCOLS[values["protocol"]]
    parts = tuple(_parts(name, values["corpus"], problems))
    rows = tuple(_rows(name, protocol, values.get("methods", ()), problems))
    tables = tuple(_tables(name, protocol, values["tables"], [part.role for part in parts], problems))
    known = {shown.of for shown in tables}
    expected = tuple(_expected(name, values["expected"], known, problems))
    parameters: dict[str, Any] = {}
    try:
        parameters = protocol.parameters_of(values.get("parameters", {}), name)
    except SettingsError as problem:
        problems += problem.problems
    if problems:
        raise SettingsError(*problems)
    return Experiment(
        name, values["title"], values["paper"], values["about"], protocol, parameters, parts, rows, tables, expected,
        tuple(values.get("remarks", ())),
    )  # fmt: skip


def _parts(name: str, given: Sequence[Mapping[str, Any]], problems: list[str]) -> Iterator[CollectionRole]:
    for entry in given:
        problems += _unknown(f"{name}, corpus", entry, _CORPUS)
        missing = [key for key in ("role", "file", "stands_for") if key not in entry]
        problems += [f"{name}, corpus: {key} is missing" for key in missing]
        if not missing:
            values = {key: value for key, value in entry.items() if key in _CORPUS}
            yield CollectionRole(**values | {"labels": tuple(entry.get("labels", ()))})


def _rows(
    name: str, protocol: Protocol, given: Sequence[Mapping[str, Any]], problems: list[str]
) -> Iterator[MethodRow]:
    if given and not protocol.takes_methods:
        problems.append(f"{name}: {protocol.name} takes no methods")
    if not given and protocol.takes_methods and protocol.needs_methods:
        problems.append(f"{name}: {protocol.name} needs methods to compare")
    seen: set[str] = set()
    for entry in given:
        for row in _expanded(name, entry, problems):
            try:
                row.checked()
            except SettingsError as problem:
                problems += [f"{name}, {row.name}: {each}" for each in problem.problems]
            if row.name in seen:
                problems.append(f"{name}: two rows are called {row.name!r}; give them names of their own")
            seen.add(row.name)
            yield row


def _expanded(name: str, entry: Mapping[str, Any], problems: list[str]) -> Iterator[MethodRow]:
    """One row, or one for each combination of the values that vary."""
    fixed = {key: value for key, value in entry.items() if key not in ("name", "names", "vary")}
    vary = entry.get("vary", {})
    if "name" not in entry and "names" not in entry:
        problems.append(f"{name}, methods: name is missing")
        return
    made = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    names = entry.get("names") or [str(entry["name"]).format(**fixed, **own) for own in made]
    if len(names) != len(made):
        problems.append(f"{name}, methods: {len(names)} names for {len(made)} rows")
        return
    for own, called in zip(made, names, strict=True):
        yield MethodRow(called, fixed | own)


def _tables(
    name: str, protocol: Protocol, given: Sequence[Mapping[str, Any]], roles: list[str], problems: list[str]
) -> Iterator[TableSpec]:
    for entry in given:
        problems += _unknown(f"{name}, tables", entry, _TABLE)
        of = entry.get("of", protocol.tables[0])
        if of not in protocol.tables:
            problems.append(f"{name}: {protocol.name} gives no table {of!r}; it gives {', '.join(protocol.tables)}")
        columns = tuple(entry.get("columns", ()))
        if protocol.columns:
            measured = {*protocol.columns, *(f"{own}, {role}" for own in protocol.columns for role in roles)}
            unknown = [column for column in columns if column not in measured]
            known = ", ".join(protocol.columns)
            problems += [f"{name}: {protocol.name} measures no {column!r}; it measures {known}" for column in unknown]
        yield TableSpec(
            of, entry.get("title", ""), columns, tuple(entry.get("paper", ())), entry.get("paper_of", {}),
            _figure(name, entry.get("figure"), problems), bool(entry.get("only", False)),
        )  # fmt: skip


def _figure(name: str, given: Mapping[str, Any] | None, problems: list[str]) -> FigureSpec | None:
    if given is None:
        return None
    problems += _unknown(f"{name}, figure", given, _FIGURE)
    missing = [key for key in ("x", "y") if key not in given]
    problems += [f"{name}, figure: {key} is missing" for key in missing]
    kind = given.get("kind", "lines")
    if kind not in KINDS:
        problems.append(f"{name}, figure: kind must be one of {', '.join(KINDS)}, not {kind!r}")
    if missing:
        return None
    known = {key: value for key, value in given.items() if key in _FIGURE}
    return FigureSpec(**known | {"y": tuple(given["y"])})


def _expected(
    name: str, given: Sequence[Mapping[str, Any]], tables: set[str], problems: list[str]
) -> Iterator[ExpectedShape]:
    for entry in given:
        try:
            shape = ExpectedShape.parse(entry, name)
        except SettingsError as problem:
            problems += problem.problems
            continue
        if shape.table and shape.table not in tables:
            problems.append(f"{name}, expected: no table {shape.table!r}; there are {', '.join(sorted(tables))}")
        yield shape


def _unknown(where: str, entry: Mapping[str, Any], known: set[str]) -> list[str]:
    return [f"{where}: unknown entry {key!r}; entries are {', '.join(sorted(known))}" for key in entry.keys() - known]
