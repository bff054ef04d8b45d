"""Writes the types of keyword options, from the declarations of the options.

    python docs/make_option_types.py

`src/roughly/option_types.py` has a class per function that takes `**options`, so that editors complete the names and
type checkers see a wrong one. A test fails while the file is not what this writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from make_python import REQUESTS

from roughly.declarations import declarations
from roughly.options import OPTIONS
from roughly.settings import ReadOptions, Resources, Settings

FILE = Path(__file__).parents[1] / "src" / "roughly" / "option_types.py"
HEAD = '''"""Types of the keyword options of functions, written by `python docs/make_option_types.py`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from roughly.lexicon.lexicon import Lexicon


'''
_PATH = "str | os.PathLike[str]"
_KINDS = {
    "whole": "int",
    "number": "float",
    "text": "str",
    "flag": "bool",
    "groups": "str | Sequence[Sequence[float]]",
    "file": _PATH,
    "lexicon": f"{_PATH} | Lexicon",
}


def generated() -> str:
    """The whole file."""
    settings = of_class(Settings) | {option.name: _of_option(option.kind) for option in OPTIONS.values()}
    reading, resources = of_class(ReadOptions), of_class(Resources)
    layers = {
        "preset": "str | None", "settings": f"{_PATH} | None", "master": "str | None", "progress": "bool | None",
        "only_against": "bool",
    }  # fmt: skip
    dedupe = settings | reading | resources | layers
    classes = [
        written("DedupeOptions", ["dedupe"], dedupe),
        written("SettingsOptions", ["group_results"], settings),
        written("IndexOptions", ["Index", "Index.create"], {n: t for n, t in settings.items() if n != "lexicon"}),
        written("ReadingOptions", ["Sweeps.add"], reading),
    ]
    for names, kind in REQUESTS.items():
        classes.append(written(f"{kind.__name__}Options", names, of_class(kind)))
    return HEAD + "\n\n".join(classes)


def of_class(kind: type) -> dict[str, str]:
    """The types of the options that a class declares, by name."""
    return {one.name: _type(one.type, one.read is not None) for one in declarations(kind)}


def written(name: str, functions: Iterable[str], types: Mapping[str, str]) -> str:
    """A class of options."""
    of = ", ".join(f"`{function}`" for function in functions)
    lines = "".join(f"    {option}: {kind}\n" for option, kind in types.items())
    return f'class {name}(TypedDict, total=False):\n    """Options of {of}."""\n\n{lines}'


def _of_option(kind: str) -> str:
    """The type of a method's option; None counts as not given."""
    return f"{_KINDS[kind.rstrip('?')]}{' | str' * kind.endswith('?')} | None"


def _type(kind: Any, is_read: bool) -> str:
    """A type as callers may give it: a size also as text, a path also as a string, a list also as one string."""
    plain = kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__origin__") else str(kind)
    plain = plain.replace("typing.", "").replace("collections.abc.", "").replace("pathlib.", "")
    ends = " | None" * plain.endswith(" | None")
    plain = plain.removesuffix(" | None")
    if plain == "tuple[str, ...]":
        return f"str | Sequence[str]{ends}"
    if plain == "Path":
        return f"{_PATH}{ends}"
    return f"{plain}{' | str' * (is_read and plain in ('int', 'Sequence[str]'))}{ends}"


if __name__ == "__main__":
    FILE.write_text(generated(), encoding="utf-8")
