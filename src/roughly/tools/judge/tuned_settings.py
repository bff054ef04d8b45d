"""Settings chosen from the verdicts on a run, stored beside it, with their scores and what they were chosen from.

Two files: `OUT.tuned.json` is all of it, `OUT.tuned.toml` the settings alone, as `roughly tune -o` writes them.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from roughly.errors import InputError, InputMissing, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.job.rereading import Input
from roughly.job.settings_file import settings_text
from roughly.meter import Listener
from roughly.report.write import write_page
from roughly.settings import Resources
from roughly.tools.judge.api import JudgedRun
from roughly.tools.judge.judged_labels import JudgedLabels, score_values
from roughly.tools.tune.api import request_of
from roughly.tools.tune.choose import choose
from roughly.tools.tune.frontier import Goal
from roughly.tools.tune.request import TuneQuestion, has_scipy
from roughly.tools.tune.show import recommended_lines, settings_comment
from roughly.tools.tune.tune_result import TuneResult

FORMAT, VERSION = "roughly-tuned", 1
TUNE_STAGES = {"read": 20, "truth": 5, "tune": 50, "learn": 25}
"""The stages of `tune --learn`, and the parts of the time that each takes, about."""


@dataclass(frozen=True, kw_only=True)
class TunedSettings:
    """What was chosen for a run. All values are plain."""

    run: str  # the fingerprint of the run's settings
    at: str
    judged: dict[str, int]  # same, different, sets
    goal: str
    said: list[str]  # what `roughly tune` prints about the recommendation
    documents: int  # of the input
    sampled: int
    tried: int  # settings
    settings: dict[str, Any] | None  # None: nothing reaches the goal
    comment: str  # of the settings file
    is_learned: bool
    scores: dict[str, dict[str, Any]]  # of the run; on unseen labels, of settings without a verdict and of the verdict
    study: dict[str, Any] | None  # of the learned verdict, without texts
    prior: float | None
    warnings: list[str]
    next_run: dict[str, Any] | None = None  # the run that was made with these settings, compared with the first

    @property
    def toml(self) -> str:
        """The settings file."""
        return settings_text(self.settings or {}, self.comment)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def store(self, folder: Path) -> None:
        """Write both files beside the run."""
        if self.settings is not None:
            write_page(_beside(folder, "toml"), self.toml)
        values = self.to_dict()
        head = {"format": FORMAT, "version": VERSION, "digest": _digest(values)}
        write_page(record_path(folder), json.dumps({**head, **values}) + "\n")

    @classmethod
    def open(cls, run: JudgedRun) -> Self | None:
        """What was chosen for this run; None if nothing was. What was chosen for another run there does not count."""
        path = record_path(run.folder)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values.pop("format") != FORMAT or values.pop("version") != VERSION:
                raise ValueError("it has another format")
            if values.pop("digest") != _digest(values):
                raise ValueError("it was changed")
            found = cls(**values)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
            raise InputError(f"{path.name} cannot be read ({problem}); choose settings again") from problem
        return found if found.run == run.fingerprint else None


def _digest(values: Mapping[str, Any]) -> str:
    """The digest of the values, by which a file that was damaged or changed is noticed."""
    text = json.dumps(values, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def record_path(folder: Path) -> Path:
    """The file of what was chosen for a run."""
    return _beside(folder, "json")


def _beside(folder: Path, ending: str) -> Path:
    folder = folder.resolve()
    return folder.with_name(f"{folder.name}.tuned.{ending}")


def tune_on_verdicts(
    run: JudgedRun, judged: JudgedLabels, clusters: Mapping[str, str], source: Input, goal: Goal, *,
    resources: Resources, listener: Listener | None = None,
) -> TunedSettings:  # fmt: skip
    """Choose settings from the decided pairs, as `roughly tune --labels --learn` does, and store them beside the run.

    `clusters` names the cluster that each judged document has in the run.
    """
    if missing := judged.missing():
        raise InputMissing(missing[0])
    refuse_other_kinds(run)
    with tempfile.TemporaryDirectory(prefix="roughly-tune-", dir=resources.temp) as folder:
        labels = Path(folder) / "verdicts.csv"
        judged.write(labels)
        question = TuneQuestion(
            labels=labels, unlisted="ignore", same_column="same", learn=has_scipy(), precision=goal.precision,
            recall=goal.recall, main_text=bool(run.settings["main_text"]), date_format=run.settings.get("date_format"),
            reading=source.options, resources=resources,
        )  # fmt: skip
        try:
            chosen = choose(
                None, source.names, request_of(question), resources=resources, reading=source.options, listener=listener
            )
        except InputError as problem:
            raise type(problem)(str(problem).replace(str(labels), "the verdicts")) from problem
        chosen.warnings[:] = [one.replace(str(labels), "the verdicts") for one in chosen.warnings]
    found = _of(run, judged, clusters, chosen)
    found.store(run.folder)
    return found


def refuse_other_kinds(run: JudgedRun) -> None:
    """Refuse runs whose input is more than texts: `tune` has no answer for them."""
    if run.settings.get("features") is not None:
        raise SettingsError("this run compares features, and `roughly tune` chooses settings for texts")
    if "against" in run.run_json:
        raise SettingsError(
            "this run was compared with an archive, which is not read here; choose its settings with `roughly tune`"
        )


def _of(run: JudgedRun, judged: JudgedLabels, clusters: Mapping[str, str], chosen: TuneResult) -> TunedSettings:
    settings = chosen.settings()
    scores = {"run": judged.score(clusters) | judged.agreement(clusters)}
    if chosen.best is not None and chosen.unseen is not None:
        scores["settings"] = score_values(chosen.unseen.to_dict(), chosen.intervals)
    if chosen.learned is not None:
        scores["verdict"] = score_values(chosen.learned.unseen.to_dict(), chosen.learned.intervals)
    return TunedSettings(
        run=run.fingerprint, at=datetime.now(UTC).isoformat(timespec="seconds"), judged=judged.to_dict(),
        goal=str(chosen.request.goal), said=recommended_lines(chosen), documents=chosen.documents,
        sampled=chosen.sampled, tried=chosen.count, settings=settings,
        comment="" if settings is None else settings_comment(chosen), is_learned=chosen.is_learned, scores=scores,
        study=None if chosen.study is None else json.loads(json.dumps(chosen.study.to_dict())),
        prior=None if chosen.learned is None else chosen.learned.verdict.prior, warnings=chosen.warnings,
    )  # fmt: skip
