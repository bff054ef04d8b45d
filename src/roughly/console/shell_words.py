"""Messages for the shell, with settings as the options that were typed (`--main-text`, not `main_text`).

The other way round is `python_words`. Settings of a file keep their names, since that is how they are written there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

_NAME = r"(?<![\w.'\"`/-])([a-z]+(?:_[a-z]+)*)(?![\w.'\"`/-])"
_FIRST = re.compile(rf"^{_NAME}(?= (?:must be|\S+ means|and|belong|dom)\b)")
_AFTER_AND = re.compile(rf"^(--[a-z-]+ and ){_NAME}")
_LEFT_OUT = re.compile(rf"\bleave {_NAME}(?= out\b)")
_LONG = re.compile(_NAME)
_FROM_FILE = re.compile(r"^\S+: |^\S*[./]\S* ")


def with_options(message: str, parameters: Iterable[click.Parameter]) -> str:
    """The message with the names of these parameters as they are typed."""
    if _FROM_FILE.match(message):
        return message
    flags = {one.name: max(one.opts, key=len) for one in parameters if isinstance(one, click.Option)}

    def flag(found: re.Match[str]) -> str:
        name = found[found.re.groups]
        return found[0].replace(name, flags.get(name, name))

    for pattern in (_FIRST, _AFTER_AND, _LEFT_OUT):
        message = pattern.sub(flag, message)
    return _LONG.sub(lambda found: flags.get(found[0], found[0]) if "_" in found[0] else found[0], message)
