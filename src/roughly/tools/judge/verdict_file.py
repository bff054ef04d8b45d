"""The file of verdicts: the drawn pairs, then one line per verdict, on disk before the next pair is shown.

    {"format": "roughly-verdicts", "version": 1, "run": …, "pairs": […], "strata": […], …}
    {"judge": "ann", "pair": 17, "verdict": "same", "at": "2026-01-31T12:00:00+00:00"}
    {"judge": "ann", "pair": 17, "verdict": null, "at": …}

If a judge has two lines for one pair, the later counts, and null undoes a verdict. Several judges may write at once,
and nothing is lost by a kill (`appended_lines`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roughly.errors import InputError, InputMissing, OutputError, OutputExists, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.tools import appended_lines
from roughly.tools.judge.strata import Stratum

FORMAT, VERSION = "roughly-verdicts", 1
VERDICTS = ("same", "different", "skip")


@dataclass(frozen=True)
class DrawnPair:
    """A pair to be judged, and the positions of its texts."""

    left_id: str
    right_id: str
    score: float  # exact, on the texts
    stratum: int
    left_place: tuple[int, int]  # part, row
    right_place: tuple[int, int]
    left_digest: str  # of the text, so that a changed input is noticed
    right_digest: str


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What was drawn from which run."""

    run: str  # the fingerprint of its settings
    measure: str
    threshold: float
    shingle_size: int
    main_text: bool
    seed: int
    inputs: Sequence[str]
    reading: dict[str, Any]
    strata: Sequence[Stratum]
    pairs: Sequence[DrawnPair]


@dataclass
class VerdictFile:
    """The drawn pairs and the verdicts: `said[judge][pair]`, in the order of judging."""

    path: Path
    drawn: Drawn
    said: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def judges(self) -> list[str]:
        """The judges, in the order of their first verdicts."""
        return [judge for judge, own in self.said.items() if own]

    @classmethod
    def create(cls, path: Path, drawn: Drawn) -> VerdictFile:
        """A new file, complete or not at all."""
        head = {"format": FORMAT, "version": VERSION, **asdict(drawn)}
        try:
            appended_lines.create(path, head)
        except FileExistsError:
            raise OutputExists(f"{path} exists; open it, or name another with --verdicts") from None
        except OSError as problem:
            raise OutputError(f"cannot write {path}: {problem.strerror}; name another with --verdicts") from problem
        return cls(path, drawn)

    @classmethod
    def open(cls, path: Path) -> VerdictFile:
        """An existing file."""
        try:
            head, *entries = appended_lines.read(path)
        except FileNotFoundError:
            raise InputMissing(f"no verdicts in {path}; `roughly judge RUN` draws pairs and records verdicts") from None
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise InputError(f"{path} is not a file of verdicts; name another with --verdicts")
        if head.get("version") != VERSION:
            raise InputError(f"{path} has version {head.get('version')!r} of its format; this Roughly reads {VERSION}")
        try:
            found = cls(path, _drawn(head))
        except (KeyError, TypeError, ValueError) as problem:
            raise InputError(f"{path}, line 1: what was drawn cannot be read; draw again to another file") from problem
        for number, entry in enumerate(entries, 2):
            found._take(entry, number)
        return found

    def record(self, judge: str, pair: int, verdict: str | None) -> None:
        """Add a verdict, or undo one; on disk when this returns."""
        check_judge(judge)
        if verdict is not None and verdict not in VERDICTS:
            raise SettingsError(f"a verdict is one of {', '.join(VERDICTS)}, not {verdict!r}")
        entry = {"judge": judge, "pair": pair, "verdict": verdict, "at": datetime.now(UTC).isoformat()}
        try:
            appended_lines.append(self.path, entry)
        except OSError as problem:
            raise OutputError(
                f"cannot write {self.path}: {problem.strerror}; the last verdict is not stored"
            ) from problem
        self._take(entry, 0)

    def _take(self, entry: Any, number: int) -> None:
        try:
            judge, pair, verdict = entry["judge"], entry["pair"], entry["verdict"]
            if not 0 <= pair < len(self.drawn.pairs) or verdict not in (*VERDICTS, None):
                raise ValueError(verdict)
        except (KeyError, TypeError, ValueError) as problem:
            raise InputError(f"{self.path}, line {number}: no verdict; repair or remove the line") from problem
        own = self.said.setdefault(judge, {})
        own.pop(pair, None)
        if verdict is not None:
            own[pair] = verdict


def check_judge(name: str) -> None:
    """Refuse a name that cannot be shown on a screen or in a table."""
    if not name or len(name) > 40 or not name.isprintable() or name != name.strip():
        raise SettingsError(f"a judge is named by 1 to 40 printable characters, not {name!r}")


def _drawn(head: dict[str, Any]) -> Drawn:
    values = {name: value for name, value in head.items() if name not in ("format", "version")}
    values["strata"] = [Stratum(**one) for one in values["strata"]]
    values["pairs"] = [
        DrawnPair(**one | {side: tuple(one[side]) for side in ("left_place", "right_place")}) for one in values["pairs"]
    ]
    return Drawn(**values)
