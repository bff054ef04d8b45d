"""Runs every experiment of the lab on its default collections and writes `reproduction.md` and its pictures.

    python docs/make_reproduction.py CORPORA [EXPERIMENT …]

CORPORA is the folder that holds the collections that the experiments name. It takes some minutes. With experiments
named, only those are run, and only their parts of the page are made anew. A test fails while a file of an experiment
has changed and the page has not.
"""

from __future__ import annotations

import sys
from pathlib import Path

from roughly.papers.experiments import named, names
from roughly.papers.reproduction_page import write_page
from roughly.papers.runner import ExperimentRunner

DOCS = Path(__file__).parent
PAGE = DOCS / "reproduction.md"
IMAGES = DOCS / "images" / "reproduction"


def main(corpora: Path, chosen: list[str]) -> None:
    """Run, and write the page."""
    runner = ExperimentRunner(folder=corpora)
    results = []
    for name in chosen or names():
        print(name, file=sys.stderr, flush=True)
        results.append(runner.run(named(name)))
    write_page(results, PAGE, IMAGES)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("python docs/make_reproduction.py CORPORA [EXPERIMENT …]")
    main(Path(sys.argv[1]), sys.argv[2:])
