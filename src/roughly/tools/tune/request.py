"""The request of `roughly tune` as callers give it, all of it optional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from roughly.declarations import group, option
from roughly.errors import SettingsError
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources
from roughly.tools.evaluate.request import split_names

_WITH_LABELS = (
    "precision", "recall", "slack", "methods", "values", "held_back", "budget", "threshold", "shingle_size",
)  # fmt: skip
FIELD_COLUMNS = ("title_column", "url_column", "source_column", "date_column")
"""The columns that a learned verdict may compare in addition to texts."""
FIELD_OPTIONS = (*FIELD_COLUMNS, "date_format")
NEEDS_SCIPY = "--learn needs scipy; install it with pip install 'roughly[tune]'"


def has_scipy() -> bool:
    """Whether a verdict can be learnt from labels."""
    return find_spec("scipy") is not None


@dataclass(frozen=True, kw_only=True)
class TuneQuestion:
    """The goal, the trials and the documents. None: the default of `TuneRequest`."""

    labels: Path | None = option(None, "Labels: CSV or Parquet of sets or pairs.")
    label_column: str | None = option(None, "Column of the documents that names their sets, instead of --labels.")
    complete: bool = option(False, "The labels are complete: what they do not list is different.")
    unlisted: str | None = option(None, "Pairs that labels do not list: unknown, different or ignore.")
    label_columns: Sequence[str] = option(
        (), "The two columns to use, as in id_a,id_b or id,cluster.", read=split_names, shown=None
    )
    same_column: str | None = option(None, "Column of pairs that says same or different.")
    ignore_unknown: bool = option(False, "Leave out labels of documents that the input does not have.")
    learn: bool = option(
        False, "Learn a verdict over several comparisons: with labels (needs scipy: roughly[tune]) or without."
    )
    precision: float | None = option(None, "Lowest precision; the highest recall is chosen.")
    recall: float | None = option(None, "Lowest recall; with both, the fewest bytes are chosen.")
    slack: float | None = option(None, "Choose the fewest bytes within this distance of the best; 0 if not given.")
    methods: Sequence[str] = option(
        (), "Methods to try, separated by commas; all if not given.", read=split_names, shown=None
    )
    values: Mapping[str, Sequence[Any]] | None = option(None, "Values of settings to try instead of the declared ones.")
    sample: int | None = option(None, "Number of documents to draw; 20000 if not given.")
    held_back: float | None = option(None, "Fraction of the labels held back at a time; 0.2 if not given.")
    budget: float | None = option(None, "Seconds after which no trial begins; 600 if not given.")
    seed: int | None = option(None, "Random seed; 0 if not given.")
    threshold: float | None = option(None, "Resemblance of duplicates without labels; 0.8, sampling 0.85.")
    shingle_size: int | None = option(None, "Words per shingle; 5, sampling 10.")
    main_text: bool = option(False, "Use only the main text of HTML: no navigation, header or footer.")
    date_format: str | None = option(None, "How dates are written, such as %d/%m/%Y (strptime).")
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources, "memory", "threads", "temp")

    def __post_init__(self) -> None:
        if self.learn and self.labelled and not has_scipy():
            raise SettingsError(NEEDS_SCIPY)
        if self.label_column is not None and self.reading.url_column is not None:
            raise SettingsError(
                "with --label-column, no column of addresses is read; leave --url-column out, or give labels with "
                "--labels"
            )
        if self.learn and not self.labelled:
            given = [name for name in _WITH_LABELS if getattr(self, name)]
            problems = [
                f"{'--try' if name == 'values' else '--' + name.replace('_', '-')} has no meaning with --learn without "
                "labels: nothing can be scored; add --labels, or leave it out"
                for name in given
            ]
            problems += [
                f"--{name.replace('_', '-')} has no meaning with --learn without labels: an estimated verdict compares "
                "texts only; add --labels, or leave it out"
                for name in self.given_fields
            ]
            if problems:
                raise SettingsError(*problems)

    @property
    def given_fields(self) -> list[str]:
        """Those of FIELD_OPTIONS that are given."""
        values = {name: getattr(self.reading, name) for name in FIELD_COLUMNS} | {"date_format": self.date_format}
        return [name for name, value in values.items() if value]

    @property
    def labelled(self) -> bool:
        """Whether there are labels."""
        return self.labels is not None or self.label_column is not None
