"""The page of the docs compared with a new run of its experiments, on the same documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from roughly.errors import InputMissing
from roughly.papers.reproduction_page import differences, digests_on
from roughly.papers.request import ExperimentRequest
from roughly.papers.runner import ExperimentRunner


def check_page(name: str, corpora: Path, page: Path) -> Iterator[tuple[str, list[str]]]:
    """Each experiment, with the lines in which the page and the run differ; `name` may be `all`."""
    wanted = ExperimentRequest(name).experiments
    if not page.is_file():
        raise InputMissing(f"no such page: {page}; name it with --page")
    text = page.read_text(encoding="utf-8")
    printed = digests_on(text)
    runner = ExperimentRunner(folder=corpora)
    for experiment in wanted:
        result = runner.run(experiment)
        lines = differences(result, text)
        inputs = printed.get(experiment.name, {}).get("inputs")
        if inputs is not None and inputs != result.inputs:
            lines.insert(0, f"the documents differ: digest {inputs} on the page, {result.inputs} of these")
        yield experiment.name, lines
