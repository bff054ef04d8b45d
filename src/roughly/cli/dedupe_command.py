"""`roughly dedupe`: documents in, verified clusters out."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from roughly.console.commands import Given
from roughly.console.common_options import Printing, SettingsLayers
from roughly.declarations import argument, group, option, values
from roughly.errors import Interrupted
from roughly.settings import (
    ReadOptions,
    Resources,
    Settings,
)

if TYPE_CHECKING:
    from roughly.job.launcher import DedupeRequest


@dataclass(frozen=True, kw_only=True)
class DedupeOptions:
    """Options of the command `dedupe`."""

    inputs: list[str] = argument(help="Files, folders, globs, URLs, or - for standard input.")
    output: Path | None = option(None, "Folder to write; must not hold a run.", "-o", "--output")
    settings: dict[str, Any] = values(Settings)
    layers: SettingsLayers = group(SettingsLayers)
    reading: ReadOptions = group(ReadOptions)
    resources: Resources = group(Resources)
    engine: str = option("local", "local, or spark: the same run on a cluster.")
    master: str | None = option(None, "Spark's master, such as spark://host:7077 or local[4].")
    printing: Printing = group(Printing)
    resume: bool = option(False, "Go on with an interrupted run.")
    index: str | None = option(None, "Leave an index of all documents: a file, or postgresql://….")
    against: str | None = option(None, "Remove what this index has; its settings are taken.")
    plan: bool = option(False, "Read a sample; print time, memory, disk and recall.")


def dedupe(options: DedupeOptions, given: Given) -> None:
    """Find duplicates; write what is kept, what is removed, and the evidence."""
    archive, settings = _settings(options, given)
    reading = replace(options.reading, markup=settings.markup)
    from roughly.job.dedupe_api import check_engine

    check_engine(options.engine, options.master)
    if options.plan:
        _plan(options.inputs, settings, options.resources, reading, options.printing.as_json, options.engine)
        return
    if options.output is None:
        raise typer.BadParameter("is missing: name the folder to write", param_hint="--output")
    from roughly.job.launcher import DedupeRequest

    request = DedupeRequest(
        settings=settings,
        resources=options.resources,
        reading=reading,
        output=options.output,
        overwrite=options.printing.overwrite,
        resume=options.resume,
        index=options.index,
        archive=archive,
    )
    _run(
        options.inputs,
        request,
        options.engine,
        options.master,
        as_json=options.printing.as_json,
        quiet=options.printing.quiet,
    )


def _settings(options: DedupeOptions, given: Given) -> tuple[Any, Settings]:
    """The archive, if there is one, and the settings; with an archive, its settings and what was typed beside them."""
    layers: dict[str, Any] = {"preset": options.layers.preset, "file": options.layers.settings_file}
    if options.against is not None:
        from roughly.job.dedupe_api import archive_and_settings

        return archive_and_settings(options.against, given.settings(), **layers)
    if not any(layers.values()):
        return None, Settings.gather(given.settings())
    from roughly.job.gathered_settings import settle

    return None, settle(given.settings(), **layers)


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
