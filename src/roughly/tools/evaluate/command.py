"""`roughly evaluate`: what a run found, measured against labels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from roughly.amounts import counted, share
from roughly.console.common_options import Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.tools.evaluate.request import EvaluateRequest

if TYPE_CHECKING:
    from roughly.tools.evaluate.api import Evaluation
    from roughly.tools.metrics.set_agreement import ListScores


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Options of the command `evaluate`."""

    run: Path = argument(help="Output of roughly dedupe, or a file of pairs or clusters.")
    labels: Path = option(REQUIRED, "CSV or Parquet: pairs of ids, or id and cluster.")
    request: EvaluateRequest = group(EvaluateRequest)
    printing: Printing = group(Printing, "as_json")


def evaluate(options: EvaluateOptions) -> None:
    """Measure a run against labels: precision, recall, F1, cluster measures, utility, with intervals."""
    from roughly.tools.evaluate.api import measure_run

    found = measure_run(options.run, options.labels, options.request)
    if options.printing.as_json:
        print_json(found.to_dict())
    else:
        _print_figures(found, options.request.level)
    if found.unknown:
        print(
            f"left out: {counted(len(found.unknown), 'document')} that labels or lists name and the run lacks",
            file=sys.stderr,
        )
        raise SystemExit(3)


def _print_figures(found: Evaluation, level: float) -> None:
    figures = found.figures
    values = figures.to_dict()
    counted = "counts as different" if found.unlisted == "different" else "is ignored"
    print(f"documents   {figures.documents:,}; {found.labelled:,} of them labelled; what labels do not list {counted}")
    print(f"{'':<12}{'precision':>26}{'recall':>26}{'F1':>26}   (intervals: {share(level, digits=0)})")
    for title, part, keys in (
        ("pairs", "pairs", ("precision", "recall", "f1")),
        ("documents", "by_document", ("precision", "recall", "f1")),
        ("B-cubed", "clusters", ("bcubed_precision", "bcubed_recall", "bcubed_f1")),
    ):
        if values[part] is not None:
            cells = (_cell(values[part][key], values["intervals"].get(f"{part}.{key}")) for key in keys)
            print(f"{title:<12}" + "".join(f"{cell:>26}" for cell in cells))
    pairs, documents = figures.pairs, figures.of_documents
    print(f"pairs       {pairs.found:,} found, {pairs.true:,} true, {pairs.both:,} both")
    print(f"documents   {documents.found:,} grouped, {documents.true:,} have a duplicate, {documents.both:,} with one")
    if figures.ignored:
        print(f"ignored     {figures.ignored:,} documents have no word or no key")
    if figures.clusters is not None:
        own = figures.clusters
        print(f"clusters    {own.clusters:,} found, {own.sets:,} true, {own.whole:,} the same in both")
        print(
            f"            adjusted Rand {_figure(own.adjusted_rand)}, purity {_figure(own.purity)}, "
            f"clusters a true set {_figure(own.clusters_per_set)}"
        )
    for one in (one for one in figures.bins if one.true):
        recall = f"{one.found:,} of {one.true:,} found, recall {_figure(one.recall)}"
        print(f"resemblance {one.low:.1f}–{one.high:.1f}: {recall}")
    if figures.removal is not None:
        removal = figures.removal
        print(
            f"removed     {removal.right:,} rightly, {removal.wrong:,} wrongly; utility {removal.utility:,.0f} "
            f"at a cost of {removal.cost:g}"
        )
    if found.lists is not None:
        _print_lists(found.lists)


def _print_lists(scores: ListScores) -> None:
    total = scores.total
    sizes = ", ".join(f"{scores.sizes[size]:,} of {size:,}" for size in sorted(scores.sizes))
    print(f"lists       {len(scores.lists):,}; {scores.with_sets:,} of them have duplicate sets")
    print(f"sets        {total.sets:,} to find{': ' if sizes else ''}{sizes} documents")
    print(
        f"            {total.same:,} found, {total.partly:,} in part, {total.missed:,} missed; "
        f"{total.over:,} found that are none"
    )
    for title, precision, recall in (
        ("by set", total.precision, total.recall),
        ("by list", scores.mean("precision"), scores.mean("recall")),
    ):
        print(f"{title:<12}precision {_figure(precision)}, recall {_figure(recall)}")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _cell(value: float | None, interval: list[float] | None) -> str:
    if value is None or interval is None:
        return _figure(value)
    return f"{value:.4f} ({interval[0]:.4f}–{interval[1]:.4f})"
