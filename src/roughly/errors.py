"""Every error that Roughly raises on purpose.

A message says what is wrong, where, and what to do about it. Each class also inherits the builtin
that fits, so callers may catch either::

    RoughlyError
    ├── SettingsError        (ValueError)        a setting, or several, make no sense: all are listed
    ├── InputError           (ValueError)        the input cannot be read with these options
    │   ├── InputMissing     (FileNotFoundError) no such file, or nothing in it to read
    │   ├── DuplicateIds     (ValueError)        two documents claim one id
    │   ├── IndexRefused     (ValueError)        not an index, or of another format
    │   └── IndexDamaged     (ValueError)        an index that is cut short or was overwritten
    ├── IndexAway            (ConnectionError)   the database of an index cannot be reached, or is busy for too long
    ├── QueryTooSlow         (TimeoutError)      a query of a service took longer than a request may
    ├── ServiceRefused       (RuntimeError)      a service answered a client with an error; `status` is its code
    ├── OutputError          (OSError)           the output cannot be written
    │   ├── OutputExists     (FileExistsError)   it already holds a run
    │   └── DiskFull         (OSError)           no space left while writing or spilling
    ├── TooManyPairs         (ValueError)        `pairs="all"` would be quadratic; the count is given
    ├── MemoryTooSmall       (ValueError)        the memory limit is too small; the minimum is given
    ├── UnexpectedError      (RuntimeError)      a fault of Roughly, with the place in the input where it showed
    ├── CoreUnusable         (ImportError)       the compiled core cannot be loaded by this Python
    └── Interrupted          (KeyboardInterrupt) stopped by the user; says how to continue
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class RoughlyError(Exception):
    """The root of all errors raised on purpose."""


def first_line(problem: BaseException) -> str:
    """What a library says about a problem, on one line; the name of the error if it says nothing."""
    lines = str(problem).strip().splitlines()
    return lines[0].strip() if lines else type(problem).__name__


def list_names(names: Sequence[str], most: int = 40) -> str:
    """The first `most` names of a list, for a message: on one line, without control characters, long ones cut."""
    shown = [" ".join("".join(c if c.isprintable() else " " for c in name[:80]).split()) for name in names[:most]]
    shown = [one + "…" if len(name) > 80 else one for one, name in zip(shown, names, strict=False)]
    return (", ".join(shown) or "none") + (f" and {len(names) - most} more" if len(names) > most else "")


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """The end of a message: the name that is most like what was given, or nothing if none is."""
    import difflib

    found = difflib.get_close_matches(str(given).lower(), list(known), 1, 0.6)
    return f". Did you mean {found[0]}?" if found else ""


class SettingsError(RoughlyError, ValueError):
    """One or more settings make no sense together; every problem is listed."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))

    def __reduce__(self) -> tuple[type, tuple[str, ...]]:
        return type(self), self.problems


class InputError(RoughlyError, ValueError):
    """The input cannot be read with these options."""


class InputMissing(InputError, FileNotFoundError):
    """No such file, or nothing in it to read."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DuplicateIds(InputError):
    """Two documents claim one id."""


class IndexRefused(InputError):
    """Not an index, or one of a format that this version does not work with."""


class IndexDamaged(InputError):
    """An index that is cut short or was overwritten."""


class IndexAway(RoughlyError, ConnectionError):
    """The database of an index cannot be reached, refuses us, or is busy for too long."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class QueryTooSlow(RoughlyError, TimeoutError):
    """A query of a service took longer than a request may."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ServiceRefused(RoughlyError, RuntimeError):
    """A service answered a client with an error; `status` is its HTTP code."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        return type(self), (str(self), self.status)


class OutputError(RoughlyError, OSError):
    """The output cannot be written."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class OutputExists(OutputError, FileExistsError):
    """The output folder already holds a run."""


class DiskFull(OutputError):
    """No space left on the disk while writing or spilling."""


class TooManyPairs(RoughlyError, ValueError):
    """All pairs were requested, and there are too many of them."""


class MemoryTooSmall(RoughlyError, ValueError):
    """The memory limit is too small."""


class UnexpectedError(RoughlyError, RuntimeError):
    """A fault of Roughly: an unexpected error, with the place in the input where it showed."""


class CoreUnusable(RoughlyError, ImportError):
    """The compiled core is missing, was built for another Python, or does not fit this system."""


class Interrupted(RoughlyError, KeyboardInterrupt):
    """Stopped by the user."""


class RoughlyWarning(UserWarning):
    """What a caller should know of a result: records that were left out, and guesses that may be wrong."""
