"""`roughly dedupe`: documents in, verified clusters out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from roughly.settings import (
    CLUSTERINGS,
    KEEP_RULES,
    MARKUP,
    MEASURES,
    METHODS,
    ON_DUPLICATE_ID,
    PAIRS,
    Resources,
    Settings,
    parse_size,
)

_ANSWER, _INPUT, _RUN = "What counts as a duplicate", "Reading", "Running"


def _option(names: tuple[str, ...], panel: str, text: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel)


def dedupe(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder to write; must not hold a run.")] = None,
    threshold: Annotated[float, _option(("--threshold",), _ANSWER, "Similarity from which a document is a duplicate.")] = 0.8,
    recall: Annotated[float, _option(("--recall",), _ANSWER, "Least share of such pairs to find.")] = 0.99,
    measure: Annotated[str, _option(("--measure",), _ANSWER, " or ".join(MEASURES) + ".")] = "resemblance",
    method: Annotated[str, _option(("--method",), _ANSWER, ", ".join(METHODS) + ".")] = "minhash",
    shingle_size: Annotated[int, _option(("--shingle-size",), _ANSWER, "Words in a shingle.")] = 5,
    bands: Annotated[int | None, _option(("--bands",), _ANSWER, "Instead of deriving them from the recall.")] = None,
    rows: Annotated[int | None, _option(("--rows",), _ANSWER, "Rows of a band; goes with --bands.")] = None,
    seed: Annotated[int, _option(("--seed",), _ANSWER, "Of the min-hash permutations.")] = 0,
    keep: Annotated[str, _option(("--keep",), _ANSWER, "Who stays: rules in order, " + ", ".join(KEEP_RULES) + ".")] = "longest",
    cluster: Annotated[str, _option(("--cluster",), _ANSWER, " or ".join(CLUSTERINGS) + ".")] = "star",
    pairs: Annotated[str, _option(("--pairs",), _ANSWER, "Pairs to write: " + " or ".join(PAIRS) + ".")] = "evidence",
    pairs_limit: Annotated[int, _option(("--pairs-limit",), _ANSWER, "Refuse --pairs all past so many candidates.")] = 20_000_000,
    text_column: Annotated[str | None, _option(("--text-column",), _INPUT, "Column that holds the text.")] = None,
    id_column: Annotated[str | None, _option(("--id-column",), _INPUT, "Column that holds the id.")] = None,
    title_column: Annotated[str | None, _option(("--title-column",), _INPUT, "Column that holds the title.")] = None,
    url_column: Annotated[str | None, _option(("--url-column",), _INPUT, "Column that holds the url.")] = None,
    date_column: Annotated[str | None, _option(("--date-column",), _INPUT, "Column that holds the date.")] = None,
    source_column: Annotated[str | None, _option(("--source-column",), _INPUT, "Column that holds the source.")] = None,
    format: Annotated[str | None, _option(("--format",), _INPUT, "Instead of guessing it from the name.")] = None,
    markup: Annotated[str, _option(("--markup",), _INPUT, "Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, _option(("--main-text",), _INPUT, "Of HTML, the main text only.")] = False,
    on_duplicate_id: Annotated[str, _option(("--on-duplicate-id",), _INPUT, " or ".join(ON_DUPLICATE_ID) + ".")] = "refuse",
    batch_size: Annotated[int | None, _option(("--batch-size",), _INPUT, "Documents read at a time.")] = None,
    memory: Annotated[str, _option(("--memory",), _RUN, "Most memory to take, such as 4GB.")] = "4GB",
    threads: Annotated[int, _option(("--threads",), _RUN, "0: one a core.")] = 0,
    temp: Annotated[Path | None, _option(("--temp",), _RUN, "Folder to spill to.")] = None,
    overwrite: Annotated[bool, _option(("--overwrite",), _RUN, "Replace the run in the output folder.")] = False,
    resume: Annotated[bool, _option(("--resume",), _RUN, "Go on with an interrupted run.")] = False,
    plan: Annotated[bool, _option(("--plan",), _RUN, "Read a sample; print time, memory, disk and recall.")] = False,
    as_json: Annotated[bool, _option(("--json",), _RUN, "Print the summary as JSON.")] = False,
    quiet: Annotated[bool, _option(("--quiet",), _RUN, "No progress, no summary.")] = False,
) -> None:  # fmt: skip
    """Find duplicates; write who stays, who goes, and the evidence."""
    settings = Settings(
        method=method, threshold=threshold, recall=recall, measure=measure, shingle_size=shingle_size,
        bands=bands, rows=rows, seed=seed, cluster=cluster, keep=(keep,) if "," not in keep else tuple(keep.split(",")),
        pairs=pairs, pairs_limit=pairs_limit, markup=markup, main_text=main_text, on_duplicate_id=on_duplicate_id,
    )  # fmt: skip
    resources = Resources(threads=threads, memory=parse_size(memory), temp=temp)
    from roughly.sources.part import ReadOptions

    reading = ReadOptions(
        text_column=text_column, id_column=id_column, title_column=title_column, url_column=url_column,
        date_column=date_column, source_column=source_column, markup=markup,  # type: ignore[arg-type]
        format=format, batch_size=batch_size,
    )  # fmt: skip
    if plan:
        _plan(inputs, settings, resources, reading, as_json)
        return
    if output is None:
        raise typer.BadParameter("is missing: name the folder to write", param_hint="--output")
    _run(inputs, settings, resources, reading, output, overwrite, resume, as_json, quiet)


def _run(
    inputs: list[str], settings: Settings, resources: Resources, reading: Any, output: Path, overwrite: bool, resume: bool,
    as_json: bool, quiet: bool,
) -> None:  # fmt: skip
    from roughly.cli.progress import Progress, compiled
    from roughly.cli.summary import print_summary
    from roughly.job import run

    if not quiet:
        compiled()
    with Progress(quiet) as progress:
        result = run(
            None,
            inputs,
            settings=settings,
            resources=resources,
            reading=reading,
            output=output,
            overwrite=overwrite,
            resume=resume,
            listener=progress,
        )
    if as_json:
        json.dump(result.summary, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not quiet:
        print_summary(result, output)
    if result.summary["counts"]["rejected"]:
        raise typer.Exit(3)


def _plan(inputs: list[str], settings: Settings, resources: Resources, reading: Any, as_json: bool) -> None:
    from roughly.cli.progress import compiled
    from roughly.cli.summary import print_plan
    from roughly.job.plan import make_plan

    compiled()
    plan = make_plan(inputs, settings, resources, reading)
    if as_json:
        json.dump(plan, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        print_plan(plan)
