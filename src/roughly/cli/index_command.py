"""`roughly index …`: an index made, filled, asked and looked after."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from roughly.console.method_options import NAMES, Sectioned, with_method_options
from roughly.errors import SettingsError
from roughly.settings import KEEP_RULES, MARKUP, MEASURES, Resources, Settings

if TYPE_CHECKING:
    from roughly.index import Index

app = typer.Typer(
    help="A store of documents that is asked for duplicates: create, add, query, remove, …",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_TOLD = 5  # rejects named one by one
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_ASKED = (
    "threshold", "recall", "measure", "method", "shingle_size", "bands", "rows", "seed", "verify", "keep", "markup",
    "main_text",
)  # fmt: skip

Where = Annotated[str, typer.Argument(metavar="INDEX", help="A file, or postgresql://user@host/database.")]
Inputs = Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")]
Ids = Annotated[list[str], typer.Argument(metavar="DOC_ID…", help="Ids of documents, or - to read them, one a line.")]
Store = Annotated[str, typer.Option("--store", help="What is kept of a text: text, shingles, or sketch.")]
KeyFile = Annotated[Path | None, typer.Option("--key-file", help="The secret key, where it was made with one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")]
TextColumn = Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")]
IdColumn = Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")]
TitleColumn = Annotated[str | None, typer.Option("--title-column", help="Column that holds the title.")]
UrlColumn = Annotated[str | None, typer.Option("--url-column", help="Column that holds the url.")]
DateColumn = Annotated[str | None, typer.Option("--date-column", help="Column that holds the date.")]
SourceColumn = Annotated[str | None, typer.Option("--source-column", help="Column that holds the source.")]
Format = Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")]


@app.command(cls=Sectioned)
@with_method_options
def create(
    context: typer.Context,
    where: Where,
    store: Store = "text",
    threshold: Annotated[float, typer.Option("--threshold", help="Similarity from which two are duplicates.")] = 0.8,
    recall: Annotated[float, typer.Option("--recall", help="Least share of such pairs to find.")] = 0.99,
    measure: Annotated[str, typer.Option("--measure", help=" or ".join(MEASURES) + ".")] = "resemblance",
    method: Annotated[str, typer.Option("--method", help=f"{NAMES}.")] = "minhash",
    shingle_size: Annotated[int, typer.Option("--shingle-size", help="Words in a shingle.")] = 5,
    bands: Annotated[int | None, typer.Option("--bands", help="Instead of deriving them from the recall.")] = None,
    rows: Annotated[int | None, typer.Option("--rows", help="Rows of a band; goes with --bands.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the min-hash permutations.")] = 0,
    verify: Annotated[bool, typer.Option("--verify", help="Judge candidates exactly on their texts.")] = False,
    keep: Annotated[
        str, typer.Option("--keep", help="Who speaks for equal documents: " + ", ".join(KEEP_RULES) + ".")
    ] = "longest",
    preset: Annotated[str | None, typer.Option("--preset", help="Settings of a paper, such as broder-1997.")] = None,
    settings_file: Annotated[Path | None, typer.Option("--settings", help="Settings in a TOML file.")] = None,
    *,
    method_options: dict[str, Any],
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    search: Annotated[bool, typer.Option("--search", help="Make its texts searchable by their words.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make an empty index, bound to these settings."""
    asked = {
        name: context.params[name]
        for name in _ASKED
        if (source := context.get_parameter_source(name)) is not None and source.name != "DEFAULT"
    }
    if preset is None and settings_file is None:
        settings = Settings.gather(asked, method_options)
    else:
        from roughly.job.gathered_settings import settle

        settings = settle({**asked, **method_options}, preset=preset, file=settings_file)
    from roughly.index import Index

    with Index.create(where, settings, store=store, search=search) as index:
        told = {"index": index.name, "method": settings.method, "fingerprint": index.fingerprint, "store": store}
    if as_json:
        _print(told)
    elif not quiet:
        print(f"index       {told['index']}, {settings.method}, fingerprint {told['fingerprint']}")


@app.command()
def add(
    where: Where,
    inputs: Inputs,
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    title_column: TitleColumn = None,
    url_column: UrlColumn = None,
    date_column: DateColumn = None,
    source_column: SourceColumn = None,
    format: Format = None,
    at_once: Annotated[int, typer.Option("--at-once", help="Documents in one transaction.")] = 10_000,
    each: Annotated[bool, typer.Option("--each", help="Print a line of JSON for each document.")] = False,
    key_file: KeyFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Put documents in; those that are there stay as they are, and changed ones replace what was there."""
    reading = _reading(text_column, id_column, title_column, url_column, date_column, source_column, format)
    counts = {"added": 0, "updated": 0, "unchanged": 0, "matched": 0}
    rejects: list[Any] = []
    start = time.perf_counter()
    with _opened(where, key_file) as index:
        for some in index.adding(_batches(inputs, reading, index.settings.markup, rejects), at_once=at_once):
            for added in some:
                counts[added.status] += 1
                counts["matched"] += added.match is not None
                if each:
                    sys.stdout.write(json.dumps(added.to_dict(), ensure_ascii=False) + "\n")
    told = {**counts, "rejected": len(rejects), "seconds": time.perf_counter() - start}
    if as_json:
        _print(told)
    elif not quiet and not each:
        print(f"added       {counts['added']:,}, {counts['updated']:,} updated, {counts['unchanged']:,} unchanged")
        print(f"matched     {counts['matched']:,} of them are duplicates of what was there before")
    _rejected(rejects)


@app.command()
def query(
    where: Where,
    inputs: Inputs,
    limit: Annotated[int, typer.Option("--limit", help="Most matches for each document.")] = 10,
    minimum: Annotated[float | None, typer.Option("--minimum", help="Least score of a match.")] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", help="To order by: resemblance, containment or contained_in.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", help="Documents dated on this day or later.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Documents dated on this day or before.")] = None,
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    date_column: DateColumn = None,
    format: Format = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Ask which documents of the index these are duplicates of; nothing is put in."""
    reading = _reading(text_column, id_column, None, None, date_column, None, format)
    rejects: list[Any] = []
    with _opened(where, key_file) as index:
        if not as_json:
            print("asked\tdoc_id\tcluster_id\tresemblance\tcontainment\tcontained_in\testimated")
        for batch in _batches(inputs, reading, index.settings.markup, rejects):
            found = index.queries(batch, limit=limit, minimum=minimum, since=since, until=until, measure=measure)
            for asked, matches in zip(batch.column("doc_id").to_pylist(), found, strict=True):
                if as_json:
                    told = {"asked": asked, "matches": [match.to_dict() for match in matches]}
                    sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
                    continue
                for match in matches:
                    scores = (match.resemblance, match.containment, match.contained_in)
                    shown = ("–" if score is None else f"{score:.4f}" for score in scores)
                    said = "yes" if match.estimated else "no"
                    print(asked, match.doc_id, match.cluster_id, *shown, said, sep="\t")
    _rejected(rejects)


@app.command()
def remove(where: Where, ids: Ids, key_file: KeyFile = None, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Take documents out; they never match again."""
    with _opened(where, key_file) as index:
        _gone("removed", index.remove, _ids(ids), as_json, quiet)


@app.command()
def revoke(where: Where, ids: Ids, key_file: KeyFile = None, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Declare that the texts of documents match nothing, now and whenever they are added again."""
    with _opened(where, key_file) as index:
        _gone("revoked", index.revoke, _ids(ids), as_json, quiet)


@app.command()
def expire(
    where: Where,
    before: Annotated[str | None, typer.Option("--before", help="Documents dated before this day.")] = None,
    older_than: Annotated[
        str | None, typer.Option("--older-than", help="Documents added longer ago, such as 42d, 36h or 90m.")
    ] = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Take out documents that are too old, by their date or by when they were added."""
    seconds = None if older_than is None else _seconds(older_than)
    with _opened(where, key_file) as index:
        gone = index.expire(before=before, older_than=seconds)
    if as_json:
        _print({"expired": gone})
    elif not quiet:
        print(f"expired     {gone:,}")


@app.command()
def stats(where: Where, key_file: KeyFile = None, as_json: AsJson = False) -> None:
    """Print how much an index holds."""
    with _opened(where, key_file, compile=False) as index:
        told = index.stats()
    if as_json:
        _print(told.to_dict())
        return
    a_document = told.bytes / max(told.documents, 1)
    print(f"index       {told.where}, format {told.format}")
    print(f"method      {told.method}, fingerprint {told.fingerprint}, stores {told.store}")
    print(f"documents   {told.documents:,} of {told.contents:,} texts in {told.clusters:,} clusters")
    print(f"revoked     {told.revoked:,} texts")
    print(f"dated       {told.oldest} to {told.newest}" if told.oldest else "dated       none")
    print(f"size        {told.bytes / 1e6:,.1f} MB, {a_document:,.0f} bytes a document; {told.keys:,} keys")


@app.command()
def verify(
    where: Where,
    sample: Annotated[int | None, typer.Option("--sample", help="Make the keys of so many texts again only.")] = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Check that an index is whole: every row has what it needs, and keys are those of the texts."""
    with _opened(where, key_file) as index:
        check = index.verify(sample)
    if as_json:
        _print(check.to_dict())
    else:
        print(f"looked at   {check.documents:,} documents, {check.contents:,} texts, {check.keys:,} keys")
        print(f"compared    {check.compared:,} texts with their keys")
        for problem in check.problems:
            print(f"wrong       {problem}")
        print("whole       yes" if check.whole else "whole       no: restore it from a copy, or import it again")
    if not check.whole:
        raise typer.Exit(3)


@app.command()
def export(
    where: Where,
    output: Annotated[Path, typer.Option("-o", "--output", help="Parquet file of all documents to write.")],
    pairs: Annotated[Path | None, typer.Option("--pairs", help="Parquet file of all pairs to write.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")] = False,
    key_file: KeyFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write all documents to a Parquet file, with their texts where these are stored."""
    from roughly.signing.signature_file import check_output

    with _opened(where, key_file) as index:
        if pairs is not None:
            check_output(pairs, overwrite)
        count = index.export(output, overwrite=overwrite)
        if pairs is not None:
            import pyarrow.parquet as pq

            from roughly.sources.streams import replacing

            with replacing(pairs) as target:
                pq.write_table(index.pairs(), target, compression="zstd")
    if as_json:
        _print({"output": str(output), "documents": count})
    elif not quiet:
        print(f"written     {count:,} documents to {output}")


@app.command("import")
def import_(
    where: Where,
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="The folder that `roughly dedupe` wrote.")],
    inputs: Annotated[list[str] | None, typer.Option("--input", help="The run's input, where it has moved.")] = None,
    store: Store = "text",
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    title_column: TitleColumn = None,
    url_column: UrlColumn = None,
    date_column: DateColumn = None,
    source_column: SourceColumn = None,
    format: Format = None,
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    temp: Annotated[Path | None, typer.Option("--temp", help="Folder to work in.")] = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make an index of a run, by bulk load: its settings, its documents, its clusters."""
    from dataclasses import replace

    from roughly.index.upkeep.import_run import import_run, read_run

    key = None if key_file is None else str(key_file)
    settings, _ = read_run(folder, key)
    reading = _reading(text_column, id_column, title_column, url_column, date_column, source_column, format)
    start = time.perf_counter()
    count = import_run(
        folder, where, inputs=inputs, store=store, key_file=key, reading=replace(reading, markup=settings.markup),
        resources=Resources(threads=threads, temp=temp),
    )  # fmt: skip
    seconds = time.perf_counter() - start
    if as_json:
        _print({"index": where, "documents": count, "seconds": seconds})
    elif not quiet:
        print(f"imported    {count:,} documents in {seconds:.1f} s")


@app.command()
def upgrade(where: Where, key_file: KeyFile = None, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Bring an index of an older version of roughly to this version's format."""
    from roughly.index import Index

    before, now = Index.upgrade(where, key_file=key_file)
    if as_json:
        _print({"before": before, "now": now})
    elif not quiet:
        print(f"format      {now}" + ("" if before != now else ", as it was"))


@app.command()
def refresh(
    where: Where,
    lexicon: Annotated[Path, typer.Option("--lexicon", help="The new lexicon's file.")],
    key_file: KeyFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Sign all texts with another lexicon, while the index is in use; repeat the command after an interruption."""
    with _opened(where, key_file) as index:
        done = index.refresh(lexicon)
        told = {
            "contents": done.contents, "changed": done.changed, "resumed": done.resumed,
            "fingerprint": index.fingerprint,
        }  # fmt: skip
    if as_json:
        _print(told)
    elif not quiet:
        share = done.changed / max(done.contents, 1)
        print(f"signed      {done.contents:,} texts again; the keys of {done.changed:,} changed ({share:.1%})")
        print(f"fingerprint {told['fingerprint']}")


def _opened(where: str, key_file: Path | None, compile: bool = True) -> Index:
    from roughly.index import Index

    index = Index.open(where, key_file=key_file)
    return index


def _reading(
    text: str | None, doc_id: str | None, title: str | None, url: str | None, date: str | None, source: str | None,
    format: str | None,
) -> Any:  # fmt: skip
    from roughly.settings import ReadOptions

    return ReadOptions(
        text_column=text, id_column=doc_id, title_column=title, url_column=url, date_column=date, source_column=source,
        format=format,
    )  # fmt: skip


def _batches(inputs: list[str], reading: Any, markup: str, rejects: list[Any]) -> Iterator[Any]:
    """Documents of files, a batch at a time; what could not be read is put aside."""
    from dataclasses import replace

    from roughly.sources import open_parts

    with tempfile.TemporaryDirectory(prefix="roughly-index-") as spool:
        for part in open_parts(inputs, replace(reading, markup=markup), Path(spool)):
            for chunk in part.chunks():
                parsed = part.parse(chunk)
                rejects += parsed.rejects
                if parsed.batch.num_rows:
                    yield parsed.batch


def _rejected(rejects: list[Any]) -> None:
    for reject in rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if rejects:
        print(f"{len(rejects):,} records were rejected", file=sys.stderr)
        raise typer.Exit(3)


def _ids(given: list[str]) -> list[str]:
    if given != ["-"]:
        return given
    return [line.rstrip("\r\n") for line in sys.stdin if line.strip()]


def _gone(what: str, work: Any, ids: list[str], as_json: bool, quiet: bool) -> None:
    there = work(ids)
    missing = [doc_id for doc_id in dict.fromkeys(ids) if doc_id not in set(there)]
    if as_json:
        _print({what: len(there), "missing": missing})
    elif not quiet:
        print(f"{what:<12}{len(there):,}")
    for doc_id in missing[:_TOLD]:
        print(f"not there: {doc_id}", file=sys.stderr)
    if missing:
        raise typer.Exit(3)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip())
    if not match:
        raise SettingsError(f"older-than must be a time such as 42d, 36h or 90m, not {text!r}")
    return float(match[1]) * _UNITS[match[2]]


def _print(told: dict[str, Any]) -> None:
    json.dump(told, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
