"""`/decisions`: what people decided about documents of the run, what that changes, and a button that applies it.

A decision is recorded at once (`tools/decide`). Applying writes a new run beside the served one, in the background,
since it copies what is kept; the page shows its state.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from roughly.errors import InputMissing, RoughlyError
from roughly.service.collection.served_collections import collections_of
from roughly.service.error_responses import without_address
from roughly.service.explorer.background_task import RESOURCES, SOON, BackgroundTask
from roughly.service.explorer.decided_marks import may_decide
from roughly.service.explorer.rendering import show
from roughly.service.security import local_path
from roughly.tools.decide.decision_effects import DecidedDocument

router = APIRouter(include_in_schema=False)
LISTED = 200  # changes that are listed
NAME = "explorer"


@router.get("/decisions")
@router.get("/decisions.json")
def decisions(request: Request) -> Response:
    """All decisions, and what they change."""
    run = collections_of(request).require_run()
    task: BackgroundTask = request.app.state.apply_task
    ours = task.run == run.run.folder
    standing = run.decisions.standing
    changed: list[DecidedDocument] = []
    trouble = ""
    try:
        changed = run.decisions.effects()
    except (RoughlyError, OSError) as problem:
        trouble = without_address(str(problem))
    counts = run.run_json["counts"]
    back = sum(one.kept - one.was_kept for one in changed)
    values: dict[str, Any] = {
        "in": "run",
        "decisions": [one.to_dict() for one in standing],
        "changed": len(changed),
        "overridden": sum(one.overridden for one in changed),
        "kept": counts["kept"] + back,
        "removed": counts["removed"] - back,
        "changes": [one.to_dict() for one in changed[:LISTED]],
        "trouble": trouble,
        "applying": task.runs,
        "applied": str(task.done.folder.name) if ours and task.done is not None else None,
        "problem": task.problem if ours else "",
    }
    page_only = {"standing": standing, "changes": changed[:LISTED], "listed": LISTED, "may_decide": may_decide(request)}
    return show(request, "decisions.html", values, page_only=page_only)


@router.post("/decisions")
def record(
    request: Request,
    decision: Annotated[str, Form(max_length=40)],
    id: Annotated[list[str], Form()],
    by: Annotated[str, Form(max_length=200)],
    note: Annotated[str, Form(max_length=10_000)] = "",
    next: Annotated[str, Form(max_length=8_000)] = "",
) -> Response:
    """Record a decision, and go back to the page it was made on."""
    run = collections_of(request).require_run()
    kind, _, which = decision.partition(" ")  # `keep 1` keeps the second of the documents
    ids = [id[int(which)]] if which.isdecimal() and int(which) < len(id) else id
    run.decisions.record(kind, ids, by=by.strip(), note=note.replace("\r\n", "\n"))
    return RedirectResponse(local_path(next) if next else "/decisions", 303)


@router.post("/decisions/undo")
def undo(
    request: Request,
    number: Annotated[int, Form()],
    by: Annotated[str, Form(max_length=200)] = NAME,
    next: Annotated[str, Form(max_length=8_000)] = "",
) -> Response:
    """Take a decision back."""
    collections_of(request).require_run().decisions.undo(number, by=by.strip())
    return RedirectResponse(local_path(next) if next else "/decisions", 303)


@router.post("/decisions/apply")
def apply(request: Request) -> Response:
    """Begin to write the new run."""
    run = collections_of(request).require_run()
    if not run.decisions.standing:
        raise InputMissing("there are no decisions to apply; make some on the pages of documents and pairs")
    task: BackgroundTask = request.app.state.apply_task
    task.start(lambda listener: run.decisions.apply(overwrite=True, resources=RESOURCES), run.run.folder)
    task.wait(SOON)
    return RedirectResponse("/decisions", 303)
