"""The next run: the input of a run once more, with settings that were chosen from the verdicts on it.

The input is read as the run read it. Settings that `tune` does not choose (which document is kept, which pairs are
written) are those of the run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from roughly.engines.local.run_browser import Browsing
from roughly.errors import InputMissing
from roughly.job.dedupe_api import run as run_dedupe
from roughly.job.launcher import DedupeRequest
from roughly.job.rereading import Input
from roughly.meter import Listener
from roughly.settings import Resources, Settings
from roughly.tools.judge.api import JudgedRun
from roughly.tools.judge.judged_labels import JudgedLabels
from roughly.tools.judge.tuned_settings import TunedSettings, record_path, refuse_other_kinds

_KEPT = (
    "recall", "keep", "pairs", "pairs_limit", "markup", "main_text", "on_duplicate_id", "date_format", "text_column",
)  # fmt: skip
"""Settings of the run that count where `tune` chose none."""
_NUMBERED = re.compile(r"(.+)\.tuned(\d*)")


def next_settings(run: JudgedRun, chosen: Mapping[str, Any]) -> Settings:
    """The chosen settings, and those of the run that they say nothing about."""
    kept = {name: run.settings[name] for name in _KEPT if name in run.settings}
    return Settings.gather(kept, chosen)


def has_settings(run: JudgedRun, chosen: Mapping[str, Any]) -> bool:
    """Whether the run was made with these settings, so that to make it again would change nothing."""
    return next_settings(run, chosen) == Settings.from_dict(run.settings)


def next_folder(folder: Path) -> Path:
    """`OUT.tuned` beside `OUT`, then `OUT.tuned2`, …: the first that nobody has judged or decided about.

    What is there already is replaced, as `roughly dedupe --overwrite` does.
    """
    folder = folder.resolve()
    found = _NUMBERED.fullmatch(folder.name)
    base = found[1] if found else folder.name
    number = int(found[2] or 1) + 1 if found else 1
    while True:
        place = folder.with_name(f"{base}.tuned{'' if number == 1 else number}")
        beside = [place.with_name(f"{place.name}.{what}.jsonl") for what in ("verdicts", "decisions")]
        if not any(path.exists() for path in (*beside, record_path(place))):
            return place
        number += 1


def make_next_run(
    run: JudgedRun, tuned: TunedSettings, judged: JudgedLabels, source: Input, *, resources: Resources,
    listener: Listener | None = None,
) -> TunedSettings:  # fmt: skip
    """Write the run, compare it with the first one, and store the comparison with the settings."""
    if tuned.settings is None:
        raise InputMissing("no settings were chosen: none reaches the goal; choose again with another goal")
    refuse_other_kinds(run)
    settings = next_settings(run, tuned.settings)
    folder = next_folder(run.folder)
    request = DedupeRequest(
        settings=settings, resources=resources, reading=settings.reading(source.options), output=folder, overwrite=True,
        resume=False,
    )  # fmt: skip
    run_dedupe(None, source.names, request, listener=listener)
    made = JudgedRun.open(folder)
    counts = {name: made.run_json["counts"][name] for name in ("documents", "kept", "removed")}
    clusters = clusters_of(folder, judged.documents)
    found = replace(
        tuned,
        next_run={
            "name": folder.name, "fingerprint": made.fingerprint, "counts": counts, **judged.agreement(clusters),
            "score": judged.score(clusters),
        },
    )  # fmt: skip
    found.store(run.folder)
    return found


def clusters_of(folder: Path, ids: Sequence[str]) -> dict[str, str]:
    """The cluster of each of these documents in a run."""
    with closing(Browsing(folder)) as tables:
        return cluster_names(tables, ids)


def cluster_names(tables: Browsing, ids: Sequence[str]) -> dict[str, str]:
    """The same from tables that are open; a document that the run does not have is refused."""
    found = {row["doc_id"]: str(row["cluster_id"]) for row in tables.rows_of("doc_id", ids)}
    for name in ids:
        if name not in found:
            raise InputMissing(f"the run has no document {name!r}, which is judged; begin with new verdicts")
    return found
