"""Options said once: a frozen dataclass whose fields carry their help.

Such a class is what a function takes, and at the same time the options of a command (`console.commands` makes them),
the keywords of the Python function (`gather`) and the tables of the docs (which are made of the commands).

    @dataclass(frozen=True, kw_only=True)
    class TruthRequest:
        threshold: float = option(0.8, "Least score of a pair.")
        reading: ReadOptions = group(ReadOptions, "text_column", "id_column")

| | |
|---|---|
| `argument` | a value without a name on the command line, in order |
| `option` | `--name`, with its default and its help |
| `group` | the options of another class, or some of them, as if they stood here |

Nothing heavy is imported here: `roughly --help` reads all declarations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

from roughly.errors import SettingsError

T = TypeVar("T")
MISSING = dataclasses.MISSING
_KEY = "declared"


@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """One option or argument."""

    name: str = ""
    type: Any = None
    default: Any = MISSING  # MISSING where it must be given
    help: str | Callable[[], str] = ""  # a function where the text follows from a table that is read later
    flags: tuple[str, ...] = ()  # on the command line; empty: `--` and the name
    is_argument: bool = False
    metavar: str | None = None
    read: Callable[[str], Any] | None = None  # makes the value of the text on the command line
    shown: Any = MISSING  # the default as the help has it, where it is not the value itself


@dataclasses.dataclass(frozen=True, slots=True)
class _Group:
    kind: type
    only: tuple[str, ...]


def option(
    default: Any = MISSING,
    help: str | Callable[[], str] = "",
    *flags: str,
    read: Callable[[str], Any] | None = None,
    shown: Any = MISSING,
) -> Any:
    """A field that is an option. `read` makes its value of the text that the command line gives."""
    return _field(Declaration(default=default, help=help, flags=flags, read=read, shown=shown))


def argument(default: Any = MISSING, help: str = "", metavar: str | None = None) -> Any:
    """A field that is an argument: on the command line it has no name."""
    return _field(Declaration(default=default, help=help, is_argument=True, metavar=metavar))


def group(kind: type, *only: str) -> Any:
    """A field that holds an object of another class; the options of that class, or only these, are offered here."""
    return dataclasses.field(default_factory=kind, metadata={_KEY: _Group(kind, only)})


def declarations(kind: type) -> Iterator[Declaration]:
    """Everything that a class declares, groups as if they stood in it, in the order of its fields."""
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        said = field.metadata.get(_KEY)
        if isinstance(said, _Group):
            yield from (one for one in declarations(said.kind) if not said.only or one.name in said.only)
        elif said is not None:
            yield dataclasses.replace(said, name=field.name, type=hints[field.name])


def gather(kind: type[T], values: Mapping[str, Any]) -> T:
    """An object of the class from values by name, those of groups among them; unknown names are refused together."""
    known = {one.name for one in declarations(kind)}
    unknown = [name for name in values if name not in known]
    if unknown:
        offered = ", ".join(sorted(known))
        raise SettingsError(*(f"unknown option {name!r}; the options are {offered}" for name in unknown))
    own: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        said = field.metadata.get(_KEY)
        if isinstance(said, _Group):
            names = {one.name for one in declarations(said.kind)} & (set(said.only) or known)
            own[field.name] = gather(said.kind, {name: value for name, value in values.items() if name in names})
        elif field.name in values:
            own[field.name] = values[field.name]
    return kind(**own)


def _field(said: Declaration) -> Any:
    return dataclasses.field(default=said.default, metadata={_KEY: said})
