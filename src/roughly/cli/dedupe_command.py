"""`roughly dedupe`: documents in, verified clusters out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roughly.console.method_options import NAMES, with_method_options
from roughly.errors import Interrupted
from roughly.settings import (
    CLUSTERINGS,
    KEEP_RULES,
    MARKUP,
    MEASURES,
    ON_DUPLICATE_ID,
    PAIRS,
    Resources,
    Settings,
    parse_size,
)

if TYPE_CHECKING:
    from roughly.job.launcher import DedupeRequest

_ASKED = (
    "threshold", "recall", "measure", "method", "shingle_size", "bands", "rows", "seed", "verify", "keep", "cluster",
    "pairs", "pairs_limit", "markup", "main_text", "on_duplicate_id",
)  # fmt: skip
"""Parameters that are settings; of these only what was given goes before a preset or a file."""


@with_method_options
def dedupe(
    context: typer.Context,
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder to write; must not hold a run.")] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Similarity from which a document is a duplicate.")
    ] = 0.8,
    recall: Annotated[float, typer.Option("--recall", help="Least share of such pairs to find.")] = 0.99,
    measure: Annotated[str, typer.Option("--measure", help=" or ".join(MEASURES) + ".")] = "resemblance",
    method: Annotated[str, typer.Option("--method", help=f"{NAMES}.")] = "minhash",
    shingle_size: Annotated[int, typer.Option("--shingle-size", help="Words in a shingle.")] = 5,
    bands: Annotated[int | None, typer.Option("--bands", help="Instead of deriving them from the recall.")] = None,
    rows: Annotated[int | None, typer.Option("--rows", help="Rows of a band; goes with --bands.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the min-hash permutations.")] = 0,
    verify: Annotated[
        bool, typer.Option("--verify", help="Judge candidates exactly on their texts, whatever the method.")
    ] = False,
    preset: Annotated[str | None, typer.Option("--preset", help="Settings of a paper, such as broder-1997.")] = None,
    settings_file: Annotated[
        Path | None, typer.Option("--settings", help="Settings in a TOML file, as `roughly tune` writes them.")
    ] = None,
    keep: Annotated[
        str, typer.Option("--keep", help="Who stays: rules in order, " + ", ".join(KEEP_RULES) + ".")
    ] = "longest",
    cluster: Annotated[str, typer.Option("--cluster", help=" or ".join(CLUSTERINGS) + ".")] = "star",
    pairs: Annotated[str, typer.Option("--pairs", help="Pairs to write: " + " or ".join(PAIRS) + ".")] = "evidence",
    pairs_limit: Annotated[
        int, typer.Option("--pairs-limit", help="Refuse --pairs all past so many candidates.")
    ] = 20_000_000,
    *,
    method_options: dict[str, Any],
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    title_column: Annotated[str | None, typer.Option("--title-column", help="Column that holds the title.")] = None,
    url_column: Annotated[str | None, typer.Option("--url-column", help="Column that holds the url.")] = None,
    date_column: Annotated[str | None, typer.Option("--date-column", help="Column that holds the date.")] = None,
    source_column: Annotated[str | None, typer.Option("--source-column", help="Column that holds the source.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    on_duplicate_id: Annotated[
        str, typer.Option("--on-duplicate-id", help=" or ".join(ON_DUPLICATE_ID) + ".")
    ] = "refuse",
    batch_size: Annotated[int | None, typer.Option("--batch-size", help="Documents read at a time.")] = None,
    memory: Annotated[str, typer.Option("--memory", help="Most memory to take, such as 4GB.")] = "4GB",
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    temp: Annotated[Path | None, typer.Option("--temp", help="Folder to spill to.")] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or spark: the same run on a cluster.")] = "local",
    master: Annotated[
        str | None, typer.Option("--master", help="Spark's master, such as spark://host:7077 or local[4].")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in the output folder.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    index: Annotated[
        str | None, typer.Option("--index", help="Leave an index of all documents: a file, or postgresql://….")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="Remove what this index has; its settings are taken.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Read a sample; print time, memory, disk and recall.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Find duplicates; write who stays, who goes, and the evidence."""
    archive = None
    if against is None:
        settings = _settle(context, method_options, preset, settings_file)
    else:
        archive, settings = _settle_against(against, context, method_options, preset, settings_file)
    resources = Resources(threads=threads, memory=parse_size(memory), temp=temp)
    from roughly.settings import ReadOptions

    reading = ReadOptions(
        text_column=text_column, id_column=id_column, title_column=title_column, url_column=url_column,
        date_column=date_column, source_column=source_column, markup=settings.markup,  # type: ignore[arg-type]
        format=format, batch_size=batch_size,
    )  # fmt: skip
    from roughly.job.dedupe_api import check_engine

    check_engine(engine, master)
    if plan:
        _plan(inputs, settings, resources, reading, as_json, engine)
        return
    if output is None:
        raise typer.BadParameter("is missing: name the folder to write", param_hint="--output")
    from roughly.job.launcher import DedupeRequest

    request = DedupeRequest(
        settings=settings, resources=resources, reading=reading, output=output, overwrite=overwrite, resume=resume,
        index=index, archive=archive,
    )  # fmt: skip
    _run(inputs, request, engine, master, as_json=as_json, quiet=quiet)


def _asked(context: typer.Context) -> dict[str, Any]:
    return {
        name: context.params[name]
        for name in _ASKED
        if (source := context.get_parameter_source(name)) is not None and source.name != "DEFAULT"
    }


def _settle_against(
    against: str, context: typer.Context, method_options: dict[str, Any], preset: str | None, file: Path | None
) -> tuple[Any, Settings]:
    """The archive, and its settings with what was given beside them."""
    from roughly.job.dedupe_api import archive_and_settings

    return archive_and_settings(against, {**_asked(context), **method_options}, preset=preset, file=file)


def _settle(context: typer.Context, method_options: dict[str, Any], preset: str | None, file: Path | None) -> Settings:
    """What was given wins over the file, the file over the preset; what nobody says is as the help has it."""
    asked = _asked(context)
    if preset is None and file is None:
        return Settings.gather(asked, method_options)
    from roughly.job.gathered_settings import settle

    return settle({**asked, **method_options}, preset=preset, file=file)


def _run(
    inputs: list[str], request: DedupeRequest, engine: str, master: str | None, *, as_json: bool, quiet: bool
) -> None:
    from roughly.cli.summary_text import print_summary
    from roughly.console.progress import Progress
    from roughly.job.dedupe_api import launcher_of, run

    if engine == "spark":
        from roughly.console.light import with_pandas

        with_pandas()
    try:
        with Progress(quiet) as progress:
            result = run(None, inputs, request, launcher_of(engine, master), progress)
    except Interrupted as stop:  # a KeyboardInterrupt, which typer would turn into a bare "Aborted"
        print(f"\n{stop}", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        json.dump(result.summary, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not quiet:
        print_summary(result, request.output or result.folder)
    if engine == "spark":
        result.spark.stop()
    if result.summary["counts"]["rejected"]:
        raise typer.Exit(3)


def _plan(
    inputs: list[str], settings: Settings, resources: Resources, reading: Any, as_json: bool, engine: str
) -> None:
    from roughly.cli.summary_text import print_plan
    from roughly.job.plan import make_plan

    plan = make_plan(inputs, settings, resources, reading)
    if engine == "spark":
        from roughly import methods
        from roughly.cli.summary_text import print_spark_plan as print_plan
        from roughly.job.spark_plan import spark_plan
        from roughly.methods.judgement import judgement

        plan = spark_plan(plan, judgement(methods.check(settings))["on"])
    if as_json:
        json.dump(plan, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        print_plan(plan)
