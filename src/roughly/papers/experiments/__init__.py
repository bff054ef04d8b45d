"""Every experiment: the TOML files of this folder, in the order of the papers. `papers.experiment` describes their
format."""

from __future__ import annotations

from functools import cache
from importlib import resources

from roughly.errors import SettingsError
from roughly.papers.experiment import Experiment, parse_experiment

PAPERS = ("broder", "imatch", "conrad", "ye", "kolcz")


@cache
def names() -> tuple[str, ...]:
    """The names of all experiments: by paper, tables before figures, in the order of their numbers."""
    found = (file.name for file in resources.files(__name__).iterdir())
    return tuple(sorted((name.removesuffix(".toml") for name in found if name.endswith(".toml")), key=_order))


@cache
def named(name: str) -> Experiment:
    """The experiment of a name."""
    if name not in names():
        raise SettingsError(f"no experiment {name!r}; experiments are {', '.join(names())}")
    return parse_experiment(name, text_of(name))


def text_of(name: str) -> str:
    """The file of an experiment."""
    return resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def every() -> list[Experiment]:
    """All experiments."""
    return [named(name) for name in names()]


def _order(name: str) -> tuple[int, bool, int, str]:
    paper, _, place = name.partition("-")
    digits = "".join(c for c in place if c.isdigit())
    return (PAPERS.index(paper) if paper in PAPERS else len(PAPERS), place.startswith("figure"), int(digits or 0), name)
