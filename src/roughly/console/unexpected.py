"""What the command line says about an unexpected error: one sentence with a place, or all of it.

With `--debug`, anywhere on the command line, the traceback is printed, for a report.
"""

from __future__ import annotations

import sys

from roughly.errors import RoughlyError

_FLAG = "--debug"


class _Mode:
    is_debugging = False


def take_flag(arguments: list[str]) -> None:
    """Remember whether `--debug` was typed, and remove it."""
    _Mode.is_debugging = _FLAG in arguments
    arguments[:] = [argument for argument in arguments if argument != _FLAG]


def report(problem: Exception) -> None:
    """Print the error in one line, or the traceback with `--debug`."""
    if _Mode.is_debugging:
        import traceback

        traceback.print_exception(problem, file=sys.stderr)
        return
    print(f"error: {sentence(problem)}", file=sys.stderr)


def sentence(problem: Exception) -> str:
    """What happened, where, and what to do."""
    if isinstance(problem, RoughlyError):
        return str(problem)
    if isinstance(problem, MemoryError) or "can't start new thread" in str(problem):
        return "the system has no more memory to give; lower --memory and --threads, or raise the limit (ulimit -v)"
    what = " ".join(f"{type(problem).__name__}: {problem}".split())[:500]
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename or 'the system'}: {problem.strerror}. {_frame(problem)}"
    return f"unexpected {what}. {_frame(problem)}"


def _frame(problem: Exception) -> str:
    import traceback
    from pathlib import Path

    package = Path(__file__).resolve().parents[1]
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if package in Path(frame.filename).parents]
    where = f" in {Path(frames[-1].filename).relative_to(package)}, line {frames[-1].lineno}" if frames else ""
    return f"It happened{where}; repeat the command with {_FLAG} and report what it prints"
