"""`roughly group`: ranked results in, duplicates grouped and indented under the first, nothing discarded."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from roughly.console.method_options import NAMES, with_method_options
from roughly.settings import MARKUP, MEASURES, Settings

SHOW = ("rank", "newest", "oldest", "longest")
_TOLD = 5  # rejects named one by one


@with_method_options
def group(
    context: typer.Context,
    results: Annotated[list[str], typer.Argument(help="Results, best first: files, or - for standard input.")],
    show: Annotated[str, typer.Option("--show", help="Who is shown: " + ", ".join(SHOW) + ".")] = "rank",
    index: Annotated[
        str | None, typer.Option("--index", help="An index that holds them: texts are not needed.")
    ] = None,
    signatures: Annotated[
        Path | None, typer.Option("--signatures", help="A file of `roughly sign` that holds them.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    method: Annotated[str, typer.Option("--method", help=f"{NAMES}.")] = "minhash",
    threshold: Annotated[float, typer.Option("--threshold", help="How alike duplicates are.")] = 0.8,
    recall: Annotated[float, typer.Option("--recall", help="minhash: least share of such pairs to find.")] = 0.99,
    measure: Annotated[str, typer.Option("--measure", help=" or ".join(MEASURES) + ".")] = "resemblance",
    shingle_size: Annotated[int, typer.Option("--shingle-size", help="Words in a shingle.")] = 5,
    verify: Annotated[bool, typer.Option("--verify", help="Judge exactly, on the texts, whatever the method.")] = False,
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
) -> None:
    """Group ranked results: duplicates are indented under the one that is shown."""
    from roughly.errors import InputMissing, SettingsError

    settings = None
    key_file = method_options.pop("key_file", None) if index is not None else None
    if index is None and signatures is None:
        settings = Settings.gather(
            {
                "method": method, "threshold": threshold, "recall": recall, "measure": measure, "verify": verify,
                "shingle_size": shingle_size, "markup": markup, "main_text": main_text,
            },
            method_options,
        )  # fmt: skip
    elif given := [
        *_given(context, "method", "threshold", "recall", "measure", "shingle_size", "verify"),
        *method_options,
    ]:
        stored = "index" if index is not None else "signatures"
        raise SettingsError(f"the {stored} has settings of its own; leave out --{', --'.join(given).replace('_', '-')}")
    from roughly.results.group import group_results
    from roughly.settings import ReadOptions

    columns = {
        "text_column": text_column, "id_column": id_column, "title_column": title_column, "url_column": url_column,
        "date_column": date_column, "source_column": source_column, "format": format, "markup": markup,
    }  # fmt: skip
    documents, rejects = _read(results, ReadOptions(**columns), texts=settings is not None)  # type: ignore[arg-type]
    for reject in rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if not documents:
        raise InputMissing(f"no results in {', '.join(results)}")
    if index is not None:
        from roughly.index import Index

        with Index.open(index, key_file=key_file) as opened:
            found = group_results(documents, show=show, index=opened, signatures=signatures)
    else:
        found = group_results(documents, show=show, settings=settings, signatures=signatures)
    if as_json:
        json.dump(found.to_dict(), sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        from roughly.report.visible import reveal

        print(reveal(str(found)))
        print(f"{found.results:,} results in {len(found):,} groups; scores: {found.scores}", file=sys.stderr)
    if rejects:
        raise typer.Exit(3)


def _given(context: typer.Context, *names: str) -> list[str]:
    """Those of the options that were given."""
    found = []
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name != "DEFAULT":
            found.append(name)
    return found


def _read(inputs: list[str], options: Any, *, texts: bool) -> tuple[list[dict[str, Any]], list[Any]]:
    """The results in the order of the files; where texts are not needed, the id stands for the text."""
    from roughly.sources import open_parts

    documents: list[dict[str, Any]] = []
    rejects: list[Any] = []
    with tempfile.TemporaryDirectory(prefix="roughly-group-") as spool:
        parts = open_parts(inputs, options, Path(spool)) if texts else _by_id(inputs, options, Path(spool))
        for part in parts:
            for chunk in part.chunks():
                parsed = part.parse(chunk)
                documents += [_plain(row, part.kept_name, texts) for row in parsed.batch.to_pylist()]
                rejects += parsed.rejects
    return documents, rejects


def _plain(row: dict[str, Any], file: str, texts: bool) -> dict[str, Any]:
    """The result without what the reader had to make up."""
    if row["source"] == file:
        del row["source"]
    if not texts:
        del row["text"]
    return row


def _by_id(inputs: list[str], options: Any, spool: Path) -> Any:
    from dataclasses import replace

    from roughly.errors import InputError, InputMissing
    from roughly.sources import open_parts

    for name in [options.id_column] if options.id_column else ["doc_id", "id"]:
        try:
            return open_parts(inputs, replace(options, text_column=name, id_column=name), spool)
        except InputMissing:
            raise
        except InputError as problem:
            if "no column" not in str(problem):
                raise
            last = problem
    raise InputError(str(last).replace("--text-column", "--id-column"))
