"""A protocol: how an experiment is done, whatever the methods, the corpus and the numbers.

Experiment files (`papers/experiments/`) name a protocol and its parameters. A protocol declares its parameters, so that
a file, or a `--set` on the command line, with another one is refused before any work is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.papers.setup import ExperimentCase, ExperimentOutcome


@dataclass(frozen=True)
class Protocol:
    """One way of measuring."""

    name: str
    what: str  # in one sentence
    run: Callable[[ExperimentCase], ExperimentOutcome]
    tables: tuple[str, ...]  # tables that it gives
    parameters: Mapping[str, Any] = field(default_factory=dict)  # with their defaults
    takes_methods: bool = False
    needs_methods: bool = True  # if it has any
    columns: tuple[str, ...] = ()  # measures that a file may choose from; empty: any
    labelled: bool = False  # documents must be labelled
    takes_lexicon: bool = False  # can use the lexicon of another collection
    seeds_methods: bool = False  # the seed is that of the methods only: if none of them draws, it changes nothing

    def parameters_of(self, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        """All parameters, with the given ones; wrong names and types are refused."""
        problems, values = [], dict(self.parameters)
        for name, value in given.items():
            if name not in values:
                has = ", ".join(values) or "none"
                problems.append(f"{where}: {self.name} has no parameter {name!r}; it has {has}")
                continue
            wanted = type(values[name])
            if wanted is float and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
            if type(value) is not wanted:
                problems.append(f"{where}: {name} must be {_KINDS[wanted]}, not {value!r}")
            values[name] = value
        if problems:
            raise SettingsError(*problems)
        return values


_KINDS = {int: "a whole number", float: "a number", str: "text", list: "a list", bool: "true or false"}
