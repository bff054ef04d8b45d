"""The settings of a run, all checked together.

`Settings` is everything that decides the answer; its fingerprint is stored in every artefact, and an
artefact with another fingerprint is refused. `Resources` only affects how long a run takes: it is never part of the
fingerprint, because the answer must not depend on it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from roughly import machine
from roughly.date_forms import format_problem
from roughly.declarations import option
from roughly.errors import SettingsError, did_you_mean
from roughly.fast_dataclass import dataclass
from roughly.keep_rules import rule_names, rule_problem
from roughly.measures import FOR_THRESHOLD
from roughly.options import DEFAULT, FILES, METHODS, OPTIONS, Options, checked
from roughly.verdict import Verdict

ANSWER_VERSION = 3
"""Increased whenever the same settings may give another answer than before (see CHANGELOG)."""

MEASURES = FOR_THRESHOLD
UNITS = ("word", "character")
CLUSTERINGS = ("star", "components")
PAIRS = ("evidence", "all")
KEEP_RULES = rule_names()
MARKUP = ("auto", "html", "none")
TOKENS = ("words", "dom")
ON_DUPLICATE_ID = ("refuse", "number")
FILE_FORMATS = ("jsonl", "parquet", "csv", "tsv", "txt")
"""Formats of one file of what is kept."""

FEATURES = "Column with a list of strings or whole numbers per object: these are compared, not a text."
NO_TEXT = "features are compared instead of a text; leave text_column out"
FEATURE_SETTINGS: Mapping[str, Any] = {"threshold": 0.5, "shingle_size": 1}
FEATURE_METHOD: Mapping[str, Any] = {"method": "shingles", "sketch": "all"}
"""What is not given, where features are compared, is as in `roughly cluster --features`."""

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


NO_OPTIONS = Options()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that decides which documents are kept."""

    threshold: float = option(0.8, "Similarity from which two documents are duplicates.")
    recall: float = option(0.99, "Lowest fraction of such pairs to find.")
    measure: str = option("resemblance", f"{' or '.join(FOR_THRESHOLD)}.", choices=lambda: FOR_THRESHOLD)
    method: str = option("minhash", lambda: f"{', '.join(METHODS)}.", choices=lambda: METHODS)
    shingle_size: int = option(5, "Words, or characters, per shingle.")
    shingle_unit: str = option("word", f"What shingles are made of: {' or '.join(UNITS)}.", choices=lambda: UNITS)
    verdict: str | None = option(None, "Learned verdict, as `roughly tune --learn` writes it.")
    bands: int | None = option(None, "Number of bands; by default derived from threshold and recall.")
    rows: int | None = option(None, "Rows per band; used with --bands.")
    seed: int = option(0, "Seed of the min-hash permutations, and of the sample of shingles.")
    verify: bool = option(False, "Verify candidates exactly on their texts, whatever the method.")
    keep: tuple[str, ...] = option(
        ("longest",), f"Which document is kept: rules in order, {', '.join(rule_names())}.", read=str, shown="longest",
        choices=rule_names,
    )  # fmt: skip
    cluster: str = option("star", f"{' or '.join(CLUSTERINGS)}.", choices=lambda: CLUSTERINGS)
    pairs: str = option("evidence", f"Pairs to write: {' or '.join(PAIRS)}.", choices=lambda: PAIRS)
    pairs_limit: int = option(20_000_000, "Refuse --pairs all above this number of candidate pairs.")
    markup: str = option("auto", f"Strip HTML: {', '.join(MARKUP)}.", choices=lambda: MARKUP)
    main_text: bool = option(False, "Use only the main text of HTML: no navigation, header or footer.")
    tokens: str = option("words", "What of HTML is compared: words, or dom (tags, ids, names, classes).",
                         choices=lambda: TOKENS)  # fmt: skip
    on_duplicate_id: str = option(
        "refuse", f"When two documents have one id: {' or '.join(ON_DUPLICATE_ID)}.", choices=lambda: ON_DUPLICATE_ID
    )
    date_format: str | None = option(None, "How dates are written, such as %d/%m/%Y (strptime).")
    features: str | None = option(None, FEATURES)
    text_column: str | None = None  # what the text is made of, where `ReadOptions` does not say; `tune` chooses it
    options: Mapping[str, Any] = NO_OPTIONS  # the method's own; see `roughly.options`

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", _as_rules(self.keep))
        object.__setattr__(self, "options", _as_options(self.options))
        problems = list(self._problems())
        if problems:
            raise SettingsError(*problems)
        object.__setattr__(self, "threshold", float(self.threshold))  # 1 and 1.0 are one setting, one fingerprint
        object.__setattr__(self, "recall", float(self.recall))
        object.__setattr__(self, "options", checked(self.method, self.options))

    def _problems(self) -> Any:
        yield from _one_of("method", self.method, tuple(METHODS))
        if isinstance(self.method, str) and self.method in METHODS:
            yield from self._problems_with_method()
        if not isinstance(self.verify, bool):
            yield f"verify must be true or false, not {self.verify!r}"
        yield from _one_of("measure", self.measure, MEASURES)
        yield from _one_of("shingle_unit", self.shingle_unit, UNITS)
        yield from _one_of("cluster", self.cluster, CLUSTERINGS)
        yield from _one_of("pairs", self.pairs, PAIRS)
        yield from _one_of("markup", self.markup, MARKUP)
        yield from _one_of("tokens", self.tokens, TOKENS)
        if self.tokens == "dom":
            given = {
                "markup": self.markup == "none",
                "main_text": self.main_text,
                "features": self.features is not None,
            }
            for name in (name for name, is_given in given.items() if is_given):
                yield f"tokens dom are those of whole HTML pages; leave {name} out"
        yield from _one_of("on_duplicate_id", self.on_duplicate_id, ON_DUPLICATE_ID)
        if not _is_number(self.threshold) or not 0 < self.threshold <= 1:
            yield f"threshold must be above 0 and at most 1, not {self.threshold!r}{_as_share(self.threshold)}"
        if not _is_number(self.recall) or not 0 < self.recall < 1:
            yield f"recall must be between 0 and 1, both excluded, not {self.recall!r} (0.99 is usual)"
        if not _is_whole(self.shingle_size) or not 1 <= self.shingle_size <= 64:
            yield f"shingle_size must be a whole number from 1 to 64, not {self.shingle_size!r}"
        yield from self._problems_with_verdict()
        if (self.bands is None) != (self.rows is None):
            yield "bands and rows go together: give both, or neither to have them derived"
        elif self.bands is not None and (not _is_whole(self.bands) or not 1 <= self.bands <= 1024):
            yield f"bands must be a whole number from 1 to 1024, not {self.bands!r}"
        elif self.rows is not None and (not _is_whole(self.rows) or not 1 <= self.rows <= 64):
            yield f"rows must be a whole number from 1 to 64, not {self.rows!r}"
        if not _is_whole(self.seed) or not 0 <= self.seed < 2**63:
            yield f"seed must be a whole number from 0, not {self.seed!r}"
        if not _is_whole(self.pairs_limit) or self.pairs_limit < 1:
            yield f"pairs_limit must be a whole number from 1, not {self.pairs_limit!r}"
        yield from (problem for rule in self.keep if (problem := rule_problem(rule)) is not None)
        if self.features is not None and (not isinstance(self.features, str) or not self.features):
            yield f"features must be the name of a column, not {self.features!r}"
        if self.features is not None and self.shingle_unit != UNITS[0]:
            yield "features have no characters; leave shingle_unit out"
        if self.text_column is not None and (not isinstance(self.text_column, str) or not self.text_column):
            yield f"text_column must be the name of a column, not {self.text_column!r}"
        if self.features is not None and self.text_column is not None:
            yield NO_TEXT
        if self.date_format is not None and (problem := format_problem(self.date_format)) is not None:
            yield problem

    def _problems_with_method(self) -> Any:
        try:
            checked(self.method, self.options)
        except SettingsError as problem:
            yield from problem.problems
        has = METHODS[self.method].settings
        if METHODS[self.method].equality:
            return  # these have always accepted settings that do not affect them
        if self.measure in MEASURES[1:] and "measure" not in has and not self.verify:
            yield (
                f"the method {self.method} cannot measure {self.measure}; verify pairs (--verify), or change the method"
            )
        if self.verdict is not None and self.method != "minhash":
            yield f"a learned verdict belongs to the method minhash, not to {self.method}"
        if self.shingle_unit == "character" and "shingle_unit" not in has and not self.verify:
            users = ", ".join(name for name, spec in METHODS.items() if "shingle_unit" in spec.settings)
            yield f"shingles of characters belong to the methods {users}, not to {self.method}"
        if self.bands is not None and "bands" not in has:
            users = ", ".join(name for name, spec in METHODS.items() if "bands" in spec.settings)
            yield f"bands and rows belong to the method {users}, not to {self.method}"

    def _problems_with_verdict(self) -> Any:
        if self.verdict is None:
            return
        if self.shingle_unit != UNITS[0] or self.measure != MEASURES[0]:
            yield "a learned verdict needs shingles of words and the measure resemblance"
        try:
            Verdict.parse(self.verdict)
        except (SettingsError, AttributeError) as problem:
            yield from getattr(problem, "problems", [f"verdict must be text, not {self.verdict!r}"])

    def to_dict(self) -> dict[str, Any]:
        """As plain values; `from_dict` gives back an equal object, unless a lexicon was given as an object."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if self.date_format is None:
            del values["date_format"]  # so that settings and fingerprints are those from before it existed
        if self.shingle_unit == UNITS[0]:
            del values["shingle_unit"]  # for the same reason
        if self.tokens == TOKENS[0]:
            del values["tokens"]
        if self.features is None:
            del values["features"]
        if self.text_column is None:
            del values["text_column"]
        if self.verdict is None:
            del values["verdict"]
        return values | {"keep": list(self.keep), "options": {n: _plain(value) for n, value in self.options.items()}}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The settings in a dictionary; unknown names are refused, all at once."""
        known = {f.name for f in dataclasses.fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise SettingsError(
                *(f"unknown setting {name!r}{did_you_mean(name, known | {*OPTIONS})}" for name in unknown)
            )
        return cls(**values)

    @classmethod
    def gather(cls, *layers: Mapping[str, Any]) -> Self:
        """The settings of several dictionaries, of which a later one overrides an earlier; options of methods may be
        among the other settings, as in presets, settings files and keyword arguments."""
        values: dict[str, Any] = {}
        options: dict[str, Any] = {}
        if any(layer.get("features") is not None for layer in layers):
            by_method = any("method" in layer for layer in layers)
            layers = (FEATURE_SETTINGS if by_method else {**FEATURE_SETTINGS, **FEATURE_METHOD}, *layers)
        for layer in layers:
            values |= {name: value for name, value in layer.items() if name not in OPTIONS and name != "options"}
            options |= _as_options(layer.get("options", {}))
            options |= {name: value for name, value in layer.items() if name in OPTIONS}
        return cls.from_dict(values | ({"options": options} if options else {}))

    @property
    def compared_fields(self) -> frozenset[str]:
        """The columns of the input that the learned verdict compares beside the texts."""
        return frozenset() if self.verdict is None else Verdict.parse(self.verdict).fields

    @property
    def page_text(self) -> Literal["all", "main", "dom"]:
        """What of a page is compared."""
        return "dom" if self.tokens == "dom" else "main" if self.main_text else "all"

    def reading(self, options: ReadOptions | None = None) -> ReadOptions:
        """How documents are read under these settings, and otherwise as the options say."""
        options = options or ReadOptions()
        text_column = options.text_column or self.text_column
        return dataclasses.replace(options, markup=self.markup, features=self.features, text_column=text_column)

    def files(self) -> list[str]:
        """The options that name a file, or something else of which only the content decides the answer."""
        return [n for n in FILES if n in self.options and self.options[n] != DEFAULT]

    def fingerprint(self, contents: Mapping[str, str] | None = None) -> str:
        """Sixteen hex digits that change whenever the answer may.

        If options name a lexicon or a key, `contents` has the digests of these: `methods.contents(settings)`. Their
        names do not count.
        """
        held, files = dict(contents or {}), self.files()
        missing = [name for name in files if name not in held]
        if missing:
            raise SettingsError(
                f"the fingerprint depends on the content of {' and '.join(missing)}: "
                "settings.fingerprint(roughly.methods.contents(settings))"
            )
        values = self.to_dict()
        values["options"] |= {name: held[name] for name in files}
        text = json.dumps([ANSWER_VERSION, values], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def parse_size(text: str) -> int:
    """Bytes meant by "4GB", "512 MiB", "1.5g" or "100000"; powers of 1024."""
    match = _SIZE.fullmatch(text)
    if not match:
        raise SettingsError(f"not a size: {text!r}; write for instance 4GB, 512MB or 1.5g")
    return int(float(match[1]) * 1024 ** _POWERS[match[2].lower()])


LEAST_MEMORY = 640 << 20
"""Below this the interpreter, its libraries and a batch per thread do not fit."""


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use, at most what the machine's control group allows. None of it changes the answer."""

    memory: int = option(4 << 30, "Most memory for the whole process, such as 4GB.", read=parse_size, shown="4GB")
    threads: int = option(0, "Number of threads (0 = one per core).")
    temp: Path | None = option(None, "Folder for temporary files; by default beside the output.")
    temp_limit: int | None = option(
        None, "Most disk for temporary files, such as 100GB; by default what is free less 1 GB.",
        read=lambda text: parse_size(text),
    )  # fmt: skip

    def __post_init__(self) -> None:
        if isinstance(self.memory, str):
            object.__setattr__(self, "memory", parse_size(self.memory))
        if self.temp is not None:
            object.__setattr__(self, "temp", Path(self.temp))
        if isinstance(self.temp_limit, str):
            object.__setattr__(self, "temp_limit", parse_size(self.temp_limit))
        if self.temp_limit is not None and (not _is_whole(self.temp_limit) or self.temp_limit < 1):
            raise SettingsError(f"temp_limit must be a number of bytes from 1, not {self.temp_limit!r}")
        if not _is_whole(self.threads) or not 0 <= self.threads <= 1024:
            raise SettingsError(f"threads must be a whole number from 0, not {self.threads!r}")
        if not _is_whole(self.memory) or self.memory < 1:
            raise SettingsError(f"memory must be a number of bytes, not {self.memory!r}")
        if self.memory < 1 << 20:
            raise SettingsError(f"memory {self.memory} means {self.memory} bytes; did you mean {self.memory}GB?")
        if self.threads == 0:
            object.__setattr__(self, "threads", machine.cores())
        limit = machine.limits().memory
        if limit is not None and self.memory > max(limit, LEAST_MEMORY):  # more would end with the process killed
            object.__setattr__(self, "memory", max(limit, LEAST_MEMORY))


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOptions:
    """How to read. Every column that is not named is guessed, and the guess is reported."""

    text_column: str | None = option(None, "Column of the text; several: title,text.")
    id_column: str | None = option(None, "Column of the id.")
    title_column: str | None = option(None, "Column of the title.")
    url_column: str | None = option(None, "Column of the url.")
    date_column: str | None = option(None, "Column of the date.")
    source_column: str | None = option(None, "Column of the source.")
    features: str | None = option(None, FEATURES)
    format: str | None = option(None, "Format of the input; by default known from its name.")
    markup: str = option("auto", f"Strip HTML: {', '.join(MARKUP)}.", choices=lambda: MARKUP)
    batch_size: int | None = option(None, "Documents per batch; by default by bytes (about 4 MB of text).")
    largest_record: int | None = option(
        None, "Largest record, such as 64MB; larger ones are rejected. By default it follows from --memory.",
        read=lambda text: parse_size(text),
    )  # fmt: skip
    largest_ratio: int = option(250, "Stop reading a file that unpacks to more than 1 GB and this many times its size.")
    record_memory: int | None = None  # most bytes of a decoded record; what a run can hold with its memory
    spool_limit: int | None = None  # most bytes of input that is stored because it can be read only once

    def __post_init__(self) -> None:
        problems = list(_one_of("markup", self.markup, MARKUP))
        if self.batch_size is not None and (not _is_whole(self.batch_size) or self.batch_size < 1):
            problems.append(f"batch_size must be a whole number from 1, not {self.batch_size!r}")
        if isinstance(self.largest_record, str):
            object.__setattr__(self, "largest_record", parse_size(self.largest_record))
        if self.largest_record is not None and (not _is_whole(self.largest_record) or self.largest_record < 1):
            problems.append(f"largest_record must be a number of bytes, not {self.largest_record!r}")
        if not _is_whole(self.largest_ratio) or self.largest_ratio < 1:
            problems.append(f"largest_ratio must be a whole number from 1, not {self.largest_ratio!r}")
        if self.features is not None and self.text_column is not None:
            problems.append(NO_TEXT)
        if problems:
            raise SettingsError(*problems)


def _as_rules(keep: Any) -> tuple[str, ...]:
    rules = [keep] if isinstance(keep, str) or not isinstance(keep, list | tuple) else keep
    return tuple(rule.strip() for listed in rules for rule in str(listed).split(",") if rule.strip())


def _as_options(options: Any) -> Options:
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise SettingsError(f"options must be a mapping of names to values, not {options!r}")
    return options if isinstance(options, Options) else Options(options)


def _plain(value: Any) -> Any:
    """An option as a JSON value; a lexicon object as its fingerprint."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return str(value.fingerprint) if hasattr(value, "fingerprint") else value


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> Any:
    if not isinstance(value, str) or value not in allowed:
        yield f"{name} must be one of {', '.join(allowed)}, not {value!r}{did_you_mean(value, allowed)}"


def _as_share(value: Any) -> str:
    """The end of a message about a percentage where a fraction is meant."""
    return f"; for {value:g} % write {value / 100:g}" if _is_number(value) and 1 < value <= 100 else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
