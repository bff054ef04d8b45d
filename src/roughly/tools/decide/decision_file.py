"""The file of decisions, beside the folder of the run: `RUN.decisions.jsonl`.

    {"format": "roughly-decisions", "version": 1, "run": "060f7f2b48ded3f0"}
    {"decision": "keep", "ids": ["b"], "note": "has the appendix", "by": "ann", "at": "2026-01-31T12:00:00+00:00"}
    {"decision": "different", "ids": ["c", "a"], "note": "", "by": "ann", "at": …}
    {"decision": "undo", "number": 1, "note": "", "by": "bob", "at": …}

| decision | ids | meaning |
|---|---|---|
| `keep` | one | keep this document, instead of the one that was kept in its place |
| `different` | two | these two are not duplicates of each other |
| `together` | two or more | these belong together: one of them is kept, the first if none is removed |

Decisions are numbered from 1 in the order of their lines. An undone decision stays in the file and has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from roughly.errors import InputError, InputMissing, OutputError, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.tools import appended_lines

FORMAT, VERSION = "roughly-decisions", 1
DecisionKind = Literal["keep", "different", "together"]
KINDS: dict[str, str] = {
    "keep": "keep this one instead", "different": "not a duplicate", "together": "these belong together",
}  # fmt: skip
LONGEST_NOTE = 1_000
MOST_IDS = 500


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of a person."""

    number: int
    kind: DecisionKind
    ids: tuple[str, ...]
    note: str
    by: str
    at: str  # ISO 8601, UTC

    @property
    def words(self) -> str:
        """The decision in words."""
        return KINDS[self.kind]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self) | {"ids": list(self.ids)}


class DecisionFile:
    """The decisions about one run that have not been undone, in order; the file is made by the first one."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path, self._fingerprint = path, fingerprint
        self._all: list[Decision] = []
        self._undone: set[int] = set()
        self._stamp: tuple[int, int] | None = None
        self.refresh()

    @property
    def standing(self) -> list[Decision]:
        """The decisions that count."""
        return [one for one in self._all if one.number not in self._undone]

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._all, self._undone, self._stamp = [], set(), None
            return
        stamp = (found.st_mtime_ns, found.st_size)
        if stamp == self._stamp:
            return
        head, *entries = appended_lines.read(self.path)
        self._check(head)
        self._all, self._undone = [], set()
        for line, entry in enumerate(entries, 2):
            self._take(entry, line)
        self._stamp = stamp

    def record(self, kind: str, ids: Sequence[str], by: str, note: str = "") -> Decision:
        """Add a decision; on disk when this returns. The caller has checked that the run has these documents."""
        ids = tuple(dict.fromkeys(ids))
        problems = _problems(kind, ids)
        problems += _problems_of_words(by, note)
        if problems:
            raise SettingsError(*problems)
        self._append({"decision": kind, "ids": list(ids), "note": note.strip(), "by": by})
        return self._all[-1]

    def undo(self, number: int, by: str, note: str = "") -> None:
        """Take a decision back."""
        if problems := _problems_of_words(by, note):
            raise SettingsError(*problems)
        self.refresh()
        if number not in {one.number for one in self.standing}:
            raise InputMissing(f"there is no decision {number} to undo; the list shows those that count")
        self._append({"decision": "undo", "number": number, "note": note.strip(), "by": by})

    def _append(self, entry: dict[str, Any]) -> None:
        try:
            if not self.path.exists():
                head = {"format": FORMAT, "version": VERSION, "run": self._fingerprint}
                with suppress(FileExistsError):  # another process has made it in the meantime
                    appended_lines.create(self.path, head)
            self.refresh()  # refuses a file of another run
            appended_lines.append(self.path, entry | {"at": datetime.now(UTC).isoformat(timespec="seconds")})
        except OSError as problem:
            raise OutputError(
                f"cannot write {self.path}: {problem.strerror}; the decision is not stored: make its folder writable"
            ) from problem
        self.refresh()

    def _check(self, head: Any) -> None:
        if not isinstance(head, dict) or head.get("format") != FORMAT:
            raise InputError(f"{self.path} is not a file of decisions; move it away")
        if head.get("version") != VERSION:
            raise InputError(
                f"{self.path} has version {head.get('version')!r} of its format; this Roughly reads {VERSION}"
            )
        if head.get("run") != self._fingerprint:
            raise InputError(
                f"{self.path} holds decisions about a run with other settings; move it away, or repeat that run"
            )

    def _take(self, entry: Any, line: int) -> None:
        try:
            if entry["decision"] == "undo":
                self._undone.add(int(entry["number"]))
                return
            kind, ids = entry["decision"], tuple(map(str, entry["ids"]))
            if _problems(kind, ids):
                raise ValueError(kind)
            made = Decision(len(self._all) + 1, kind, ids, str(entry["note"]), str(entry["by"]), str(entry["at"]))
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise InputError(f"{self.path}, line {line}: no decision; repair or remove the line") from problem
        self._all.append(made)


def _problems(kind: str, ids: Sequence[str]) -> list[str]:
    """What is wrong with a decision."""
    if kind not in KINDS:
        return [f"a decision is one of {', '.join(KINDS)}, not {kind[:40]!r}"]
    if kind == "keep" and len(ids) != 1:
        return ["keep takes one document"]
    if kind == "different" and len(ids) != 2:
        return ["different takes two documents that are not the same"]
    if kind == "together" and not 2 <= len(ids) <= MOST_IDS:
        return [f"together takes 2 to {MOST_IDS} documents"]
    return []


def _problems_of_words(by: str, note: str) -> list[str]:
    problems = []
    if not by or len(by) > 40 or not by.isprintable() or by != by.strip():
        problems.append(f"by is a name of 1 to 40 printable characters, not {by[:60]!r}")
    if len(note) > LONGEST_NOTE:
        problems.append(f"a note has at most {LONGEST_NOTE:,} characters, not {len(note):,}")
    return problems
