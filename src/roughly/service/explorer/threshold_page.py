"""`/threshold?t=0.85`: what another threshold would keep and remove, and pairs around that threshold.

The numbers are known at once; the texts of pairs must be read from the input. So while the slider moves, only the
numbers are sent, and the page then requests the pairs (`/threshold/examples`).
"""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from roughly.errors import InputMissing, SettingsError
from roughly.job.settings_file import settings_text
from roughly.report.data import PairSample
from roughly.report.marks import mark_differences
from roughly.report.write import read_report
from roughly.service.collection.run_collection import RunCollection
from roughly.service.collection.served_collections import collections_of
from roughly.service.explorer.drawings import draw_removed
from roughly.service.explorer.rendering import fragment, show, wants_part

router = APIRouter(include_in_schema=False)
EXAMPLES = 4
_READ = 200_000  # characters of a text that are read for an example


@router.get("/threshold")
@router.get("/threshold.json")
def threshold(request: Request) -> Response:
    """The run at another threshold."""
    collections = collections_of(request)
    run, replay = collections.require_run(), collections.replay()
    threshold = _parse_threshold(request, replay.lowest)
    outcome, own = replay.at(threshold), replay.at(replay.lowest)
    later = wants_part(request) and not request.scope["path"].endswith(".json")  # the twin is always whole
    pairs = {"apart": [], "still": [], "below": []} if later else _pairs(run, replay.lowest, threshold)
    curve = replay.curve()
    values = {
        "in": "run",
        "measure": run.measure,
        "threshold": replay.lowest,
        "floor": replay.floor,
        "t": threshold,
        "outcome": outcome.to_dict(),
        "own": own.to_dict(),
        "curve": [one.to_dict() for one in curve],
        **{name: [_plain(one) for one in some] for name, some in pairs.items()},
        "exact": outcome.exact,
    }
    page_only = {
        "plot": draw_removed([(one.threshold, one.removed) for one in curve], threshold, outcome.removed),
        "later": f"/threshold/examples?t={threshold}" if later else None,
        **_cards(pairs),
    }
    return show(request, "threshold.html", values, page_only=page_only)


@router.get("/threshold/settings.toml")
def settings(request: Request) -> Response:
    """The settings of the run with another threshold, for `roughly dedupe --settings`."""
    collections = collections_of(request)
    run, replay = collections.require_run(), collections.replay()
    threshold = replay.at(_parse_threshold(request, replay.lowest)).threshold
    given = run.run_json["settings"]
    values = {**given, **given.get("options", {}), "threshold": threshold}
    plain = {name: value for name, value in values.items() if name != "options" and value is not None}
    text = settings_text(plain, f"The settings of the run {run.name}, with the threshold {threshold:g}.")
    headers = {"Content-Disposition": 'attachment; filename="settings.toml"'}
    return Response(text, headers=headers, media_type="application/toml")


@router.get("/threshold/examples")
def examples(request: Request) -> Response:
    """The pairs around a threshold, for the page that shows its figures."""
    collections = collections_of(request)
    run, replay = collections.require_run(), collections.replay()
    threshold = replay.at(_parse_threshold(request, replay.lowest)).threshold
    values = {"t": threshold, "measure": run.measure, **_cards(_pairs(run, replay.lowest, threshold))}
    return fragment(request, "threshold_examples.html", values)


def _pairs(run: RunCollection, lowest: float, threshold: float) -> dict[str, list[PairSample]]:
    return {
        "apart": _examples(run, lowest, threshold, falling=True) if threshold > lowest else [],
        "still": _examples(run, max(threshold, lowest), math.inf, falling=False),
        "below": _near_misses(run) if threshold <= lowest else [],
    }


def _cards(pairs: dict[str, list[PairSample]]) -> dict[str, list[dict[str, Any]]]:
    return {f"{name}_cards": [_card(one) for one in some] for name, some in pairs.items()}


def _parse_threshold(request: Request, lowest: float) -> float:
    value = request.query_params.get("t")
    if not value:
        return lowest
    try:
        threshold = float(value)
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise SettingsError(f"t must be a number from {lowest:g} to 1, not {value[:40]!r}")
    return lowest if abs(threshold - lowest) < 1e-9 else threshold


def _examples(run: RunCollection, low: float, high: float, falling: bool) -> list[PairSample]:
    """Decisive pairs, nearest to the threshold first, with as much of their texts as can be read."""
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
    card = _plain(pair)
    if not pair.left_text and not pair.right_text:
        return card | {"marks": (), "notes": ()}
    marked = mark_differences(pair.bounded())
    return card | {"marks": marked.marks, "notes": marked.notes}
