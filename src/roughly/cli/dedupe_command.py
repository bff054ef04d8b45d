"""`roughly dedupe`: documents in, verified clusters out."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roughly.console.commands import Given
from roughly.console.common_options import INPUTS, Printing, SettingsLayers
from roughly.console.terminal_output import print_json
from roughly.declarations import argument, group, option, values
from roughly.fast_dataclass import dataclass
from roughly.settings import FILE_FORMATS, ReadOptions, Resources, Settings

if TYPE_CHECKING:
    from roughly.cli.dedupe_outputs import DedupeOutputs
    from roughly.job.launcher import DedupeRequest


EXAMPLES = (
    "roughly dedupe news.jsonl -o kept.jsonl",
    "roughly dedupe crawl/ 'more/*.parquet' --threshold 0.9 --keep newest -o run",
)


@dataclass(frozen=True, kw_only=True)
class DedupeOptions:
    """Options of the command `dedupe`."""

    inputs: list[str] = argument(help=INPUTS)
    output: str | None = option(
        None, "What to write: a folder for the whole run, or one file of what is kept (.jsonl, .parquet, .csv, .tsv, "
        ".txt, also with .gz or .zst); - for standard output.", "-o", "--output",
    )  # fmt: skip
    output_format: str | None = option(
        None, f"Format of that file: {', '.join(FILE_FORMATS)}; by default known from its name.",
        choices=lambda: FILE_FORMATS,
    )  # fmt: skip
    report: Path | None = option(None, "Folder for the whole run, beside one file of what is kept.")
    drop: str | None = option(None, "File of the ids that are removed, one per line.")
    settings: dict[str, Any] = values(Settings)
    layers: SettingsLayers = group(SettingsLayers)
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources)
    engine: str = option("local", "local, or spark: the same run on a cluster.", choices=lambda: ("local", "spark"))
    master: str | None = option(None, "Spark's master, such as spark://host:7077 or local[4].")
    printing: Printing = group(Printing)
    resume: bool = option(False, "Continue an interrupted run.")
    index: str | None = option(None, "Also make an index of all documents: a file, or postgresql://….")
    against: str | None = option(
        None, "Also remove duplicates of the documents of an index, whose settings are used, or of a collection."
    )
    only_against: bool = option(False, "Keep duplicates within the input; remove only those of --against.")
    plan: bool = option(False, "Run a sample; estimate time, memory, disk and recall.")


def dedupe(options: DedupeOptions, given: Given) -> None:
    """Find duplicates; write what is kept, what is removed, and the evidence."""
    archive, settings = _settings(options, given)
    reading = settings.reading(options.reading)
    from roughly.job.dedupe_api import check_engine

    check_engine(options.engine, options.master)
    if options.plan:
        _plan(options.inputs, settings, options.resources, reading, options.printing.as_json, options.engine)
        return
    from roughly.cli.dedupe_outputs import DedupeOutputs
    from roughly.job.launcher import DedupeRequest

    outputs = DedupeOutputs.of(options.output, options.report, options.drop, options.output_format)
    if outputs.is_streamed and options.resume:
        raise click.BadParameter("cannot continue what goes to standard output; name a file", param_hint="--resume")
    request = DedupeRequest(
        settings=settings,
        resources=options.resources,
        reading=reading,
        output=outputs.folder,
        file=outputs.file,
        drop=outputs.drop,
        overwrite=options.printing.overwrite,
        resume=None if outputs.is_streamed else options.resume,
        index=options.index,
        archive=archive,
        only_against=options.only_against,
    )
    with outputs:
        rejected = _run(options, request, outputs)
    if rejected:
        raise SystemExit(3)


def _settings(options: DedupeOptions, given: Given) -> tuple[Any, Settings]:
    """The archive, if there is one, and the settings; with an archive, its settings and the typed options."""
    layers: dict[str, Any] = {"preset": options.layers.preset, "file": options.layers.settings_file}
    if options.against is not None:
        from roughly.job.dedupe_api import archive_and_settings

        return archive_and_settings(options.against, given.settings(), options.reading, options.resources, **layers)
    if not any(layers.values()):
        return None, Settings.gather(given.settings())
    from roughly.job.gathered_settings import merge_settings

    return None, merge_settings(given.settings(), **layers)


def _run(options: DedupeOptions, request: DedupeRequest, outputs: DedupeOutputs) -> int:
    """Run, print the summary, and return the number of rejected records."""
    from roughly.job.dedupe_api import launcher_of, run

    if options.engine == "spark":
        from roughly.console.light import with_pandas

        with_pandas()
    with _progress(options.printing, request) as progress:
        result = run(None, options.inputs, request, launcher_of(options.engine, options.master), progress)
    outputs.stream()
    rejected = int(result.summary["counts"]["rejected"])
    with outputs.summary_stream():
        if options.printing.as_json:
            print_json(result.summary)
        elif not options.printing.quiet:
            from roughly.cli.summary_text import print_summary

            print_summary(result, outputs.folder, outputs.written())
    if rejected and outputs.folder is None:
        outputs.print_rejected(result.folder, rejected)
    if options.engine == "spark":
        result.spark.stop()
    return rejected


def _progress(printing: Printing, request: DedupeRequest) -> AbstractContextManager[Any]:
    """The listener of the progress: none with `--quiet`."""
    if printing.quiet and not printing.verbose:
        return nullcontext()
    from roughly.console.progress import Progress
    from roughly.console.run_estimate import dedupe_stages

    stages = dedupe_stages(request.settings, bool(request.file), bool(request.index))
    return Progress(printing.quiet, printing.verbose, stages)


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
        print_json(plan)
    else:
        print_plan(plan)
