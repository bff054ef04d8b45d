"""Messages for Python callers, with options as keywords.

Messages name options as the command line does (`--text-column NAME`); a public function gives them as keywords
(`text_column=…`), since that is how its caller asked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from roughly.errors import RoughlyError, SettingsError

P = ParamSpec("P")
T = TypeVar("T")

_VALUES = "all|cosine|number|pairs|spark|star|text"
_OPTION = re.compile(rf"--(?!debug\b|resume\b|help\b)([a-z][a-z-]*[a-z])(?: (?:([A-Z]{{2,}})\b|({_VALUES})\b))?")
_FLAGS = ("verify", "main-text", "overwrite", "ignore-unknown")


def with_keywords(message: str) -> str:
    """The message with options of the command line as keywords; commands in backticks stay as they are."""

    def keyword(found: re.Match[str]) -> str:
        name, _, value = found.groups()
        return f"{name.replace('-', '_')}={repr(value) if value else True if name in _FLAGS else '…'}"

    parts = message.split("`")
    return "`".join(_OPTION.sub(keyword, part) if number % 2 == 0 else part for number, part in enumerate(parts))


def for_python(function: Callable[P, T]) -> Callable[P, T]:
    """The same function, whose errors name options as keywords."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RoughlyError as problem:
            problem.args = tuple(with_keywords(part) if isinstance(part, str) else part for part in problem.args)
            if isinstance(problem, SettingsError):
                problem.problems = tuple(map(with_keywords, problem.problems))
            raise

    return call
