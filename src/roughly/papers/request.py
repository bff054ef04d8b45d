"""The request of `roughly lab run`: one experiment or all, and changed parameters."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from roughly.errors import RoughlyError, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.lexicon import Lexicon
from roughly.papers.draws import SEEDS
from roughly.papers.experiment import Experiment
from roughly.papers.experiments import every, named
from roughly.papers.result_files import markdown, seconds_table, write
from roughly.papers.runner import ExperimentResult, ExperimentRunner

ALL = "all"


@dataclass(frozen=True)
class ExperimentRequest:
    """An experiment's name, or `all`, and changes as NAME=VALUE."""

    name: str
    changes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {name for experiment in self.experiments for name in experiment.protocol.parameters}
        problems = [
            f"{', '.join(e.name for e in self.experiments[:1]) if self.name != ALL else 'no experiment'} has "
            f"{'no' if self.name != ALL else 'a'} parameter {name!r}; parameters are {', '.join(sorted(known))}"
            for name in self.changed
            if name not in known
        ]
        if problems:
            raise SettingsError(*problems)

    @cached_property
    def experiments(self) -> list[Experiment]:
        """The requested experiments."""
        return every() if self.name == ALL else [named(self.name)]

    @cached_property
    def changed(self) -> dict[str, Any]:
        """The parameters, read as TOML; anything that is not a TOML value is text."""
        found = {}
        for change in self.changes:
            name, equals, value = change.partition("=")
            if not equals:
                raise SettingsError(f"--set takes NAME=VALUE, as in seed=1, not {change!r}")
            try:
                found[name.strip()] = tomllib.loads(f"value = {value}")["value"]
            except tomllib.TOMLDecodeError:
                found[name.strip()] = value.strip()
        return found

    def for_one(self, experiment: Experiment) -> dict[str, Any]:
        """The changes that concern an experiment."""
        return {name: value for name, value in self.changed.items() if name in experiment.protocol.parameters}


@dataclass(frozen=True, kw_only=True)
class ExperimentFiles:
    """What experiments read and write."""

    output: Path
    files: Sequence[str] = ()
    folder: Path | None = None
    lexicon: Lexicon | None = None
    sample: int = 0
    seeds: int = SEEDS
    figures: bool = True
    text_column: str | None = None
    label_column: str | None = None
    overwrite: bool = False


def run_experiments(request: ExperimentRequest, use: ExperimentFiles) -> Iterator[tuple[ExperimentResult, str]]:
    """Run, write, and yield each result with its Markdown; with `all`, failures are reported at the end."""
    runner = ExperimentRunner(
        use.files,
        use.folder,
        None,
        {},
        sample=use.sample,
        seeds=use.seeds,
        text_column=use.text_column,
        label_column=use.label_column,
    )
    failed = []
    for experiment in request.experiments:
        runner.changed = request.for_one(experiment)
        runner.lexicon = use.lexicon if request.name != ALL or experiment.protocol.takes_lexicon else None
        try:
            result = runner.run(experiment)
        except RoughlyError as problem:
            if request.name != ALL:
                raise
            failed.append(f"{experiment.name}: {problem}")
            continue
        folder = use.output / experiment.name if request.name == ALL else use.output
        write(result, folder, figures=use.figures, overwrite=use.overwrite)
        yield result, markdown(result, []) + "\n" + seconds_table(result)
    if failed:
        raise SettingsError(f"{len(failed)} of {len(request.experiments)} experiments could not be run", *failed)
