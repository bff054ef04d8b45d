"""Errors of the database as errors of this package, and which of them are worth another try.

A lock of another writer, a broken connection, a server that is starting: these are temporary, so the same
transaction is tried a bounded number of times. A failed transaction is rolled back, and adding is idempotent, so trying
again never does anything twice. Every other error is raised at once.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from roughly.errors import DiskFull, IndexAway, IndexDamaged, IndexRefused, InputError, OutputError, RoughlyError
from roughly.index.storage.store import BUSY_SECONDS
from roughly.query_time import too_slow

T = TypeVar("T")

TRIES = 6
_FIRST_WAIT = 0.2
_CANCELLED = "57014"  # of PostgreSQL, in any language: a query took longer than it may
_TEMPORARY = ("40001", "40P01", "57P01", "57P02", "57P03", "53300", "08")
"""SQLSTATEs: serialisation, deadlock, shutdown, crash, starting up, too many connections, connection."""


def attempt(name: str, work: Callable[[], T], tries: int = TRIES) -> T:
    """Run `work` and return its result; while the database is busy or away, try again after growing pauses."""
    for number in range(1, tries + 1):
        try:
            return work()
        except UnicodeDecodeError as problem:
            raise not_text(name) from problem
        except DBAPIError as problem:
            if not is_temporary(problem):
                raise translated(name, problem) from problem
            if number == tries:
                raise unreachable(name, problem) from problem
            time.sleep(_FIRST_WAIT * 2 ** (number - 1) * random.uniform(0.5, 1.5))
    raise AssertionError("unreachable")


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Raise errors of the database as errors of this package, without another try."""
    try:
        yield
    except UnicodeDecodeError as problem:
        raise not_text(name) from problem
    except DBAPIError as problem:
        raise (unreachable if is_temporary(problem) else translated)(name, problem) from problem


def not_text(name: str) -> IndexDamaged:
    """The error for names and messages of a file that are not UTF-8, which the driver cannot return."""
    return IndexDamaged(f"{name} is damaged (its names are not text); restore it from a copy, or import it again")


def is_temporary(problem: DBAPIError) -> bool:
    """Whether another try may succeed."""
    message = str(problem.orig).lower()
    state = str(getattr(problem.orig, "sqlstate", None) or "")
    if "password authentication failed" in message or "does not exist" in message:
        return False
    if problem.connection_invalidated or state.startswith(_TEMPORARY):
        return True
    if "database is locked" in message or "database table is locked" in message:
        return True
    return isinstance(problem, OperationalError | InterfaceError) and any(
        words in message
        for words in ("connection refused", "could not connect", "connection failed", "server closed", "is starting up",
                      "connection timeout", "no such file or directory", "the connection is lost")
    )  # fmt: skip


def unreachable(name: str, problem: DBAPIError) -> RoughlyError:
    """The error after the last try."""
    message = _first_line(problem)
    if "locked" in message:
        return IndexAway(f"{name}: another process has been writing for {BUSY_SECONDS} s; try again when it is done")
    return IndexAway(f"{name} cannot be reached: {message}; nothing was written, try again when it is back")


def translated(name: str, problem: Any) -> RoughlyError:
    """The error of this package that says what is wrong, and what to do about it."""
    message = _first_line(problem)
    low = message.lower()
    if "disk is full" in low or "no space left" in low or str(getattr(problem.orig, "sqlstate", "")) == "53100":
        return DiskFull(f"no space left for {name}: what was acknowledged is safe; free some and repeat the command")
    if low == "interrupted" or str(getattr(problem.orig, "sqlstate", "")) == _CANCELLED:
        return too_slow()
    if "cannot contain nul" in low:
        return InputError("no index has an id, a url or a word with the character NUL in it; leave it out")
    if "readonly" in low or "read-only" in low:
        return OutputError(f"cannot write to {name}: it is read-only; ask for the right to write, or copy it elsewhere")
    if "unable to open database file" in low:
        return OutputError(f"cannot open {name}: its folder must exist and be writable, for SQLite's own files")
    if "not a database" in low:
        return IndexRefused(
            f"{name} is not an index of roughly, nor the folder of a run; make one: roughly index create"
        )
    if "malformed" in low or "disk i/o error" in low or "checksum" in low:
        return IndexDamaged(f"{name} is damaged ({message}); restore it from a copy, or import it again")
    if "no such table" in low or "undefinedtable" in type(problem.orig).__name__.lower():
        return IndexRefused(f"{name} holds no index of roughly; make one with `roughly index create`")
    if "password authentication failed" in low or "no password supplied" in low:
        return IndexAway(f"{name}: the server refuses the user or the password; check both in the address")
    if "does not exist" in low:
        return IndexAway(f"{name}: {message}; make it first, or correct the address")
    return IndexAway(f"{name}: {message}")


def _first_line(problem: Any) -> str:
    lines = [line.strip() for line in str(problem.orig).splitlines() if line.strip()]
    return lines[0] if lines else type(problem.orig).__name__
