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
| `values` | the same, as values by name instead of an object |

Nothing heavy is imported here: `roughly --help` reads all declarations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

from roughly.errors import SettingsError

T = TypeVar("T")
REQUIRED: Any = object()
"""As a default: there is none, the value must be given."""
_KEY = "declared"


@dataclasses.dataclass(frozen=True, slots=True)
class Declaration:
    """One option or argument."""

    name: str = ""
    type: Any = None
    default: Any = REQUIRED
    help: str | Callable[[], str] = ""  # a function where the text follows from a table that is read later
    flags: tuple[str, ...] = ()  # on the command line; empty: `--` and the name
    is_argument: bool = False
    metavar: str | None = None
    read: Callable[[str], Any] | None = None  # makes the value of the text on the command line
    shown: Any = REQUIRED  # the default as the help has it, where it is not the value itself


def option(
    default: Any = REQUIRED,
    help: str | Callable[[], str] = "",
    *flags: str,
    read: Callable[[str], Any] | None = None,
    shown: Any = REQUIRED,
) -> Any:
    """A field that is an option. `read` makes its value of the text that the command line gives."""
    return _field(Declaration(default=default, help=help, flags=flags, read=read, shown=shown))


def argument(default: Any = REQUIRED, help: str = "", metavar: str | None = None) -> Any:
    """A field that is an argument: on the command line it has no name."""
    return _field(Declaration(default=default, help=help, is_argument=True, metavar=metavar))


@dataclasses.dataclass(frozen=True, slots=True)
class _Group:
    kind: type
    only: tuple[str, ...]
    defaults: Mapping[str, Any]  # where they differ from those of the class
    plain: bool  # values by name instead of an object

    def declarations(self) -> Iterator[Declaration]:
        for one in declarations(self.kind):
            if one.name in self.defaults:
                yield dataclasses.replace(one, default=self.defaults[one.name], shown=self.defaults[one.name])
            elif not self.only or one.name in self.only:
                yield one

    def gather(self, values: Mapping[str, Any]) -> Any:
        names = {one.name for one in self.declarations()}
        own = {**self.defaults, **{name: value for name, value in values.items() if name in names}}
        return own if self.plain else gather(self.kind, own)


def group(kind: type, *only: str, **defaults: Any) -> Any:
    """A field that holds an object of another class; the options of that class, or only these, are offered here."""
    return _group(_Group(kind, only, defaults, plain=False))


def values(kind: type, *only: str, **defaults: Any) -> Any:
    """The same, for a field that holds the values by name: for settings, which presets and files complete."""
    return _group(_Group(kind, only, defaults, plain=True))


def declarations(kind: type) -> Iterator[Declaration]:
    """Everything that a class declares, groups as if they stood in it, in the order of its fields."""
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        said = field.metadata.get(_KEY)
        if isinstance(said, _Group):
            yield from said.declarations()
        elif said is not None:
            yield dataclasses.replace(said, name=field.name, type=hints[field.name])


def gather(kind: type[T], given: Mapping[str, Any]) -> T:
    """An object of the class from values by name, those of groups among them; unknown names are refused together."""
    known = {one.name for one in declarations(kind)}
    unknown = [name for name in given if name not in known]
    if unknown:
        offered = ", ".join(sorted(known))
        raise SettingsError(*(f"unknown option {name!r}; the options are {offered}" for name in unknown))
    own: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        said = field.metadata.get(_KEY)
        if isinstance(said, _Group):
            own[field.name] = said.gather(given)
        elif field.name in given:
            own[field.name] = given[field.name]
    return kind(**own)


def _field(said: Declaration) -> Any:
    if said.default is REQUIRED:
        return dataclasses.field(metadata={_KEY: said})
    return dataclasses.field(default=said.default, metadata={_KEY: said})


def _group(said: _Group) -> Any:
    return dataclasses.field(default_factory=lambda: said.gather({}), metadata={_KEY: said})
