"""One judge's session: the next pair, and the verdict on it."""

from __future__ import annotations

from dataclasses import field

from roughly.fast_dataclass import dataclass
from roughly.tools.judge.verdict_file import VerdictFile, check_judge


@dataclass
class JudgeSession:
    """The pairs shown to a judge: all, or with `disputed` only those that others disagree on.

    Judges do not see each other's verdicts. An arbiter decides where they differ, as in Conrad 2003, §7.2.
    """

    verdicts: VerdictFile
    judge: str
    disputed: bool = False
    asked: list[int] = field(init=False)

    def __post_init__(self) -> None:
        check_judge(self.judge)
        everything = range(len(self.verdicts.drawn.pairs))
        self.asked = [n for n in everything if not self.disputed or self._differ(n)]

    @property
    def _own(self) -> dict[int, str]:
        return self.verdicts.said.get(self.judge, {})

    @property
    def done(self) -> int:
        """Pairs judged or skipped."""
        return sum(n in self._own for n in self.asked)

    def left(self) -> list[int]:
        """The pairs that are not judged yet, in order."""
        return [n for n in self.asked if n not in self._own]

    def next(self) -> int | None:
        """The pair to be judged now; None if all are done."""
        return next(iter(self.left()), None)

    def say(self, verdict: str) -> None:
        """Judge the next pair."""
        pair = self.next()
        if pair is not None:
            self.verdicts.record(self.judge, pair, verdict)

    def undo(self) -> bool:
        """Undo the last verdict; false if there is none."""
        last = next((n for n in reversed(self._own) if n in self.asked), None)
        if last is None:
            return False
        self.verdicts.record(self.judge, last, None)
        return True

    def _differ(self, pair: int) -> bool:
        said = {own[pair] for judge, own in self.verdicts.said.items() if judge != self.judge and pair in own}
        return {"same", "different"} <= said
