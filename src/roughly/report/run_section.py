"""About the run itself: the candidate probability, time and memory per stage, settings, inputs, guesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from roughly.fast_dataclass import dataclass
from roughly.report.collection_section import BarRow
from roughly.report.plots import Plot, plot_s_curve, point
from roughly.report.run_request import Number, RequestedQuality, number, section
from roughly.report.visible import excerpt, label
from roughly.report.wording import counted, duration, plain, score, size

INPUTS = 12


@dataclass(frozen=True, slots=True)
class Curve:
    """The S-curve and the sentence under it."""

    plot: Plot
    made_of: str
    met: str
    falls_short: bool
    found: str = ""  # the chance that a pair at the threshold is found, by length, where that matters


def curve(run: Mapping[str, Any], quality: RequestedQuality) -> Curve | None:
    """The S-curve, if the method has one.

    The probability at the threshold is the `recall` of the curve, which the method derived; between two
    points of the curve it could only be estimated.
    """
    values = section(run, "s_curve")
    points = _points(values.get("points"))
    if len(points) < 2:
        return None
    met = number(values, "recall")
    if met is None and quality.threshold is not None:
        met = point(points, quality.threshold)[1]
    bands, rows, probes = (number(values, key) for key in ("bands", "rows", "probes"))
    made_of = ""
    if bands is not None and rows is not None:
        made_of = f"{counted(bands, 'band')} of {counted(rows, 'row')}"
    elif probes is not None:
        made_of = f"{counted(probes, 'probe')} per document"
    else:
        made_of = label(_keys_of(values))
    return Curve(
        plot_s_curve(points, quality, met),
        made_of,
        score(met) if met is not None else "",
        met is not None and quality.recall is not None and met < quality.recall - 1e-9,
        _found(values),
    )


def _found(values: Mapping[str, Any]) -> str:
    """The chance that a pair at the threshold is found, by lengths of documents, if these matter."""
    found, lengths = values.get("found"), values.get("lengths")
    if not isinstance(found, list) or not isinstance(lengths, list) or len(found) != len(lengths):
        return ""
    rows = [(number({"n": p}, "n"), number({"n": n}, "n")) for p, n in zip(found, lengths, strict=True)]
    known = [(chance, words) for chance, words in rows if chance is not None and words is not None]
    return ", ".join(f"{score(chance)} for {counted(words, 'word')}" for chance, words in known)


_MEASURED = ("points", "recall", "threshold", "lengths", "found", "found_at_median")


def _keys_of(values: Mapping[str, Any]) -> str:
    """What the keys are made of, in the method's own words."""
    named = {key: value for key, value in values.items() if key not in _MEASURED}
    return ", ".join(f"{name} {_written(value)}" for name, value in named.items() if value not in ("", [], None))


def _points(value: Any) -> list[tuple[float, float]]:
    """The points that are two numbers from 0 to 1, in ascending order."""
    found = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, list | tuple) and len(item) == 2:
            ends = [number({"n": part}, "n") for part in item]
            if all(end is not None and 0 <= end <= 1 for end in ends):
                found.append((float(item[0]), float(item[1])))
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Stages:
    """Time, bytes and memory per stage, without empty columns."""

    columns: tuple[str, ...]
    rows: tuple[BarRow, ...]
    total: tuple[str, ...]
    given: str  # what the run was given, in a sentence


_COLUMNS = (("time", "seconds", duration), ("bytes", "bytes", size), ("peak memory", "peak_memory", size))


def stages(run: Mapping[str, Any]) -> Stages | None:
    """The stages in the order of the run."""
    given = run.get("stages")
    found = [stage for stage in given if isinstance(stage, Mapping)] if isinstance(given, list | tuple) else []
    if not found:
        return None
    times = [number(stage, "seconds") or 0.0 for stage in found]
    longest = max(times) or 1.0
    columns = [column for column in _COLUMNS if any(number(stage, column[1]) is not None for stage in found)]
    rows = []
    for stage, seconds in zip(found, times, strict=True):
        cells = tuple(_cell(number(stage, key), write) for _, key, write in columns)
        rows.append(BarRow(label(str(stage.get("name", "?"))), cells, seconds / longest))
    # Stages may overlap, and a stage reads the bytes of the one before: only the run knows its totals.
    total = tuple("" if key == "bytes" else _cell(number(run, key), write) for _, key, write in columns)
    return Stages(tuple(name for name, _, _ in columns), tuple(rows), total, _given(run))


def _given(run: Mapping[str, Any]) -> str:
    resources = section(run, "resources")
    threads, memory = number(resources, "threads"), number(resources, "memory")
    parts = [counted(threads, "thread")] if threads is not None else []
    if memory is not None:
        parts.append(f"{size(memory)} of memory")
    return f"The run was given {' and '.join(parts)}." if parts else ""


def _cell(value: Number | None, write: Callable[[Number], str]) -> str:
    return "–" if value is None else write(value)


def settings(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings as names and values; nested ones have dotted names."""
    return [(label(name), label(value, 400)) for name, value in _flat(section(run, "settings"), "")]


def inputs(run: Mapping[str, Any]) -> tuple[list[str], int]:
    """The first inputs, and how many more there are."""
    named = [label(_written(item), 160) for item in _list(run, "inputs")]
    return named[:INPUTS], max(0, len(named) - INPUTS)


def guesses(run: Mapping[str, Any]) -> list[str]:
    """What the user did not specify and the run guessed, one sentence each."""
    return [excerpt(_written(item), 400) for item in _list(run, "guesses")]


def dates(run: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Sentences about dates that were not read or are suspicious, each with examples."""
    values = section(run, "dates")
    sentences = {
        "unread": "could not be read, and counted as missing",
        "suspicious": "are before the year 1000 or after next year",
    }
    return [
        (
            f"{counted(many, 'date')} {sentence}",
            [_example(one) for one in _list(values, f"{name}_examples")],
        )
        for name, sentence in sentences.items()
        if (many := number(values, name))
    ]


def _example(values: Any) -> str:
    found = values if isinstance(values, Mapping) else {}
    return label(f"{found.get('date')!r} ({found.get('file')}, {found.get('record')})", 160)


def _list(run: Mapping[str, Any], key: str) -> list[Any]:
    value = run.get(key)
    return list(value) if isinstance(value, list | tuple) else []


def _flat(values: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            found += _flat(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", _written(value)))
    return found


def _written(value: Any) -> str:
    """A value of run.json as people write it."""
    if value is None or value == [] or value == {}:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else plain(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_written(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_written(item) for item in value)
    return str(value)
