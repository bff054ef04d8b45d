"""Tokens: for reading, for adding as well, and for removing as well.

A file, or the environment variable `ROUGHLY_TOKENS`, has a line per token: the right, and the token.

    read  KZkGiZ8b0Cw2sX1v
    write dPqYb3T7sWl5rJ6u
    admin hV9oXm4tRn2cQe8a

Tokens are never given on the command line, where every user of the machine can read them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from roughly.errors import InputMissing, SettingsError

VARIABLE = "ROUGHLY_TOKENS"
RIGHTS = ("read", "write", "admin")
"""Each right includes those before it."""
_SHORTEST = 16
_FOR_ALL = ((stat.S_IROTH, "read"), (stat.S_IWOTH, "write"))


def read_tokens(
    path: str | os.PathLike[str] | None, environment: Mapping[str, str] = os.environ
) -> dict[str, frozenset[str]]:
    """The tokens of a file, or else of the environment, by right; none if neither is given."""
    if path is not None:
        return parse_tokens(_content(Path(path)), os.fspath(path))
    if VARIABLE in environment:
        return parse_tokens(environment[VARIABLE].replace(",", "\n"), VARIABLE)
    return {right: frozenset() for right in RIGHTS}


def _content(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        if open_to_all := [verb for bit, verb in _FOR_ALL if mode & bit]:
            verbs = " and ".join(open_to_all)
            raise SettingsError(f"every user of this machine can {verbs} {path}; protect it with `chmod 600 {path}`")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputMissing(f"no token file at {path}; docs/deployment.md says how to make one") from None
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not text"
        raise SettingsError(f"cannot read the tokens in {path}: {reason}") from None


def parse_tokens(text: str, where: str) -> dict[str, frozenset[str]]:
    """Tokens by right, one at least: protection that was requested is never empty. A message never shows a token."""
    found: dict[str, set[str]] = {right: set() for right in RIGHTS}
    problems, seen = [], set[str]()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or words[0] not in RIGHTS:
            problems.append(f"{where}, line {number}: write read, write or admin, followed by a token")
        elif len(words[1]) < _SHORTEST or not words[1].isascii() or not words[1].isprintable():
            problems.append(
                f"{where}, line {number}: a token has {_SHORTEST} ASCII characters or more; `openssl rand -hex 24` "
                "makes a good one"
            )
        elif words[1] in seen:
            problems.append(f"{where}, line {number}: this token already has a line; a token has one right")
        else:
            seen.add(words[1])
            found[words[0]].add(words[1])
    if not problems and not seen:
        problems.append(f"{where} holds no token, so nothing would be protected; write a line such as `read TOKEN`")
    if problems:
        raise SettingsError(*problems)
    return {right: frozenset(tokens) for right, tokens in found.items()}
