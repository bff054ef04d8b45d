"""What was decided about documents, for the pages that show them, and the form that decides."""

from __future__ import annotations

from collections import defaultdict

from fastapi import Request

from roughly.service.collection.served_collections import collections_of
from roughly.service.explorer.navigation import shown_by
from roughly.tools.decide.decision_file import Decision


def decisions_by_id(request: Request) -> dict[str, list[Decision]]:
    """The decisions about the documents of the run that this page shows; empty for an index."""
    found: dict[str, list[Decision]] = defaultdict(list)
    run = collections_of(request).run if shown_by(request) == "run" else None
    for one in run.decisions.standing if run is not None else ():
        for name in one.ids:
            found[name].append(one)
    return found


def may_decide(request: Request) -> bool:
    """Whether this page shows a run, and the visitor may change what is stored."""
    return shown_by(request) == "run" and request.state.right in ("write", "admin")
