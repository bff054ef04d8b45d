"""What each method takes: its own options, and which of the settings that all share. Nothing heavy is imported here.

The settings check options against this table, the command line makes its options of it, and the tables of the docs are
held to it. How a method is made of them is in `methods.registry`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roughly.errors import SettingsError

COLLECTION = "collection"
"""As a lexicon: the documents of the run itself, counted before they are signed."""
DEFAULT = "default"
"""As a lexicon: the English one that comes with roughly."""
NONE = "none"
"""As a window of dates or lengths: there is none."""
FILES = ("lexicon", "key_file")
"""Options that name a file: what it holds decides the answer, and its name does not."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of methods."""

    name: str
    kind: str  # whole, number, text, flag, groups, lexicon or file; with a ? where it may be `none`
    help: str

    def read(self, value: Any) -> Any:
        """The value in the one form that is kept; raises ValueError with what it should be."""
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
        """The value that stands for it on the command line; raises ValueError."""
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


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """What one method takes."""

    settings: tuple[str, ...] = ()  # fields of Settings that it goes by
    options: tuple[tuple[str, Any], ...] = ()  # its own, with what holds where they are not given
    has_curve: bool = False  # whether the chance to become a candidate follows from the similarity alone

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its own options."""
        return tuple(name for name, _ in self.options)

    def default(self, name: str) -> Any:
        """What holds where the option is not given."""
        return dict(self.options)[name]


OPTIONS = {
    option.name: option
    for option in (
        Option("sketch", "text", "which shingles are kept: all, mod:25, min:400 or adaptive"),
        Option("groups", "groups", "with the sketch adaptive: most tokens and ratio, as in 400:0.25,800:0.125"),
        Option("common", "whole", "a shingle that more documents have forms no pairs"),
        Option("super_size", "whole", "shingles in a super shingle"),
        Option("meta", "text", "which super shingles are kept, written as a sketch"),
        Option("short", "text", "documents too short for a super shingle: sample or keep"),
        Option("mega_groups", "whole", "groups of min-wise samples"),
        Option("mega_samples", "whole", "samples in a group"),
        Option("lsh_words", "whole", "words in a signature"),
        Option("lsh_signatures", "whole", "signatures of a document"),
        Option("judge", "text", "keys: one in common is enough; sketch: the threshold must be reached as well"),
        Option("filter", "text", "of sw, tg5, tl25, nosc, stem; for imatch also one like IDF-L-10"),
        Option("lexicon", "lexicon", f"a lexicon's file, `{DEFAULT}`, or `{COLLECTION}` to count the input first"),
        Option("norm", "text", "scale of idf: conrad or imatch"),
        Option("lexicons", "whole", "randomised lexicons beside it"),
        Option("dropped", "number", "share of terms that each of them drops"),
        Option("min_terms", "whole", "fewest terms that make a signature"),
        Option("min_share", "number", "least share of a document's terms in its signature"),
        Option("secondary", "flag", "rarer terms where there are too few"),
        Option("unsigned", "text", "documents without a signature: keep or all-terms"),
        Option("key_file", "file", "file of a secret key"),
        Option("terms", "whole", "terms in a signature"),
        Option("most_idf", "number", "terms of a higher idf are left out"),
        Option("bin", "whole", "places are rounded up to multiples of it"),
        Option("shared", "whole", "terms that duplicates share"),
        Option("dates", "whole?", "days that duplicates may be apart, or none"),
        Option("lengths", "number?", "share that lengths of duplicates may differ by, or none"),
        Option("min_df", "whole", "only terms in so many documents of the lexicon"),
    )
}
"""Every option by name, in the order of the help."""

_SAMPLED = (("sketch", "mod:25"), ("groups", ()))
_LEXICON = (("filter", ""), ("lexicon", DEFAULT))

METHODS = {
    "identical": MethodSpec(),
    "lexical": MethodSpec(),
    "minhash": MethodSpec(("threshold", "recall", "measure", "shingle_size", "bands", "rows", "seed"), (), True),
    "shingles": MethodSpec(("threshold", "measure", "shingle_size"), (*_SAMPLED, ("common", 1000)), True),
    "super-shingles": MethodSpec(
        ("threshold", "shingle_size"),
        (*_SAMPLED, ("super_size", 4), ("meta", "all"), ("short", "sample"), ("judge", "keys")),
        True,
    ),
    "mega-shingles": MethodSpec(
        ("threshold", "shingle_size", "seed"), (("mega_groups", 6), ("mega_samples", 14), ("judge", "keys")), True
    ),
    "word-lsh": MethodSpec(
        ("threshold", "seed"), (("lsh_words", 3), ("lsh_signatures", 125), ("filter", ""), ("judge", "sketch")), True
    ),
    "syntactic": MethodSpec((), (("filter", ""),)),
    "imatch": MethodSpec(
        (),
        (
            ("filter", "IDF-L-10"), ("lexicon", DEFAULT), ("norm", "conrad"), ("lexicons", 0), ("dropped", 1 / 3),
            ("min_terms", 1), ("min_share", 0.0), ("secondary", False), ("unsigned", "keep"), ("key_file", None),
        ),
    ),
    "rare-terms": MethodSpec(
        (),
        (
            *_LEXICON, ("norm", "conrad"), ("terms", 6), ("most_idf", 0.8), ("bin", 1), ("lengths", 0.05),
            ("min_df", 5),
        ),
    ),
    "term-vector": MethodSpec(
        (),
        (
            *_LEXICON, ("terms", 60), ("shared", 48), ("dates", 42), ("lengths", 0.2), ("min_terms", 20),
            ("min_df", 5),
        ),
    ),
}  # fmt: skip
"""Every method by name."""


class Options(Mapping[str, Any]):
    """Options by name, frozen: equal and hashed by what they say. Those that are None are as if not given."""

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
    return [name for name, takes in METHODS.items() if option in takes.names]


def checked(method: str, given: Mapping[str, Any]) -> Options:
    """The options of a method in the form that is kept; all that is wrong with them is told at once."""
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
    told = f"groups must be [most tokens, ratio], … or text like 400:0.25,800:0.125, not {value!r}"
    try:
        pairs = [pair.split(":") for pair in value.split(",") if pair.strip()] if isinstance(value, str) else value
        found = [(float(tokens), float(ratio)) for tokens, ratio in pairs]
    except (TypeError, ValueError):
        raise ValueError(told) from None
    if any(tokens != int(tokens) for tokens, _ in found):
        raise ValueError(told)
    return tuple((int(tokens), ratio) for tokens, ratio in found)
