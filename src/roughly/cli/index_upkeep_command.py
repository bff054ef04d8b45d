"""`roughly index stats|verify|export|import|upgrade|refresh`: the maintenance of an index."""

from __future__ import annotations

import time
from pathlib import Path

from roughly.amounts import counted, share
from roughly.cli.index_app import app, open_index
from roughly.console.commands import register
from roughly.console.common_options import COLUMNS, IndexPlace, Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Resources


@dataclass(frozen=True, kw_only=True)
class StatsOptions:
    """Options of the command `stats`."""

    index: IndexPlace = group(IndexPlace)
    printing: Printing = group(Printing, "as_json")


@register(app, StatsOptions)
def stats(options: StatsOptions) -> None:
    """Print the size of an index."""
    with open_index(options.index) as index:
        summary = index.stats()
    if options.printing.as_json:
        print_json(summary.to_dict())
        return
    a_document = summary.bytes / max(summary.documents, 1)
    print(f"index       {summary.where}, format {summary.format}")
    print(f"method      {summary.method}, fingerprint {summary.fingerprint}, stores {summary.store}")
    texts, clusters = counted(summary.contents, "text"), counted(summary.clusters, "cluster")
    print(f"documents   {summary.documents:,} of {texts} in {clusters}")
    print(f"revoked     {counted(summary.revoked, 'text')}")
    print(f"dated       {summary.oldest} to {summary.newest}" if summary.oldest else "dated       none")
    keys = counted(summary.keys, "key")
    print(f"size        {summary.bytes / 1e6:,.1f} MB, {a_document:,.0f} bytes per document; {keys}")


@dataclass(frozen=True, kw_only=True)
class VerifyOptions:
    """Options of the command `verify`."""

    index: IndexPlace = group(IndexPlace)
    sample: int | None = option(None, "Recompute the keys of this number of texts only.")
    printing: Printing = group(Printing, "as_json")


@register(app, VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Check an index: every row is complete, and keys match the texts."""
    with open_index(options.index) as index:
        check = index.verify(options.sample)
    if options.printing.as_json:
        print_json(check.to_dict())
    else:
        parts = (counted(check.documents, "document"), counted(check.contents, "text"), counted(check.keys, "key"))
        print(f"looked at   {', '.join(parts)}")
        print(f"compared    {counted(check.compared, 'text')} with their keys")
        for problem in check.problems:
            print(f"wrong       {problem}")
        print("whole       yes" if check.whole else "whole       no: restore it from a copy, or import it again")
    if not check.whole:
        raise SystemExit(3)


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Options of the command `export`."""

    index: IndexPlace = group(IndexPlace)
    output: Path = option(REQUIRED, "Parquet file of all documents to write.", "-o", "--output")
    pairs: Path | None = option(None, "Parquet file of all pairs to write.")
    printing: Printing = group(Printing)


@register(app, ExportOptions)
def export(options: ExportOptions) -> None:
    """Write all documents to a Parquet file, with their texts if these are stored."""
    from roughly.signing.signature_file import check_output

    with open_index(options.index) as index:
        if options.pairs is not None:
            check_output(options.pairs, options.printing.overwrite)
        count = index.export(options.output, overwrite=options.printing.overwrite)
        if options.pairs is not None:
            import pyarrow.parquet as pq

            from roughly.sources.streams import replacing

            with replacing(options.pairs) as target:
                pq.write_table(index.pairs(), target, compression="zstd")
    if options.printing.as_json:
        print_json({"output": str(options.output), "documents": count})
    elif not options.printing.quiet:
        print(f"written     {counted(count, 'document')} to {options.output}")


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """Options of the command `import`."""

    index: IndexPlace = group(IndexPlace)
    folder: Path = argument(help="The folder that `roughly dedupe` wrote.", metavar="OUT")
    inputs: list[str] | None = option(None, "The run's input, if it has moved.", "--input")
    store: str = option(
        "text", "What is stored of a text: text, shingles, sketch, or packed (184 bytes of term-vector)."
    )
    reading: ReadOptions = group(ReadOptions, *COLUMNS)
    resources: Resources = group(Resources, "threads", "temp", "temp_limit")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, ImportOptions, name="import")
def import_(options: ImportOptions) -> None:
    """Make an index of a run by bulk load: its settings, documents and clusters."""
    from roughly.index.upkeep.import_run import import_run, read_run

    key = None if options.index.key_file is None else str(options.index.key_file)
    settings, _ = read_run(options.folder, key)
    start = time.perf_counter()
    count = import_run(
        options.folder,
        options.index.where,
        inputs=options.inputs,
        store=options.store,
        key_file=key,
        reading=settings.reading(options.reading),
        resources=options.resources,
    )
    seconds = time.perf_counter() - start
    if options.printing.as_json:
        print_json({"index": options.index.where, "documents": count, "seconds": seconds})
    elif not options.printing.quiet:
        print(f"imported    {counted(count, 'document')} in {seconds:.1f} s")


@dataclass(frozen=True, kw_only=True)
class UpgradeOptions:
    """Options of the command `upgrade`."""

    index: IndexPlace = group(IndexPlace)
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, UpgradeOptions)
def upgrade(options: UpgradeOptions) -> None:
    """Bring an index of an older version of roughly to this version's format."""
    from roughly.index import Index

    before, now = Index.upgrade(options.index.where, key_file=options.index.key_file)
    if options.printing.as_json:
        print_json({"before": before, "now": now})
    elif not options.printing.quiet:
        print(f"format      {now}" + ("" if before != now else ", as it was"))


@dataclass(frozen=True, kw_only=True)
class RefreshOptions:
    """Options of the command `refresh`."""

    index: IndexPlace = group(IndexPlace)
    lexicon: Path = option(REQUIRED, "The new lexicon's file.")
    printing: Printing = group(Printing, "as_json", "quiet")


@register(app, RefreshOptions)
def refresh(options: RefreshOptions) -> None:
    """Sign all texts with another lexicon, while the index is in use; repeat the command after an interruption."""
    with open_index(options.index) as index:
        done = index.refresh(options.lexicon)
        summary = {
            "contents": done.contents, "changed": done.changed, "resumed": done.resumed,
            "fingerprint": index.fingerprint,
        }  # fmt: skip
    if options.printing.as_json:
        print_json(summary)
    elif not options.printing.quiet:
        changed = f"{done.changed:,} changed ({share(done.changed, done.contents)})"
        print(f"signed      {counted(done.contents, 'text')} again; the keys of {changed}")
        print(f"fingerprint {summary['fingerprint']}")
