"""`/threshold?t=0.85`: what would stay and go at another threshold, and pairs that would change sides.

Figures come at once, texts of pairs have to be looked for in the input. So while the slider moves, the figures are sent
alone, and the page asks for the pairs (`/threshold/examples`) when they are there.
"""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import InputMissing, SettingsError
from roughly.report.data import PairSample
from roughly.report.marks import mark
from roughly.report.write import read_report
from roughly.service.collection import collections_of
from roughly.service.collection.run_collection import RunCollection
from roughly.service.explorer.drawings import staying
from roughly.service.explorer.rendering import fragment, show, wants_part

router = APIRouter(include_in_schema=False)
EXAMPLES = 4
_READ = 200_000  # characters of a text that are looked at for an example


@router.get("/threshold")
@router.get("/threshold.json")
def threshold(request: Request) -> Response:
    """The run at another threshold."""
    served = collections_of(request)
    run, replay = served.of_run(), served.replay()
    asked = _asked(request, replay.lowest)
    outcome, own = replay.at(asked), replay.at(replay.lowest)
    later = wants_part(request) and not request.scope["path"].endswith(".json")  # the twin is always whole
    pairs = {"apart": [], "still": [], "below": []} if later else _pairs(run, replay.lowest, asked)
    curve = replay.curve()
    shown = {
        "in": "run",
        "measure": run.measure,
        "threshold": replay.lowest,
        "t": asked,
        "outcome": outcome.to_dict(),
        "own": own.to_dict(),
        "curve": [one.to_dict() for one in curve],
        **{name: [_plain(one) for one in some] for name, some in pairs.items()},
        "exact": outcome.exact,
    }
    drawn = {
        "plot": staying([(one.threshold, one.removed) for one in curve], asked, outcome.removed),
        "later": f"/threshold/examples?t={asked}" if later else None,
        **_cards(pairs),
    }
    return show(request, "threshold.html", shown, drawn=drawn)


@router.get("/threshold/examples")
def examples(request: Request) -> Response:
    """The pairs around a threshold, for the page that shows its figures."""
    served = collections_of(request)
    run, replay = served.of_run(), served.replay()
    asked = replay.at(_asked(request, replay.lowest)).threshold
    shown = {"t": asked, "measure": run.measure, **_cards(_pairs(run, replay.lowest, asked))}
    return fragment(request, "threshold_examples.html", shown)


def _pairs(run: RunCollection, lowest: float, asked: float) -> dict[str, list[PairSample]]:
    return {
        "apart": _examples(run, lowest, asked, falling=True),
        "still": _examples(run, asked, math.inf, falling=False),
        "below": _near_misses(run) if asked == lowest else [],
    }


def _cards(pairs: dict[str, list[PairSample]]) -> dict[str, list[dict[str, Any]]]:
    return {f"{name}_cards": [_card(one) for one in some] for name, some in pairs.items()}


def _asked(request: Request, lowest: float) -> float:
    value = request.query_params.get("t")
    if not value:
        return lowest
    try:
        asked = float(value)
    except ValueError:
        raise SettingsError(f"t must be a number from {lowest:g} to 1, not {value[:40]!r}") from None
    if not math.isfinite(asked):
        raise SettingsError(f"t must be a number from {lowest:g} to 1, not {value[:40]!r}")
    return lowest if abs(asked - lowest) < 1e-9 else asked


def _examples(run: RunCollection, low: float, high: float, falling: bool) -> list[PairSample]:
    """Pairs that decided, nearest to the threshold first, with as much of their texts as can be had."""
    rows = run.tables.changing(run.measure, low, high, falling, EXAMPLES)
    texts = run.texts([name for row in rows for name in (row["left_id"], row["right_id"])]) if rows else {}
    found = []
    for row in rows:
        left, right = ((texts[row[side]].text or "")[:_READ] for side in ("left_id", "right_id"))
        scores = (row["resemblance"], row["containment"], row["contained_in"])
        found.append(PairSample(row["left_id"], row["right_id"], left, right, *scores))
    return found


def _near_misses(run: RunCollection) -> list[PairSample]:
    """Pairs just below the run's threshold, as its report has them."""
    try:
        return list(read_report(run.run.folder / "report.html").below)[:EXAMPLES]
    except InputMissing:
        return []


def _plain(pair: PairSample) -> dict[str, Any]:
    names = ("left_id", "right_id", "resemblance", "containment", "contained_in")
    return {name: getattr(pair, name) for name in names}


def _card(pair: PairSample) -> dict[str, Any]:
    told = _plain(pair)
    if not pair.left_text and not pair.right_text:
        return told | {"marks": (), "notes": ()}
    marked = mark(pair.bounded())
    return told | {"marks": marked.marks, "notes": marked.notes}
