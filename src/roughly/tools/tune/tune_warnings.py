"""What a user of `roughly tune` must know to trust what it chose."""

from __future__ import annotations

from roughly.amounts import counted
from roughly.tools.tune.draw import DrawnSample
from roughly.tools.tune.labelled_sample import SampleLabels
from roughly.tools.tune.reference import Reference
from roughly.tools.tune.sample_fields import unread_dates
from roughly.tools.tune.search import SIZES
from roughly.tools.tune.selection import FEW_SETS, Selection, too_few_to_choose
from roughly.tools.tune.tune_result import TuneResult


def warnings_of(
    chosen: TuneResult, labels: SampleLabels | None, sample: DrawnSample, unknown: int, truth: Reference
) -> list[str]:
    """About the labels, the documents, and trials left out."""
    warnings = [] if labels is None else list(labels.notes)
    if unknown:
        named = f"{counted(unknown, 'document')} of the labels"
        warnings.append(f"{named} {'is' if unknown == 1 else 'are'} not in the input, and left out")
    if chosen.request.learn:
        warnings += unread_dates(sample.dates, sample.date_format)
    if sample.empty:
        warnings.append(f"{sample.empty:,} documents without words are left out")
    if labels is not None and labels.unlisted == "different":
        unlisted = sum(name is None for name in sample.sets)
        if unlisted:
            warnings.append(
                f"{unlisted:,} documents are in no label and count as different from all others, since labels are "
                "complete"
            )
    if truth.true_sets < FEW_SETS:
        what = counted(truth.true_sets, "true set" if truth.kind != "exact" else "set of exact pairs")
        warnings.append(too_few_to_choose(what, "add labels" if labels is not None else "raise --sample"))
    if labels is not None and truth.true_sets < 2 and chosen.best is not None:
        warnings.append("with one true set nothing can be held back: the figures are of labels chosen on")
    if chosen.left_out:
        warnings.append(
            f"{len(chosen.left_out)} of {len(chosen.request.trials)} settings were not tried for lack of time; raise "
            "--budget, or name --methods"
        )
    return warnings


def edges(chosen: TuneResult, selection: Selection) -> list[str]:
    """What was chosen although it is the last value that was tried: better ones may lie beyond."""
    best = chosen.recommended
    if best is None or chosen.best is None or not chosen.request.search or best.trial.shape is None:
        return []
    low, high = selection.is_on_edge(chosen.best)
    found = []
    if low:
        found.append(
            f"the chosen threshold, {best.trial.threshold:g}, is the lowest that was tried for these shingles: these "
            "documents may need another way to compare them"
        )
    if high and best.trial.threshold < 1:
        found.append(f"the chosen threshold, {best.trial.threshold:g}, is the highest that was tried")
    unit, size = best.trial.shape
    if size == SIZES[unit][-1]:
        units = "tokens" if unit == "dom" else f"{unit}s"
        found.append(f"the chosen shingles, of {size} {units}, are the longest that were tried; see --try shingle_size")
    return found
