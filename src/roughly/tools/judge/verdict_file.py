"""The file of verdicts: the pairs drawn, then a line for every verdict, on the disk before the next pair is shown.

    {"format": "roughly-verdicts", "version": 1, "run": …, "pairs": […], "strata": […], …}
    {"judge": "ann", "pair": 17, "verdict": "same", "at": "2026-01-31T12:00:00+00:00"}
    {"judge": "ann", "pair": 17, "verdict": null, "at": …}

The first line appears whole or not at all; each verdict is one write, followed by fsync. Of two lines by one judge on
one pair the later holds, and null takes a verdict back. A line that was cut short by a kill is dropped when the file is
opened again. Several judges may write at once: lines are appended under a lock.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roughly.errors import InputError, InputMissing, OutputError, OutputExists, SettingsError
from roughly.tools.judge.strata import Stratum

FORMAT, VERSION = "roughly-verdicts", 1
VERDICTS = ("same", "different", "skip")


@dataclass(frozen=True)
class DrawnPair:
    """A pair to be judged, and where its texts are found again."""

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
    """The pairs drawn and what has been said of them: `said[judge][pair]`, in the order it was said."""

    path: Path
    drawn: Drawn
    said: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def judges(self) -> list[str]:
        """Those who judged anything, the first first."""
        return [judge for judge, own in self.said.items() if own]

    @classmethod
    def create(cls, path: Path, drawn: Drawn) -> VerdictFile:
        """A new file, whole or not at all."""
        head = {"format": FORMAT, "version": VERSION, **asdict(drawn)}
        unfinished = path.with_name(f".{path.name}.partial")
        try:
            with unfinished.open("wb") as target:
                target.write(_line(head))
                target.flush()
                os.fsync(target.fileno())
            os.link(unfinished, path)  # refuses to replace what another process has just made
        except FileExistsError:
            raise OutputExists(f"{path} exists; open it, or name another with --verdicts") from None
        except OSError as problem:
            raise OutputError(f"cannot write {path}: {problem.strerror}; name another with --verdicts") from problem
        finally:
            unfinished.unlink(missing_ok=True)
        return cls(path, drawn)

    @classmethod
    def open(cls, path: Path) -> VerdictFile:
        """A file as it was left."""
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            raise InputMissing(f"no verdicts in {path}; `roughly judge RUN` draws pairs and asks for them") from None
        head = _parsed(lines[0], path, 1)
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise InputError(f"{path} is not a file of verdicts; name another with --verdicts")
        if head.get("version") != VERSION:
            raise InputError(f"{path} has version {head.get('version')!r} of its format; this Roughly reads {VERSION}")
        found = cls(path, _drawn(head))
        for number, line in enumerate(lines[1:-1], 2):  # what follows the last line end was cut short
            found._take(_parsed(line, path, number), number)
        return found

    def record(self, judge: str, pair: int, verdict: str | None) -> None:
        """Add a verdict, or take one back; on the disk when this returns."""
        check_judge(judge)
        if verdict is not None and verdict not in VERDICTS:
            raise SettingsError(f"a verdict is one of {', '.join(VERDICTS)}, not {verdict!r}")
        entry = {"judge": judge, "pair": pair, "verdict": verdict, "at": datetime.now(UTC).isoformat()}
        try:
            with self.path.open("r+b") as target:
                fcntl.flock(target, fcntl.LOCK_EX)
                _drop_torn_end(target)
                target.write(_line(entry))
                target.flush()
                os.fsync(target.fileno())
        except OSError as problem:
            raise OutputError(
                f"cannot write {self.path}: {problem.strerror}; the last verdict is not kept"
            ) from problem
        self._take(entry, 0)

    def _take(self, entry: Any, number: int) -> None:
        try:
            judge, pair, verdict = entry["judge"], entry["pair"], entry["verdict"]
            if not 0 <= pair < len(self.drawn.pairs) or verdict not in (*VERDICTS, None):
                raise ValueError(verdict)
        except (KeyError, TypeError, ValueError) as problem:
            raise InputError(f"{self.path}, line {number}: no verdict; mend the line or take it out") from problem
        own = self.said.setdefault(judge, {})
        own.pop(pair, None)
        if verdict is not None:
            own[pair] = verdict


def check_judge(name: str) -> None:
    """Refuse a name that could not stand on a screen or in a table."""
    if not name or len(name) > 40 or not name.isprintable() or name != name.strip():
        raise SettingsError(f"a judge is named by 1 to 40 printable characters, not {name!r}")


def _drawn(head: dict[str, Any]) -> Drawn:
    values = {name: value for name, value in head.items() if name not in ("format", "version")}
    values["strata"] = [Stratum(**one) for one in values["strata"]]
    values["pairs"] = [
        DrawnPair(**one | {side: tuple(one[side]) for side in ("left_place", "right_place")}) for one in values["pairs"]
    ]
    return Drawn(**values)


def _drop_torn_end(target: Any) -> None:
    """Stand at the end of the last whole line."""
    end = target.seek(0, os.SEEK_END)
    while end:
        start = max(0, end - 4096)
        target.seek(start)
        at = target.read(end - start).rfind(b"\n")
        if at >= 0:
            target.seek(start + at + 1)
            target.truncate()
            return
        end = start


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _parsed(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as problem:
        raise InputError(f"{path}, line {number}: not JSON; mend the line or take it out") from problem
