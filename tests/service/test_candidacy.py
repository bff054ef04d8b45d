"""Why a pair was compared, as the explorer says it, and the chance of that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from roughly import methods
from roughly.report.wording import share
from roughly.service.explorer.candidacy import candidacy
from roughly.settings import Settings

LEFT = " ".join(f"w{number}" for number in range(200))
RIGHT = LEFT.replace("w100 ", "other ") + " and a longer end of it"


def explained(settings: Settings) -> tuple[Any, Any]:
    method = methods.make(settings)
    collection: Any = SimpleNamespace(method=lambda: method, learned=None)
    return method, candidacy(collection, LEFT, RIGHT, 0.9)


@pytest.mark.parametrize("more", [{}, {"method": "shingles", "options": {"sketch": "mod:25"}}], ids=["bands", "keys"])
def test_the_chance_is_that_of_documents_as_long_as_the_shorter(more: dict[str, Any]) -> None:
    method, found = explained(Settings(**more))
    assert found.chance == found.to_dict()["chance"] == method.candidate_probability_at(0.9, 200)
    if not more:
        assert found.sentences[1].endswith(f"with a probability of {share(found.chance, 1)}.")
    else:
        assert 0.9 < found.chance < 1 - 1e-6  # one in 25 of 200 shingles: not that of documents of 1,000
        assert found.chance != method.candidate_probability(0.9)


def test_a_method_without_a_curve_has_no_chance() -> None:
    assert explained(Settings(method="imatch"))[1].chance is None
    assert explained(Settings(method="identical"))[1].chance is None
