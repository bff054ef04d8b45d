"""`roughly tune`: the method and the settings that do best on a sample of your documents; or, with `--sampling`, the
sampling ratios that keep a precision."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roughly.errors import Interrupted, OutputExists, SettingsError
from roughly.settings import MARKUP, Resources

if TYPE_CHECKING:
    from roughly.model import Reject
    from roughly.settings import ReadOptions

_LABELS = ("unlisted", "label-columns", "same-column", "ignore-unknown", "held-back")
_ONLY_CHOOSING = ("labels", *_LABELS, "methods", "try", "sample", "budget", "slack", "seed", "all")


def tune(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs or URLs: what to learn from.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Settings file to write.")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="What is the same: CSV or Parquet of sets or pairs.")
    ] = None,
    unlisted: Annotated[
        str | None, typer.Option("--unlisted", help="What labels do not list: different or ignore.")
    ] = None,
    label_columns: Annotated[
        str | None, typer.Option("--label-columns", help="The two columns that matter, as in id_a,id_b or id,cluster.")
    ] = None,
    same_column: Annotated[
        str | None, typer.Option("--same-column", help="Column of pairs that says same or different.")
    ] = None,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="Leave out labels of documents that the input does not have.")
    ] = False,
    precision: Annotated[
        float | None, typer.Option("--precision", help="Least precision; with it the highest recall is sought.")
    ] = None,
    recall: Annotated[
        float | None, typer.Option("--recall", help="Least recall; with both, the fewest bytes are sought.")
    ] = None,
    slack: Annotated[
        float | None, typer.Option("--slack", help="Take the fewest bytes within so much of the best; 0 if not given.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", help="Methods to try, with commas; all if not given.")
    ] = None,
    tried: Annotated[
        list[str] | None, typer.Option("--try", help="A setting and values for it, as in threshold=0.7,0.8.")
    ] = None,
    sample: Annotated[int | None, typer.Option("--sample", help="Documents to draw; 20000 if not given.")] = None,
    held_back: Annotated[
        float | None, typer.Option("--held-back", help="Share of the labels not chosen on; 0.5 if not given.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Seconds after which no trial begins; 600 if not given.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of all that is drawn; 0 if not given.")] = None,
    sampling: Annotated[
        bool, typer.Option("--sampling", help="Find sampling ratios by length for the method shingles instead.")
    ] = False,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Resemblance of duplicates without labels; 0.8, sampling 0.85.")
    ] = None,
    shingle_size: Annotated[
        int | None, typer.Option("--shingle-size", help="Words in a shingle of it; 5, sampling 10.")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option("--groups", help="Sampling: most tokens of each group but the last, as in 100,200,400."),
    ] = None,
    common: Annotated[
        int | None, typer.Option("--common", help="Sampling: shingles in more documents form no pairs; 1000.")
    ] = None,
    curves: Annotated[Path | None, typer.Option("--curves", help="Folder to draw pictures in.")] = None,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the settings file.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Show all that was tried, not only the frontier.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no table.")] = False,
) -> None:
    """Find the method and the settings that do best on your documents, and write them to a file."""
    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    from roughly.settings import ReadOptions

    if output is not None and output.exists() and not overwrite:
        raise OutputExists(f"{output} exists; add --overwrite to replace it, or choose another name")
    given: dict[str, Any] = {
        "labels": labels, "unlisted": unlisted, "label-columns": label_columns, "same-column": same_column,
        "ignore-unknown": ignore_unknown or None, "methods": methods, "try": tried or None, "sample": sample,
        "budget": budget, "held-back": held_back, "slack": slack, "seed": seed, "all": everything or None,
        "precision": precision, "recall": recall, "threshold": threshold, "shingle-size": shingle_size,
        "groups": groups, "common": common,
    }  # fmt: skip
    _check(given, sampling)
    reading = ReadOptions(text_column=text_column, id_column=id_column, markup=markup, format=format)  # type: ignore[arg-type]
    run = _Run(inputs, output, reading, Resources(threads=threads), main_text, overwrite, curves, as_json, quiet)
    work = run.ratios if sampling else run.choose
    asked = _sampling(given, main_text) if sampling else _choosing(given, main_text)
    try:
        work(asked, everything)
    except Interrupted as stop:
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None


class _Run:
    """Where from, where to, and how to show it."""

    def __init__(
        self, inputs: list[str], output: Path | None, reading: ReadOptions, resources: Resources, main_text: bool,
        overwrite: bool, curves: Path | None, as_json: bool, quiet: bool,
    ) -> None:  # fmt: skip
        self.inputs, self.output, self.reading, self.resources = inputs, output, reading, resources
        self.main_text, self.overwrite, self.curves = main_text, overwrite, curves
        self.as_json, self.quiet = as_json, quiet

    def choose(self, asked: Any, everything: bool) -> None:
        """Try methods and settings."""
        from roughly.console.progress import Progress
        from roughly.job.settings_file import write_settings
        from roughly.tools.tune.choose import choose
        from roughly.tools.tune.show import draw, lines, recommended_lines, unseen_lines

        with Progress(self.quiet) as progress:
            chosen = choose(None, self.inputs, asked, resources=self.resources, reading=self.reading, listener=progress)
        settings, written = chosen.settings(), []
        if self.output is not None and settings is not None:
            told = f"roughly tune: {asked.goal}\n{recommended_lines(chosen)[1]}"
            write_settings(self.output, settings, told, self.overwrite)
            written.append(self.output)
        if self.curves is not None:
            written += draw(chosen, self.curves)
        for warning in chosen.warnings:
            print(f"note: {warning}", file=sys.stderr)
        if self.as_json:
            self._json(chosen.to_dict() | {"written": [str(path) for path in written]})
        elif not self.quiet:
            print(f"documents   {chosen.documents:,}; {chosen.sampled:,} drawn")
            print(f"truth       {chosen.counted}")
            print(f"tried       {len(chosen.tried)} settings; > is recommended, * is beaten by no other")
            print("\n".join(lines(chosen, everything)))
            if chosen.truth != "exact":
                print("\n".join(unseen_lines(chosen)))
            print("\n".join(recommended_lines(chosen)))
            for path in written:
                print(f"written     {path}")
        self._end(chosen.rejects, failed=settings is None)

    def ratios(self, asked: Any, everything: bool) -> None:
        """Find sampling ratios by length."""
        from roughly.console.progress import Progress
        from roughly.job.settings_file import write_settings
        from roughly.tools.tune.sampling_ratios import table, tune

        threshold = asked.threshold
        with Progress(self.quiet) as progress:
            tuned = tune(None, self.inputs, asked, resources=self.resources, reading=self.reading, listener=progress)
        if self.output is not None:
            told = (
                f"roughly tune --sampling: precision {asked.precision:g}, recall {asked.recall:g} at threshold "
                f"{threshold:g}\ngroups are [most tokens, ratio]; longer documents take the last ratio"
            )
            write_settings(self.output, tuned.settings(), told, self.overwrite)
        drawn = []
        if self.curves is not None:
            from roughly.tools.tune.curves import draw

            drawn = draw(tuned.study, threshold, self.curves)
        if self.as_json:
            self._json(tuned.to_dict() | {"curves": [str(path) for path in drawn]})
        elif not self.quiet:
            print(f"precision/recall of sampled detection at threshold {threshold:g}, by sampling ratio; [chosen]")
            for row in table(tuned):
                print(row)
            done, uniform, counts = tuned.checked, tuned.study.ratios[tuned.uniform], tuned.study
            print(f"documents   {int(counts.documents.sum()):,}; {counts.collapsed:,} exact duplicates collapsed")
            print(f"shingles    {tuned.share:.1%} of them processed; one ratio for all would be {uniform:.1%}")
            print(f"as it runs  precision {done.overall_precision:.3f}, recall {done.overall_recall:.3f}")
            for path in [*([self.output] if self.output else []), *drawn]:
                print(f"written     {path}")
        self._end(tuned.rejects)

    def _json(self, value: dict[str, Any]) -> None:
        json.dump(value, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")

    def _end(self, rejects: list[Reject], *, failed: bool = False) -> None:
        for reject in rejects[:5]:
            print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
        if rejects or failed:
            raise typer.Exit(3)


def _check(given: dict[str, Any], sampling: bool) -> None:
    """Refuse options of the other way to tune."""
    if sampling:
        wrong = [name for name in _ONLY_CHOOSING if given[name] is not None]
        problems = [f"--{name} has no meaning with --sampling; leave one of the two out" for name in wrong]
    else:
        wrong = [name for name in ("groups", "common") if given[name] is not None]
        problems = [f"--{name} is for sampling ratios; add --sampling, or leave it out" for name in wrong]
        if given["labels"] is not None:
            problems += [
                f"--{name} says what is true without labels; with --labels, try values with --try "
                f"{name.replace('-', '_')}=…"
                for name in ("threshold", "shingle-size")
                if given[name] is not None
            ]
        else:
            wrong = [name for name in _LABELS if given[name] is not None]
            problems += [f"--{name} is about labels; add --labels, or leave it out" for name in wrong]
    if problems:
        raise SettingsError(*problems)


def _sampling(given: dict[str, Any], main_text: bool) -> Any:
    from roughly.tools.tune.sampling_ratios import SamplingRequest

    values = {name: given[name] for name in ("precision", "recall", "threshold", "common") if given[name] is not None}
    if given["shingle-size"] is not None:
        values["shingle_size"] = given["shingle-size"]
    return SamplingRequest(**values, bounds=_bounds(given["groups"] or ""), main_text=main_text)


def _choosing(given: dict[str, Any], main_text: bool) -> Any:
    from roughly.tools.tune.choose import TuneRequest
    from roughly.tools.tune.frontier import Goal
    from roughly.tools.tune.grid import parse_others, trials

    names = ("labels", "unlisted", "same-column", "ignore-unknown", "threshold", "shingle-size", "sample", "budget",
             "held-back", "seed")  # fmt: skip
    values = {name.replace("-", "_"): given[name] for name in names if given[name] is not None}
    columns = [name.strip() for name in (given["label-columns"] or "").split(",") if name.strip()]
    listed = [name.strip() for name in (given["methods"] or "").split(",") if name.strip()]
    known = {name: values.get(name, getattr(TuneRequest, name)) for name in ("threshold", "shingle_size")}
    goal = Goal(precision=given["precision"], recall=given["recall"], slack=given["slack"] or 0.0)
    found = trials(listed, parse_others(given["try"] or ()), **({} if given["labels"] is not None else known))
    return TuneRequest(trials=found, goal=goal, main_text=main_text, label_columns=columns, **values)


def _bounds(groups: str) -> tuple[int, ...]:
    try:
        return tuple(int(bound) for bound in groups.split(",") if bound.strip())
    except ValueError:
        raise SettingsError(
            f"groups must be numbers of tokens with commas, as in 100,200,400, not {groups!r}"
        ) from None
