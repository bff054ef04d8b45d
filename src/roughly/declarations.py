"""Options declared once: a frozen dataclass whose fields have help texts.

Such a class is the parameter of a function, and also the options of a command (made by `console.commands`), the
keywords of the Python function (`gather`) and the tables of the docs (made from the commands).

    @dataclass(frozen=True, kw_only=True)
    class TruthRequest:
        threshold: float = option(0.8, "Lowest score of a pair.")
        reading: ReadOptions = group(ReadOptions, "text_column", "id_column")

| | |
|---|---|
| `argument` | a value without a name on the command line, in order |
| `option` | `--name`, with its default and its help |
| `group` | the options of another class, or some of them, as if declared here |
| `values` | the same, as values by name instead of an object |

Nothing heavy is imported here: `roughly --help` reads all declarations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

from roughly.errors import SettingsError, did_you_mean
from roughly.fast_dataclass import dataclass

T = TypeVar("T")
REQUIRED: Any = object()
"""As a default: the value must be given."""
_KEY = "declared"


@dataclass(frozen=True, slots=True)
class Declaration:
    """One option or argument."""

    name: str = ""
    type: Any = None
    default: Any = REQUIRED
    help: str | Callable[[], str] = ""  # a function if the text depends on a table that is read later
    flags: tuple[str, ...] = ()  # on the command line; empty: `--` and the name
    is_argument: bool = False
    metavar: str | None = None
    read: Callable[[str], Any] | None = None  # converts the text on the command line
    shown: Any = REQUIRED  # the default in the help, if it is not the value itself
    choices: Callable[[], Iterable[str]] | None = None  # values that the shell completes


def option(
    default: Any = REQUIRED,
    help: str | Callable[[], str] = "",
    *flags: str,
    read: Callable[[str], Any] | None = None,
    shown: Any = REQUIRED,
    choices: Callable[[], Iterable[str]] | None = None,
) -> Any:
    """A field that is an option. `read` converts the text from the command line; the shell completes `choices`."""
    return _field(Declaration(default=default, help=help, flags=flags, read=read, shown=shown, choices=choices))


def argument(
    default: Any = REQUIRED,
    help: str = "",
    metavar: str | None = None,
    choices: Callable[[], Iterable[str]] | None = None,
) -> Any:
    """A field that is an argument: on the command line it has no name."""
    return _field(Declaration(default=default, help=help, is_argument=True, metavar=metavar, choices=choices))


@dataclass(frozen=True, slots=True)
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


def declarations(kind: type) -> tuple[Declaration, ...]:
    """Everything that a class declares, including its groups, in the order of its fields."""
    return _DECLARED.get(kind) or _DECLARED.setdefault(kind, tuple(_declarations(kind)))


_DECLARED: dict[type, tuple[Declaration, ...]] = {}


def _declarations(kind: type) -> Iterator[Declaration]:
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        said = field.metadata.get(_KEY)
        if isinstance(said, _Group):
            yield from said.declarations()
        elif said is not None:
            yield dataclasses.replace(said, name=field.name, type=hints[field.name])


def gather(kind: type[T], given: Mapping[str, Any]) -> T:
    """An object of the class from values by name, including those of groups; all unknown names are refused together."""
    known = {one.name for one in declarations(kind)}
    unknown = [name for name in given if name not in known]
    if unknown:
        offered = ", ".join(sorted(known))
        raise SettingsError(
            *(f"unknown option {name!r}; the options are {offered}{did_you_mean(name, known)}" for name in unknown)
        )
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
