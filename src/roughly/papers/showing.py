"""The description of an experiment, in lines for a screen."""

from __future__ import annotations

from collections.abc import Iterator

from roughly.papers.experiment import Experiment


def lines_of(experiment: Experiment) -> Iterator[str]:
    """Title, protocol, parameters, collections, methods, tables and expected shapes."""
    yield f"{experiment.paper}: {experiment.title}"
    yield f"measures    {experiment.about}"
    yield f"protocol    {experiment.protocol.name}: {experiment.protocol.what}"
    for name, value in experiment.parameters.items():
        yield f"parameter   {name} = {value!r}"
    for part in experiment.parts:
        drawn = f", {part.documents:,} documents drawn" if part.documents else ""
        yield f"collection  {part.role}: {part.file}{drawn}, in place of {part.stands_for}"
    for row in experiment.rows:
        settings = ", ".join(f"{name} {value}" for name, value in row.settings.items())
        yield f"method      {row.name}: {settings}"
    for shown in experiment.tables:
        printed = f", {len(shown.paper)} rows printed in the paper" if shown.paper else ""
        yield f"table       {shown.of}{printed}{', with a figure' if shown.figure else ''}"
    for shape in experiment.expected:
        yield f"expected    {shape.says}"
