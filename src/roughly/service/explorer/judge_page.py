"""`/judge`: the pairs of `roughly judge` in the browser, with the same file of verdicts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from roughly.errors import InputMissing, OutputExists, SettingsError
from roughly.job.rereading import Input
from roughly.meter import Listener
from roughly.report.data import PairSample
from roughly.report.marks import mark_differences
from roughly.service.collection.run_collection import RunCollection
from roughly.service.collection.served_collections import collections_of
from roughly.service.explorer.background_task import BUSY, RESOURCES, SOON, BackgroundTask, StoppableProgress
from roughly.service.explorer.decided_marks import may_decide
from roughly.service.explorer.rendering import show
from roughly.tools.judge.api import draw_pairs, open_verdicts, texts_of_pairs
from roughly.tools.judge.judge_report import csv_of, make_report
from roughly.tools.judge.judge_session import JudgeSession
from roughly.tools.judge.request import PAIRS, DrawRequest
from roughly.tools.judge.verdict_file import VERDICTS, VerdictFile, check_judge

router = APIRouter(include_in_schema=False)
NAME = "judge"
MOST = 1_000  # pairs drawn from the browser
AHEAD = 10
"""Pairs whose texts are read at once: the input may have to be decompressed for each reading."""
_AHEAD = 4_000_000  # characters of texts that are kept for later pages


@router.get("/judge")
@router.get("/judge.json")
def judge(request: Request) -> Response:
    """The next pair, and the results of the verdicts so far."""
    run = collections_of(request).require_run()
    options = _options(request.query_params)
    task: BackgroundTask = request.app.state.tune_task
    working = task.state()  # before what it writes is read
    verdicts = verdicts_of(run)
    values: dict[str, Any] = {"in": "run", **options, "begun": verdicts is not None, "pairs": PAIRS}
    values |= {"working": working, "problem": task.problem_of(run.run.folder, "draw")}
    page_only: dict[str, Any] = {"may_change": may_decide(request)}
    if verdicts is None:
        values |= {"pair": None, "done": 0, "asked": 0, "report": None, "text_missing": _why_no_pairs(run)}
        return show(request, "judge.html", values, page_only=page_only | {"marked": None, "lengths": None})
    session = JudgeSession(verdicts, options["judge"], options["disputed"])
    number = session.next()
    report = make_report(verdicts)
    values |= {"done": session.done, "asked": len(session.asked), "report": report.to_dict(), "text_missing": ""}
    values["can_undo"] = bool(verdicts.said.get(options["judge"]))
    if number is None:
        return show(
            request, "judge.html", values | {"pair": None}, page_only=page_only | {"marked": None, "lengths": None}
        )
    pair = verdicts.drawn.pairs[number]
    values["pair"] = {"number": number, "left_id": pair.left_id, "right_id": pair.right_id}
    if options["scores"]:
        values["pair"]["score"] = pair.score
    marked, lengths = None, None
    source = run.open_input()
    if source is None:
        values["text_missing"] = run.why_no_input
    else:
        left, right = _texts(run, session, number, source)
        marked = mark_differences(PairSample(pair.left_id, pair.right_id, left, right, 0.0, 0.0, 0.0).bounded())
        lengths = len(left), len(right)
    return show(request, "judge.html", values, page_only=page_only | {"marked": marked, "lengths": lengths})


@router.post("/judge")
def record_verdict(
    request: Request,
    verdict: Annotated[str, Form()],
    judge: Annotated[str, Form()] = NAME,
    pair: Annotated[int, Form()] = -1,
    disputed: Annotated[str, Form()] = "",
    scores: Annotated[str, Form()] = "",
) -> Response:
    """Record a verdict, or undo the last one; it is on disk when this is answered."""
    run = collections_of(request).require_run()
    check_judge(judge)
    verdicts = verdicts_of(run)
    if verdicts is None:
        raise InputMissing("no pairs are drawn yet; begin on the page /judge")
    if verdict == "undo":
        JudgeSession(verdicts, judge, bool(disputed)).undo()
    elif verdict in VERDICTS:
        if not 0 <= pair < len(verdicts.drawn.pairs):
            raise SettingsError(f"there is no pair {pair}; the last is {len(verdicts.drawn.pairs) - 1}")
        verdicts.record(judge, pair, verdict)  # for the pair that was shown, not for the next one
    else:
        raise SettingsError(f"a verdict is one of {', '.join((*VERDICTS, 'undo'))}, not {verdict[:40]!r}")
    return _redirect(judge, disputed, scores)


@router.post("/judge/begin")
def begin(
    request: Request,
    judge: Annotated[str, Form()] = NAME,
    pairs: Annotated[int, Form()] = PAIRS,
    scores: Annotated[str, Form()] = "",
) -> Response:
    """Draw pairs and begin a file of verdicts beside the run, in the background, since the input is read."""
    run = collections_of(request).require_run()
    check_judge(judge)
    if not 1 <= pairs <= MOST:
        raise SettingsError(f"pairs must be from 1 to {MOST:,}, not {pairs}; `roughly judge --pairs` draws more")
    task: BackgroundTask = request.app.state.tune_task

    def draw(listener: Listener) -> None:
        drawn = DrawRequest(pairs=pairs)
        with suppress(OutputExists):  # another process has begun in the meantime: use the pairs that it drew
            draw_pairs(
                run.run, run.run.verdicts, drawn, inputs=run.inputs, resources=RESOURCES, listener=listener
            )  # fmt: skip

    if verdicts_of(run) is None:
        progress = StoppableProgress(("read", "near"), {"read": 90, "near": 10})
        hidden = [str(run.run.folder.resolve().parent)]
        if not task.start(draw, run.run.folder, "draw", progress=progress, hidden=hidden):
            raise SettingsError(BUSY)
        task.wait(SOON)
    return _redirect(judge, "", scores)


@router.get("/judge/verdicts.csv")
def as_csv(request: Request) -> Response:
    """The decided pairs, as labels for `roughly tune`."""
    text = csv_of(_require_verdicts(request))[1]
    return Response(text, headers=_download("verdicts.csv"), media_type="text/csv; charset=utf-8")


@router.get("/judge/verdicts.jsonl")
def as_lines(request: Request) -> Response:
    """The file of verdicts, unchanged."""
    path: Path = _require_verdicts(request).path
    return Response(path.read_bytes(), headers=_download("verdicts.jsonl"), media_type="application/x-ndjson")


def _require_verdicts(request: Request) -> VerdictFile:
    found = verdicts_of(collections_of(request).require_run())
    if found is None:
        raise InputMissing("no pairs are drawn yet; begin on the page /judge")
    return found


def verdicts_of(run: RunCollection) -> VerdictFile | None:
    """The verdicts on a run; None if no pairs are drawn yet."""
    return open_verdicts(run.run, run.run.verdicts) if run.run.verdicts.exists() else None


def _texts(run: RunCollection, session: JudgeSession, number: int, source: Input) -> tuple[str, str]:
    """The texts of a pair; those of the next ones are read with it."""
    verdicts = session.verdicts
    drawn = verdicts.drawn.pairs

    def key(pair: int) -> tuple[str, str]:
        return drawn[pair].left_digest, drawn[pair].right_digest

    if (ready := run.pair_texts.get(key(number))) is not None:
        return ready
    wanted = [pair for pair in session.left() if pair >= number][:AHEAD]
    found = texts_of_pairs(verdicts, wanted, source.parts, source.names)
    kept, characters = {}, 0
    for pair, texts in found.items():
        characters += len(texts[0]) + len(texts[1])
        if characters <= _AHEAD:
            kept[key(pair)] = texts
    run.pair_texts = kept
    return found[number]


def _why_no_pairs(run: RunCollection) -> str:
    """Why no pairs can be drawn; empty if they can."""
    return "" if run.open_input() is not None else run.why_no_input


def _options(query: Any) -> dict[str, Any]:
    name = query.get("judge") or NAME
    check_judge(name)
    return {"judge": name, "disputed": bool(query.get("disputed")), "scores": bool(query.get("scores"))}


def _redirect(judge: str, disputed: str, scores: str) -> Response:
    query = {name: value for name, value in (("judge", judge), ("disputed", disputed), ("scores", scores)) if value}
    if query.get("judge") == NAME:
        del query["judge"]
    return RedirectResponse("/judge" + (f"?{urlencode(query)}" if query else ""), 303)


def _download(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
