"""Every experiment by name, and running one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roughly.errors import OutputExists, SettingsError
from roughly.lab import conrad, imatch, kolcz
from roughly.lab.setup import Setup
from roughly.lab.table import Table


@dataclass(frozen=True)
class Experiment:
    """A table of a paper."""

    name: str
    source: str
    what: str
    run: Callable[[Setup], list[Table]]
    labelled: bool = False  # needs documents labelled spam and ham
    takes_lexicon: bool = False  # can use the lexicon of another collection


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("imatch-table2", "I-Match 2002, Table II", "32 combinations of syntactic filters", imatch.table_ii),
        Experiment(
            "imatch-table3", "I-Match 2002, Tables III and IV", "contrived duplicates found again", imatch.tables_iii_iv
        ),
        Experiment(
            "imatch-table9", "I-Match 2002, Table IX", "the 52 filters of I-Match", imatch.table_ix,
            takes_lexicon=True,
        ),
        Experiment(
            "kolcz-table2", "Kołcz 2008, Tables 2 and 3", "spam found, by the number of randomised lexicons",
            kolcz.tables_2_3, labelled=True, takes_lexicon=True,
        ),
        Experiment(
            "kolcz-figure3", "Kołcz 2008, figures 3 and 4", "recall by lexicons, own and other",
            kolcz.figures_3_4, takes_lexicon=True,
        ),
        Experiment("conrad-figure1", "Conrad 2003, figures 1–4", "signatures as a lexicon grows", conrad.figure_1),
    )
}  # fmt: skip


def named(name: str) -> Experiment:
    """The experiment of a name."""
    if name not in EXPERIMENTS:
        raise SettingsError(f"no experiment {name!r}; experiments are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def run(experiment: Experiment, setup: Setup) -> list[Table]:
    """The tables of an experiment."""
    if setup.lexicon is not None and not experiment.takes_lexicon:
        raise SettingsError(f"{experiment.name} makes its own lexicons from the corpus; leave --lexicon out")
    return experiment.run(setup)


def write(tables: list[Table], experiment: Experiment, setup: Setup, folder: Path, overwrite: bool = False) -> None:
    """The tables as Markdown and JSON in a folder: the same bytes whenever the experiment is run again."""
    files = {
        "table.md": "\n".join(table.markdown() for table in tables),
        "table.json": json.dumps(document(tables, experiment, setup), indent=1, ensure_ascii=False) + "\n",
    }
    there = [name for name in files if (folder / name).exists()]
    if there and not overwrite:
        raise OutputExists(f"{folder / there[0]} is there already; name another folder, or give --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def document(tables: list[Table], experiment: Experiment, setup: Setup) -> dict[str, Any]:
    """The tables and what they were made from, as plain values."""
    return {
        "experiment": experiment.name,
        "source": experiment.source,
        "corpus": setup.corpus.name,
        "documents": len(setup.corpus),
        "lexicon": setup.lexicon.fingerprint if setup.lexicon else None,
        "options": vars(setup.options),
        "tables": [table.to_dict() for table in tables],
    }
