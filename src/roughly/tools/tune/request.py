"""What `roughly tune` is asked for: as callers say it, all of it optional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roughly.declarations import group, option
from roughly.settings import ReadOptions, Resources
from roughly.tools.evaluate.request import split_names


@dataclass(frozen=True, kw_only=True)
class TuneQuestion:
    """What is sought, among what, on which documents. None: as `TuneRequest` has it."""

    labels: Path | None = option(None, "What is the same: CSV or Parquet of sets or pairs.")
    unlisted: str | None = option(None, "What labels do not list: different or ignore.")
    label_columns: Sequence[str] = option(
        (), "The two columns that matter, as in id_a,id_b or id,cluster.", read=split_names, shown=None
    )
    same_column: str | None = option(None, "Column of pairs that says same or different.")
    ignore_unknown: bool = option(False, "Leave out labels of documents that the input does not have.")
    precision: float | None = option(None, "Least precision; with it the highest recall is sought.")
    recall: float | None = option(None, "Least recall; with both, the fewest bytes are sought.")
    slack: float | None = option(None, "Take the fewest bytes within so much of the best; 0 if not given.")
    methods: Sequence[str] = option((), "Methods to try, with commas; all if not given.", read=split_names, shown=None)
    values: Mapping[str, Sequence[Any]] | None = option(None, "Other values of settings instead of those tried.")
    sample: int | None = option(None, "Documents to draw; 20000 if not given.")
    held_back: float | None = option(None, "Share of the labels not chosen on; 0.5 if not given.")
    budget: float | None = option(None, "Seconds after which no trial begins; 600 if not given.")
    seed: int | None = option(None, "Seed of all that is drawn; 0 if not given.")
    threshold: float | None = option(None, "Resemblance of duplicates without labels; 0.8, sampling 0.85.")
    shingle_size: int | None = option(None, "Words per shingle; 5, sampling 10.")
    main_text: bool = option(False, "Take only the main text of HTML: no navigation, header or footer.")
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources)
