"""Runs every experiment of the lab on its default collections and writes `reproduction.md` and its pictures.

    python docs/make_reproduction.py CORPORA [EXPERIMENT …]

CORPORA is the folder that holds the collections that the experiments name. It takes about half an hour of processor
time. With experiments named, only those are run, and only their parts of the page are made again. Tests fail while a
file of an experiment, or what the code answers, has changed and the page has not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from roughly.papers.answer_digests import run_trial, trial_file, trial_runner
from roughly.papers.experiments import named, names
from roughly.papers.reproduction_page import trial_digest, write_page
from roughly.papers.runner import ExperimentRunner

PAGE = Path(__file__).parent / "reproduction.md"


def main(corpora: Path, chosen: list[str]) -> None:
    """Run, and write the page after each experiment."""
    runner = ExperimentRunner(folder=corpora)
    with tempfile.TemporaryDirectory() as folder:
        small = trial_runner(trial_file(Path(folder)))
        for name in chosen or names():
            print(name, file=sys.stderr, flush=True)
            write_page([runner.run(named(name))], {name: trial_digest(run_trial(name, small))}, PAGE)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("python docs/make_reproduction.py CORPORA [EXPERIMENT …]")
    main(Path(sys.argv[1]), sys.argv[2:])
