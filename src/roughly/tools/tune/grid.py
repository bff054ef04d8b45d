"""The settings that are tried: for each method the values that it declares (`tuned`, see `roughly.options`).

Each method declares the values that its paper varies, or that users need. Their product is tried, in this order; the
presets of the papers come last. `--try threshold=0.7,0.8` replaces a method's own values. With exact truth the
threshold is known, so only thresholds near it are tried (`NEAR`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from roughly import checks
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.methods import check
from roughly.methods.presets import PRESETS
from roughly.options import METHODS, OPTIONS
from roughly.settings import Settings

NEAR = 0.1
"""Distances from a known threshold at which others are tried."""
PRESET = "preset:"

_SHARED = (
    "threshold",
    "recall",
    "measure",
    "shingle_size",
    "shingle_unit",
    "bands",
    "rows",
    "seed",
    "cluster",
    "verify",
    "tokens",
)


@dataclass(frozen=True)
class Trial:
    """One trial: a name for people, and settings as in a settings file."""

    name: str
    values: Mapping[str, Any]

    @property
    def settings(self) -> Settings:
        """The same, checked."""
        return Settings.gather({name: value for name, value in self.values.items() if name != "text_column"})

    @property
    def is_titled(self) -> bool:
        """Whether titles are compared too."""
        return "text_column" in self.values

    @property
    def threshold(self) -> float:
        """The threshold; that of a method without one is 1."""
        return float(self.values.get("threshold", 1.0))

    @property
    def family(self) -> tuple[tuple[str, str], ...]:
        """The settings except for the threshold."""
        return tuple(sorted((name, str(value)) for name, value in self.values.items() if name != "threshold"))

    @property
    def shape(self) -> tuple[str, int] | None:
        """Unit (with `tokens=dom`, dom) and size of the shingles, of trials with `minhash`."""
        if self.values["method"] != "minhash" or self.preset is not None:
            return None
        unit = "dom" if self.values.get("tokens") == "dom" else self.values.get("shingle_unit", "word")
        return str(unit), int(self.values["shingle_size"])

    @property
    def choices(self) -> int:
        """How far from the defaults: 0 if only the threshold may differ, more for each further choice."""
        if self.shape is None:
            return 4
        unit, size = self.shape
        others = sum(name in self.values for name in ("measure", "cluster", "text_column"))
        return (size != 5) + 2 * (unit != "word") + others

    @property
    def preset(self) -> str | None:
        """The preset that it is, if it is one."""
        return self.name.removeprefix(PRESET) if self.name.startswith(PRESET) else None


def trials(
    methods: Sequence[str] = (),
    others: Mapping[str, Sequence[Any]] | None = None,
    *,
    threshold: float | None = None,
    shingle_size: int | None = None,
    presets: bool = True,
) -> list[Trial]:
    """The trials of these methods, or of all; `values` replace declared ones.

    `threshold` and `shingle_size` are those of an exact truth: thresholds near it are tried, and its size of shingles.
    """
    others = dict(others or {})
    wanted = list(methods) or list(METHODS)
    _check(wanted, others)
    found: list[Trial] = []
    for method in METHODS:
        if method in wanted:
            found += _of(method, _axes(method, others, threshold, shingle_size))
    if presets and not others:
        papers = (p for p in PRESETS.values() if "verdict" not in p.settings)  # `--learn` fits a verdict itself
        found += [Trial(PRESET + p.name, p.settings) for p in papers if p.settings["method"] in wanted]
    return found


def named_trial(values: Mapping[str, Any]) -> Trial:
    """A trial, named by its settings."""
    given = {name: value for name, value in values.items() if name != "method"}
    described = " ".join(f"{name}={value if value != '' else 'none'}" for name, value in given.items())
    return Trial(f"{values['method']} {described}".strip(), values)


def parse_others(given: Sequence[str]) -> dict[str, list[Any]]:
    """Values from the command line: `threshold=0.7,0.8`. For values with a comma, repeat the option: all count."""
    found: dict[str, list[Any]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name.strip():
            raise SettingsError(f"--try takes a setting and its values, as in threshold=0.7,0.8, not {text!r}")
        name = name.strip().replace("-", "_")
        split = [values] if name == "filter" else values.split(",")
        found.setdefault(name, []).extend(_value(name, value.strip()) for value in split)
    return found


def _value(name: str, text: str) -> Any:
    if name in OPTIONS and OPTIONS[name].kind.rstrip("?") not in ("whole", "number", "flag"):
        return text
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue  # the next kind of number; otherwise text
    return text


def _check(methods: Sequence[str], others: Mapping[str, Sequence[Any]]) -> None:
    problems = [line for method in methods for line in checks.one_of("method", method, tuple(METHODS))]
    for name in others:
        if name not in OPTIONS and name not in _SHARED:
            problems.append(f"there is no setting {name!r} to try; settings are {', '.join([*_SHARED, *OPTIONS])}")
        elif not any(_takes(method, name) for method in methods if method in METHODS):
            problems.append(f"none of the methods {', '.join(methods)} takes {name}; name others with --methods")
    checks.refuse(problems)


def _takes(method: str, name: str) -> bool:
    spec = METHODS[method]
    return (
        name in spec.names or name in spec.settings or (name in ("cluster", "verify", "tokens") and not spec.equality)
    )


def _axes(
    method: str, others: Mapping[str, Sequence[Any]], threshold: float | None, shingle_size: int | None
) -> dict[str, Sequence[Any]]:
    axes: dict[str, Sequence[Any]] = dict(METHODS[method].tuned)
    if threshold is not None and "threshold" in axes:
        near = [t for t in axes["threshold"] if abs(t - threshold) <= NEAR + 1e-9]
        axes["threshold"] = sorted({*near, threshold})
    if shingle_size is not None and method == "minhash":
        axes["shingle_size"] = (shingle_size,)
    return axes | {name: values for name, values in others.items() if _takes(method, name)}


def _of(method: str, axes: Mapping[str, Sequence[Any]]) -> Iterator[Trial]:
    for values in product(*axes.values()):
        given = dict(zip(axes, values, strict=True))
        trial = named_trial({"method": method, **given})
        check(trial.settings)  # refuses an impossible method before anything is read
        yield trial
