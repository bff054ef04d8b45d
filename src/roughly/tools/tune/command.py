"""`roughly tune`: the best method and settings on a sample of your documents; or, with `--sampling`, the sampling
ratios that reach a precision."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from roughly.amounts import share
from roughly.console.common_options import Printing
from roughly.console.terminal_output import end, print_json
from roughly.declarations import argument, group, option
from roughly.errors import OutputExists, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.tools.tune.request import FIELD_OPTIONS, TuneQuestion

_LABELS = ("complete", "unlisted", "label_columns", "same_column", "ignore_unknown", "held_back")
_ONLY_CHOOSING = (
    "labels",
    "label_column",
    "learn",
    *_LABELS,
    "methods",
    "tried",
    "sample",
    "budget",
    "slack",
    "seed",
    "everything",
    *FIELD_OPTIONS,
)
_ONLY_SAMPLING = ("groups", "common")
_OFFERED = (
    "labels", "label_column", "complete", "unlisted", "label_columns", "same_column", "ignore_unknown", "learn",
    "precision",
    "recall", "slack", "methods", "sample", "held_back", "budget", "seed", "threshold", "shingle_size", "main_text",
    "text_column", "id_column", *FIELD_OPTIONS, "format", "markup", "threads",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """Options of the command `tune`."""

    inputs: list[str] = argument(help="Files, folders, globs or URLs of sample documents.")
    output: Path | None = option(None, "Settings file to write.", "-o", "--output")
    question: TuneQuestion = group(TuneQuestion, *_OFFERED)
    tried: list[str] | None = option(None, "A setting and values for it, as in threshold=0.7,0.8.", "--try")
    sampling: bool = option(False, "Find sampling ratios by length for the method shingles instead.")
    groups: str | None = option(None, "Sampling: most tokens of each group but the last, as in 100,200,400.")
    common: int | None = option(None, "Sampling: shingles in more documents make no pairs; 1000.")
    curves: Path | None = option(None, "Folder to draw pictures in.")
    report: Path | None = option(None, "With --learn: HTML page of the verdict to write.")
    printing: Printing = group(Printing)
    everything: bool = option(False, "Show all trials, not only the frontier.", "--all")


def tune(options: TuneOptions) -> None:
    """Find the best method and settings for your documents, and write them to a file."""
    for path in (options.output, options.report):
        if path is not None and path.exists() and not options.printing.overwrite:
            raise OutputExists(f"{path} exists; add --overwrite to replace it, or choose another name")
    _check(options)
    run = _Run(options)
    if options.sampling:
        run.ratios(_sampling(options))
    else:
        run.choose(_choosing(options))


class _Run:
    """The input, the output, and how results are shown."""

    def __init__(self, options: TuneOptions) -> None:
        self.inputs, self.output, self.curves = options.inputs, options.output, options.curves
        self.report = options.report
        self.reading, self.resources = options.question.reading, options.question.resources
        self.overwrite, self.everything = options.printing.overwrite, options.everything
        self.as_json, self.quiet = options.printing.as_json, options.printing.quiet
        self.verbose = options.printing.verbose

    def choose(self, wanted: Any) -> None:
        """Try methods and settings."""
        from roughly.console.progress import Progress
        from roughly.job.settings_file import write_settings
        from roughly.tools.tune.choose import choose
        from roughly.tools.tune.show import draw, lines, recommended_lines, settings_comment, unseen_lines

        with Progress(self.quiet, self.verbose) as progress:
            chosen = choose(
                None, self.inputs, wanted, resources=self.resources, reading=self.reading, listener=progress
            )
        settings, written = chosen.settings(), []
        if self.output is not None and settings is not None:
            write_settings(self.output, settings, settings_comment(chosen), self.overwrite)
            written.append(self.output)
        if self.curves is not None:
            written += draw(chosen, self.curves)
        if self.report is not None and chosen.study is not None:
            chosen.write_report(self.report)
            written.append(self.report)
        elif self.report is not None:
            chosen.warnings.append(f"no verdict was learnt, so {self.report} is not written")
        for warning in chosen.warnings:
            print(f"note: {warning}", file=sys.stderr)
        if self.as_json:
            print_json(chosen.to_dict() | {"written": [str(path) for path in written]})
        elif not self.quiet:
            print(f"documents   {chosen.documents:,}; {chosen.sampled:,} drawn")
            for note in chosen.notes:
                print(f"guessed     {note}")
            print(f"truth       {chosen.counted}")
            if chosen.truth != "none":
                print(f"tried       {chosen.count:,} settings; > is recommended, * is beaten by no other")
                print("\n".join(lines(chosen, self.everything)))
            if chosen.truth in ("sets", "pairs"):
                print("\n".join(unseen_lines(chosen)))
            verdict = chosen.learned or chosen.estimated
            if verdict is not None:
                print("\n".join(verdict.lines()))
            print("\n".join(recommended_lines(chosen)))
            for path in written:
                print(f"written     {path}")
        end(chosen.rejects, failed=settings is None)

    def ratios(self, wanted: Any) -> None:
        """Find sampling ratios by length."""
        from roughly.console.progress import Progress
        from roughly.job.settings_file import write_settings
        from roughly.tools.tune.sampling_ratios import table, tune

        threshold = wanted.threshold
        with Progress(self.quiet, self.verbose) as progress:
            tuned = tune(None, self.inputs, wanted, resources=self.resources, reading=self.reading, listener=progress)
        if self.output is not None:
            text = (
                f"roughly tune --sampling: precision {wanted.precision:g}, recall {wanted.recall:g} at threshold "
                f"{threshold:g}\ngroups are [most tokens, ratio]; longer documents have the last ratio"
            )
            write_settings(self.output, tuned.settings(), text, self.overwrite)
        drawn = []
        if self.curves is not None:
            from roughly.tools.tune.curves import draw

            drawn = draw(tuned.study, threshold, self.curves)
        if self.as_json:
            print_json(tuned.to_dict() | {"curves": [str(path) for path in drawn]})
        elif not self.quiet:
            print(f"precision/recall of sampled detection at threshold {threshold:g}, by sampling ratio; [chosen]")
            for row in table(tuned):
                print(row)
            done, uniform, counts = tuned.checked, tuned.study.ratios[tuned.uniform], tuned.study
            empty = f"; {counts.empty:,} without words left out" if counts.empty else ""
            collapsed = f"{counts.collapsed:,} exact duplicates collapsed{empty}"
            print(f"documents   {int(counts.documents.sum()):,}; {collapsed}")
            print(f"shingles    {share(tuned.share)} of them processed; one ratio for all would be {share(uniform)}")
            exact, full = ("–" if own != own else f"{own:.3f}" for own in (done.overall_precision, done.overall_recall))
            print(f"as it runs  precision {exact}, recall {full}")
            for path in [*([self.output] if self.output else []), *drawn]:
                print(f"written     {path}")
        end(tuned.rejects)


def _check(options: TuneOptions) -> None:
    """Refuse options of the other way to tune."""
    given = {name for name in _OFFERED if getattr(options.question, name, None)}
    given |= {*options.question.given_fields}
    given |= {name for name in ("tried", "everything", *_ONLY_SAMPLING) if getattr(options, name)}
    given |= {name for name in ("sample", "budget", "slack", "seed") if getattr(options.question, name) is not None}
    flags = {"tried": "try", "everything": "all"}

    def flag(name: str) -> str:
        return "--" + flags.get(name, name).replace("_", "-")

    if options.sampling:
        wrong = [name for name in _ONLY_CHOOSING if name in given]
        problems = [f"{flag(name)} has no meaning with --sampling; leave one of the two out" for name in wrong]
    else:
        wrong = [name for name in _ONLY_SAMPLING if name in given]
        problems = [f"{flag(name)} is for sampling ratios; add --sampling, or leave it out" for name in wrong]
        if given & {"labels", "label_column"}:
            wrong = [name for name in ("threshold", "shingle_size") if name in given]
            problems += [
                f"{flag(name)} says what is true without labels; with --labels, try values with --try {name}=…"
                for name in wrong
            ]
        else:
            wrong = [name for name in _LABELS if name in given]
            problems += [f"{flag(name)} is about labels; add --labels, or leave it out" for name in wrong]
    if options.report is not None and not options.question.learn:
        problems.append("--report is the page of a learned verdict; add --learn, or leave it out")
    elif options.report is not None and not options.question.labelled:
        problems.append("--report shows a learned verdict on labels; add --labels, or leave it out")
    if problems:
        raise SettingsError(*problems)


def _sampling(options: TuneOptions) -> Any:
    from roughly.tools.tune.sampling_ratios import SamplingRequest

    question = options.question
    names = ("precision", "recall", "threshold", "shingle_size")
    values = {name: getattr(question, name) for name in names} | {"common": options.common}
    given = {name: value for name, value in values.items() if value is not None}
    return SamplingRequest(**given, bounds=_bounds(options.groups or ""), main_text=question.main_text)


def _choosing(options: TuneOptions) -> Any:
    from roughly.tools.tune.api import request_of
    from roughly.tools.tune.grid import parse_others

    return request_of(replace(options.question, values=parse_others(options.tried or ())))


def _bounds(groups: str) -> tuple[int, ...]:
    try:
        return tuple(int(bound) for bound in groups.split(",") if bound.strip())
    except ValueError:
        raise SettingsError(
            f"groups must be numbers of tokens with commas, as in 100,200,400, not {groups!r}"
        ) from None
