"""The table of methods: the options of each, and how it is made. Nothing heavy is imported here.

A method declares itself in its own file of `roughly.methods` with `register(MethodSpec(…))`; the files are found when
the table is first read, so a new one needs no other line. The settings check options against the table, the command
line makes its options from it, `roughly tune` tries the values in it, and tests compare the docs with it. Since
`--help` reads the table too, files of methods import numpy and pyarrow inside functions only.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Generic, Self, TypeVar

from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass

T = TypeVar("T")

COLLECTION = "collection"
"""As a lexicon: the documents of the run itself, counted before they are signed."""
DEFAULT = "default"
"""As a lexicon: the English one that comes with roughly."""
NONE = "none"
"""As a window of dates or lengths: no window."""
FILES = ("lexicon", "key_file")
"""Options that name a file: its content decides the answer, and its name does not."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a method."""

    name: str
    kind: str  # whole, number, text, flag, groups, lexicon or file; with a ? if it may be `none`
    help: str
    default: Any = None  # the default

    def by_default(self, default: Any) -> Self:
        """The same option with another default, for another method."""
        return replace(self, default=default)

    def read(self, value: Any) -> Any:
        """The value in its normal form; raises ValueError with what it should be."""
        if self.kind.endswith("?") and value == NONE:
            return NONE
        kind = self.kind.rstrip("?")
        fine = {
            "whole": isinstance(value, int) and not isinstance(value, bool),
            "number": isinstance(value, int | float) and not isinstance(value, bool),
            "text": isinstance(value, str),
            "flag": isinstance(value, bool),
            "groups": True,
            "file": isinstance(value, str) or hasattr(value, "__fspath__"),
            "lexicon": isinstance(value, str) or hasattr(value, "__fspath__") or hasattr(value, "fingerprint"),
        }[kind]
        if not fine:
            raise ValueError(f"{self.name} must be {_KINDS[kind]}{_OR_NONE * self.kind.endswith('?')}, not {value!r}")
        if kind == "number":
            return float(value)
        if kind == "groups":
            return _groups(value)
        return str(value) if hasattr(value, "__fspath__") else value

    def parse(self, text: str) -> Any:
        """The value of a text on the command line; raises ValueError."""
        if self.kind.endswith("?") and text == NONE:
            return NONE
        number = {"whole": int, "number": float}[self.kind.rstrip("?")]
        try:
            return number(text)
        except ValueError:
            raise ValueError(f"{self.name} must be {_KINDS[self.kind.rstrip('?')]}{_OR_NONE}, not {text!r}") from None


_KINDS = {
    "whole": "a whole number", "number": "a number", "text": "text", "flag": "true or false",
    "file": "a file's name", "lexicon": f"a lexicon's file, `{DEFAULT}` or `{COLLECTION}`",
}  # fmt: skip
_OR_NONE = f" or `{NONE}`"


SKETCH = Option("sketch", "text", "which shingles are kept: all, mod:25, min:400 or adaptive", "mod:25")
GROUPS = Option(
    "groups", "groups", "for the sketch adaptive: most tokens and ratio of each group, as in 400:0.25,800:0.125", ()
)
JUDGE = Option(
    "judge", "text", "what makes a pair: keys (one in common is enough) or sketch (the threshold too)", "keys"
)
FILTER = Option(
    "filter", "text", "terms left out: sw (stop words), tg5 (below 5 letters), tl25 (above 25), nosc (special "
    "characters); stem joins forms of a word; for imatch also a range of idf, such as IDF-L-10; separate several with "
    "commas", "",
)  # fmt: skip
LEXICON = Option(
    "lexicon",
    "lexicon",
    f"where the frequencies of terms are from: a file, `{DEFAULT}`, or `{COLLECTION}` to count the input first",
    DEFAULT,
)
NORM = Option("norm", "text", "how idf is scaled: conrad or imatch", "conrad")
TERMS = Option("terms", "whole", "number of terms in a signature")
MIN_TERMS = Option("min_terms", "whole", "documents with fewer terms have no signature", 1)
MIN_DF = Option("min_df", "whole", "terms in fewer documents of the lexicon are left out", 5)
LENGTHS = Option("lengths", "number?", "fraction by which lengths of duplicates may differ, or none")
"""Options that several methods take."""


@dataclass(frozen=True)
class MethodSpec:
    """One method: its class, its options, and how it is made from settings."""

    method_class: type[Any]
    settings: tuple[str, ...] = ()  # fields of Settings that it uses
    options: tuple[Option, ...] = ()  # its own
    has_curve: bool = False  # whether the probability of becoming a candidate depends on the similarity alone
    maker: Callable[[Any, Any], Any] | None = None  # (Settings, lexicon of the collection if counted) → the method
    tuned: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # the values that `roughly tune` tries
    place: int = 1000  # in lists of methods, the lowest first

    @property
    def name(self) -> str:
        """As people call it."""
        return str(self.method_class.name)

    @property
    def equality(self) -> bool:
        """Whether it finds only equal documents."""
        return bool(self.method_class.equality)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its own options."""
        return tuple(option.name for option in self.options)

    def default(self, name: str) -> Any:
        """The default of an option."""
        return next(option.default for option in self.options if option.name == name)

    def make(self, settings: Any, collection: Any = None) -> Any:
        """The method of these settings; without a maker its class takes settings and options by their names."""
        if self.maker is not None:
            return self.maker(settings, collection)
        return self.method_class(**{name: getattr(settings, name) for name in self.settings}, **settings.options)


class DeclaredTable(Mapping[str, T], Generic[T]):
    """Rows by name, declared by the files of `roughly.methods`, which are imported when the table is first read."""

    found = False

    def __init__(self) -> None:
        self.rows: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        _find_methods()
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        _find_methods()
        return iter(self.rows)

    def __len__(self) -> int:
        _find_methods()
        return len(self.rows)


METHODS: DeclaredTable[MethodSpec] = DeclaredTable()
"""Every method by name."""
OPTIONS: DeclaredTable[Option] = DeclaredTable()
"""Every option of a method by name, in the order of the help."""
_filling = threading.Lock()


def register(spec: MethodSpec) -> None:
    """Add a method to the table."""
    with _filling:
        if spec.name in METHODS.rows:
            raise SettingsError(f"there are two methods {spec.name!r}: {METHODS.rows[spec.name].method_class} is one")
        for option in spec.options:
            other = OPTIONS.rows.get(option.name, option)
            if (other.kind, other.help) != (option.kind, option.help):
                raise SettingsError(f"{spec.name} describes the option {option.name!r} differently from another method")
        _fill([*METHODS.rows.values(), spec])


def unregister(name: str) -> None:
    """Remove a method from the table."""
    with _filling:
        _fill([spec for spec in METHODS.rows.values() if spec.name != name])


def _fill(specs: list[MethodSpec]) -> None:
    ordered = sorted(specs, key=lambda spec: (spec.place, spec.name))
    METHODS.rows = {spec.name: spec for spec in ordered}
    OPTIONS.rows = {}
    for option in (option for spec in ordered for option in spec.options):
        OPTIONS.rows.setdefault(option.name, option)


def _find_methods() -> None:
    """Import every method of `roughly.methods`, by the name of its file, since this module must not name any."""
    if not DeclaredTable.found:
        package = importlib.import_module("roughly.methods")
        for module in pkgutil.iter_modules(package.__path__):
            if module.name not in package.HELPERS:
                importlib.import_module(f"{package.__name__}.{module.name}")
        DeclaredTable.found = True


class Options(Mapping[str, Any]):
    """Options by name, frozen: compared and hashed by value. An option that is None counts as not given."""

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        self._values = {name: value for name, value in dict(values).items() if value is not None}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)


def users_of(option: str) -> list[str]:
    """The methods that have an option."""
    return [name for name, spec in METHODS.items() if option in spec.names]


def checked(method: str, given: Mapping[str, Any]) -> Options:
    """The options of a method in normal form; all problems are reported together."""
    own, problems, kept = METHODS[method].names, [], {}
    has = f"it has {', '.join(own)}" if own else "it has none"
    for name, value in Options(given).items():
        if name not in own:
            problems.append(f"the method {method} has no option {name!r}; {has}")
            continue
        try:
            kept[name] = OPTIONS[name].read(value)
        except ValueError as problem:
            problems.append(str(problem))
    if problems:
        raise SettingsError(*problems)
    return Options((name, kept[name]) for name in own if name in kept)


def _groups(value: Any) -> tuple[tuple[int, float], ...]:
    """Groups as lists, or as text like 400:0.25,800:0.125."""
    summary = f"groups must be [most tokens, ratio], … or text like 400:0.25,800:0.125, not {value!r}"
    try:
        pairs = [pair.split(":") for pair in value.split(",") if pair.strip()] if isinstance(value, str) else value
        found = [(float(tokens), float(ratio)) for tokens, ratio in pairs]
    except (TypeError, ValueError):
        raise ValueError(summary) from None
    if any(tokens != int(tokens) for tokens, _ in found):
        raise ValueError(summary)
    return tuple((int(tokens), ratio) for tokens, ratio in found)
