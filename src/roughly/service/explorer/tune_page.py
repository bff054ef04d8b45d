"""`/tune`: settings chosen from the verdicts of `/judge`, and the run made again with them.

Both are work for the background (`background_task`), since they read the input. What was chosen is stored beside the
run (`tools/judge/tuned_settings`), so pages only read it.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from roughly.console.run_estimate import dedupe_stages
from roughly.errors import InputError, InputMissing, RoughlyError, SettingsError
from roughly.job.rereading import Input
from roughly.report.data import PairSample
from roughly.report.marks import mark_differences
from roughly.report.verdict_page import (
    CalibrationBin,
    CurvePoint,
    WeightRow,
    plot_calibration,
    plot_precision,
    weight_rows,
)
from roughly.service.collection.run_collection import RunCollection
from roughly.service.collection.served_collections import collections_of
from roughly.service.explorer.background_task import BUSY, RESOURCES, SOON, BackgroundTask, StoppableProgress
from roughly.service.explorer.decided_marks import may_decide
from roughly.service.explorer.judge_page import verdicts_of
from roughly.service.explorer.rendering import fragment, show
from roughly.tools.judge.api import JudgedRun
from roughly.tools.judge.judged_labels import JudgedLabels
from roughly.tools.judge.next_run import cluster_names, has_settings, make_next_run, next_folder, next_settings
from roughly.tools.judge.tuned_settings import TUNE_STAGES, TunedSettings, refuse_other_kinds, tune_on_verdicts
from roughly.tools.tune.frontier import Goal

router = APIRouter(include_in_schema=False)
WRONG = 3
"""Pairs of each kind on which the verdict is wrong that are shown with their texts."""
_READ = 200_000  # characters of a text that are read for that


@router.get("/tune")
@router.get("/tune.json")
def tune(request: Request) -> Response:
    """What the verdicts say so far, what was chosen from them, and the run that was made with it."""
    collections = collections_of(request)
    run = collections.require_run()
    task: BackgroundTask = request.app.state.tune_task
    working = task.state()  # before what it writes is read: a page shows the work, or what came of it
    verdicts = verdicts_of(run)
    judged = None if verdicts is None else JudgedLabels(verdicts)
    problem, tuned = task.problem_of(run.run.folder, "tune", "run"), None
    try:
        tuned = TunedSettings.open(run.run)
    except InputError as damage:
        problem = problem or str(damage)
    made = None if tuned is None else _made(run, tuned)
    missing = _missing(run, judged)
    values: dict[str, Any] = {
        "in": "run",
        "drawn": 0 if verdicts is None else len(verdicts.drawn.pairs),
        "judged": {"same": 0, "different": 0, "sets": 0} if judged is None else judged.to_dict(),
        "missing": missing,
        "remarks": [] if judged is None else judged.remarks(),
        "working": working,
        "problem": problem,
        "chosen": None if tuned is None else {k: v for k, v in tuned.to_dict().items() if k not in ("run", "next_run")},
        "headline": _headline(run, tuned),
        "judged_since": tuned is not None and judged is not None and tuned.judged != judged.to_dict(),
        "next_run": made,
        "serves": run.name,
        "served_first": collections.first_name,
    }
    page_only = {
        "may_change": may_decide(request),
        "facts": run.facts(),
        "counts": run.run_json["counts"],
        "next_name": next_folder(run.run.folder).name,
        "drawings": None if tuned is None or not tuned.is_learned else _drawings(run, tuned),
    }
    return show(request, "tune.html", values, page_only=page_only)


@router.get("/tune/state")
def state(request: Request) -> Response:
    """How far the work is, for a page that shows it; the page is loaded again when it has ended."""
    working = request.app.state.tune_task.state()
    if working is None:
        return Response(headers={"HX-Refresh": "true"})
    return fragment(request, "work_state.html", {"working": working, "may_change": may_decide(request)})


@router.get("/tune/settings.toml")
def settings(request: Request) -> Response:
    """The settings that were chosen, as `roughly tune -o` writes them."""
    tuned = _require_tuned(collections_of(request).require_run())
    headers = {"Content-Disposition": 'attachment; filename="tuned.toml"'}
    return Response(tuned.toml, headers=headers, media_type="application/toml")


@router.post("/tune")
def begin(
    request: Request,
    precision: Annotated[str, Form(max_length=20)] = "",
    recall: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    """Begin to choose settings."""
    run = collections_of(request).require_run()
    goal = Goal(precision=_share("precision", precision), recall=_share("recall", recall))
    judged, source = _require_judged(run)
    clusters = cluster_names(run.tables, judged.documents)

    def work(listener: StoppableProgress) -> TunedSettings:
        return tune_on_verdicts(run.run, judged, clusters, source, goal, resources=RESOURCES, listener=listener)

    return _start(request, run, "tune", work, StoppableProgress(TUNE_STAGES, TUNE_STAGES), source)


@router.post("/tune/run")
def run_again(request: Request) -> Response:
    """Begin to make the run again with the settings that were chosen."""
    run = collections_of(request).require_run()
    tuned = _require_tuned(run)
    judged, source = _require_judged(run)
    stages = dedupe_stages(next_settings(run.run, tuned.settings or {}))

    def work(listener: StoppableProgress) -> TunedSettings:
        return make_next_run(run.run, tuned, judged, source, resources=RESOURCES, listener=listener)

    return _start(request, run, "run", work, StoppableProgress(stages), source)


@router.post("/tune/stop")
def stop(request: Request) -> Response:
    """End the work at its next step."""
    task: BackgroundTask = request.app.state.tune_task
    task.stop()
    task.wait(SOON)
    return RedirectResponse("/judge" if task.what == "draw" else "/tune", 303)


@router.post("/tune/show")
def show_run(request: Request, which: Annotated[str, Form(max_length=20)]) -> Response:
    """Show the run that was made, or again the one that the service was started with."""
    collections = collections_of(request)
    run = collections.require_run()
    if request.app.state.apply_task.runs or request.app.state.tune_task.runs:
        raise SettingsError(BUSY)
    if which == "next":
        made = _made(run, _require_tuned(run))
        if made is None:
            raise InputMissing("there is no run with these settings; make it on the page /tune")
        folder = run.run.folder.resolve().with_name(made["name"])
    elif which == "first" and collections.first is not None:
        folder = collections.first
    else:
        raise SettingsError(f"which must be next or first, not {which!r}")
    request.app.state.served = collections.show_run(folder)
    return RedirectResponse("/", 303)


def _start(
    request: Request, run: RunCollection, what: str, work: Any, progress: StoppableProgress, source: Input
) -> Response:
    task: BackgroundTask = request.app.state.tune_task
    hidden = [str(run.run.folder.resolve().parent), *(name.rpartition("/")[0] for name in source.names)]
    if not task.start(work, run.run.folder, what, progress=progress, hidden=hidden):
        raise SettingsError(BUSY)
    task.wait(SOON)
    return RedirectResponse("/tune", 303)


def _headline(run: RunCollection, tuned: TunedSettings | None) -> str:
    """What came of it, in a few words."""
    if tuned is None:
        return "Settings from your verdicts"
    if tuned.settings is None:
        return "No setting reaches the goal"
    if has_settings(run.run, tuned.settings):
        return "This run has the recommended settings already"
    recommended = tuned.scores["verdict" if tuned.is_learned else "settings"]
    if tuned.goal == str(Goal()) and recommended["f1"] <= tuned.scores["run"]["f1"]:
        return "Nothing better than this run was found"
    return "A learned verdict is recommended" if tuned.is_learned else "Other settings are recommended"


def _missing(run: RunCollection, judged: JudgedLabels | None) -> list[str]:
    """Why settings cannot be chosen; nothing if they can."""
    try:
        refuse_other_kinds(run.run)
    except SettingsError as problem:
        return list(problem.problems)
    if run.open_input() is None:
        return [run.why_no_input]
    return ["no pairs are drawn yet"] if judged is None else judged.missing()


def _require_judged(run: RunCollection) -> tuple[JudgedLabels, Input]:
    """The verdicts and the input, or an error that says what is missing."""
    verdicts = verdicts_of(run)
    judged = None if verdicts is None else JudgedLabels(verdicts)
    source = run.open_input()
    if missing := _missing(run, judged):
        raise InputMissing(f"{missing[0]}; see the page /judge")
    assert judged is not None and source is not None  # otherwise something is missing
    return judged, source


def _require_tuned(run: RunCollection) -> TunedSettings:
    tuned = TunedSettings.open(run.run)
    if tuned is None or tuned.settings is None:
        raise InputMissing("no settings are chosen yet; choose some on the page /tune")
    return tuned


def _made(run: RunCollection, tuned: TunedSettings) -> dict[str, Any] | None:
    """The run that was made with these settings, if it is still there."""
    if tuned.next_run is None:
        return None
    try:
        found = JudgedRun.open(run.run.folder.resolve().with_name(str(tuned.next_run["name"])))
    except RoughlyError:
        return None
    return tuned.next_run if found.fingerprint == tuned.next_run["fingerprint"] else None


def _share(name: str, given: str) -> float | None:
    """A number that a form may leave empty."""
    try:
        return float(given) if given.strip() else None
    except ValueError:
        raise SettingsError(f"{name} must be a number above 0 and at most 1, not {given!r}") from None


def _drawings(run: RunCollection, tuned: TunedSettings) -> dict[str, Any]:
    """The learned verdict as the page of `roughly tune --report` has it, with the texts of the run."""
    study = tuned.study or {}
    wrong = {name: study[name]["some"][:WRONG] for name in ("wrongly_same", "missed")}
    texts = run.texts([one for pairs in wrong.values() for left, right, _ in pairs for one in (left, right)])

    def card(left: str, right: str, probability: float) -> dict[str, Any]:
        found = {"left_id": left, "right_id": right, "probability": probability, "marks": (), "notes": ()}
        one, other = texts[left].text, texts[right].text
        if one is None or other is None:
            return found
        marked = mark_differences(PairSample(left, right, one[:_READ], other[:_READ], 0.0, 0.0, 0.0).bounded())
        return found | {"marks": marked.marks, "notes": marked.notes}

    return {
        "weights": weight_rows([WeightRow(**one) for one in study["weights"]]),
        "calibration": plot_calibration([CalibrationBin(**one) for one in study["calibration"]]),
        "curve": plot_precision([CurvePoint(**one) for one in study["curve"]]),
        **{name: (study[name]["count"], [card(*one) for one in pairs]) for name, pairs in wrong.items()},
    }
