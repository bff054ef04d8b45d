"""What a protocol is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from roughly.errors import SettingsError
from roughly.lexicon import Lexicon, build
from roughly.methods import registry
from roughly.methods.method import Method
from roughly.papers.paper_table import PaperTable
from roughly.settings import Settings
from roughly.tools.corpus import Corpus


@dataclass(frozen=True)
class MethodRow:
    """A method with its settings, by the name it has in the table."""

    name: str
    settings: Mapping[str, Any]

    def checked(self) -> Settings:
        """The settings, refused where they make no sense."""
        return Settings.gather(self.settings)

    def make(self, collection: Lexicon | None = None) -> Method:
        """The method; the lexicon `collection` is the one given here."""
        return registry.make(self.checked(), collection)


@dataclass(frozen=True)
class ExperimentCase:
    """Corpora by their roles, methods, and the numbers that the papers vary or leave open."""

    corpora: Mapping[str, Corpus]
    rows: Sequence[MethodRow] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    columns: frozenset[str] = frozenset()  # those that are asked for, where a protocol can do with fewer than all
    lexicon: Lexicon | None = None  # of another collection, where one is given

    @property
    def corpus(self) -> Corpus:
        """The first of the corpora."""
        return next(iter(self.corpora.values()))

    def number(self, name: str) -> Any:
        """A parameter."""
        return self.parameters[name]

    def named(self) -> Iterator[tuple[str, Corpus, str]]:
        """Each role, its corpus, and what is put behind the names of its columns: nothing where there is only one."""
        for role, corpus in self.corpora.items():
            yield role, corpus, f", {role}" if len(self.corpora) > 1 else ""


@dataclass(frozen=True)
class ExperimentOutcome:
    """Tables by name, and seconds of processor time by what they were spent on: these never stand in a table."""

    tables: Mapping[str, PaperTable]
    seconds: Mapping[str, float] = field(default_factory=dict)

    def table(self, name: str, where: str) -> PaperTable:
        """The table of a name."""
        if name not in self.tables:
            raise SettingsError(f"{where}: no table {name!r}; there are {', '.join(self.tables)}")
        return self.tables[name]


def lexicon_of(*corpora: Corpus) -> Lexicon:
    """The lexicon of the collection itself, or of several: the two-pass way of I-Match 2002, §3."""
    ids = [f"{place}/{own}" for place, corpus in enumerate(corpora) for own in corpus.ids]
    texts = pa.concat_arrays([corpus.texts for corpus in corpora])
    return build(pa.table({"id": ids, "text": texts}), threads=1)
