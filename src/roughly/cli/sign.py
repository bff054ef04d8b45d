"""`roughly sign`: documents in, signatures out, for a database or a search engine to keep."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from roughly.settings import MARKUP, Resources

_TOLD = 5  # rejects named one by one


def sign(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders, globs, URLs, or - for standard input.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Parquet file to write; must not exist.")],
    method: Annotated[
        str, typer.Option("--method", help="minhash, syntactic, imatch, rare-terms or term-vector.")
    ] = "imatch",
    threshold: Annotated[float | None, typer.Option("--threshold", help="minhash: similarity to find.")] = None,
    recall: Annotated[
        float | None, typer.Option("--recall", help="minhash: least share of such pairs to find.")
    ] = None,
    shingle_size: Annotated[int | None, typer.Option("--shingle-size", help="minhash: words in a shingle.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="minhash: of the permutations.")] = None,
    filter: Annotated[
        str | None, typer.Option("--filter", help="Of sw, tg5, tl25, nosc, stem; for imatch also one like IDF-L-10.")
    ] = None,
    lexicon: Annotated[
        str | None, typer.Option("--lexicon", help="A lexicon's file; if not given, the one that comes with roughly.")
    ] = None,
    norm: Annotated[str | None, typer.Option("--norm", help="Scale of idf: conrad or imatch.")] = None,
    lexicons: Annotated[int | None, typer.Option("--lexicons", help="imatch: randomised lexicons beside it.")] = None,
    dropped: Annotated[float | None, typer.Option("--dropped", help="imatch: share of terms that each drops.")] = None,
    min_terms: Annotated[int | None, typer.Option("--min-terms", help="Fewest terms that make a signature.")] = None,
    min_share: Annotated[
        float | None, typer.Option("--min-share", help="imatch: least share of a document's terms in its signature.")
    ] = None,
    secondary: Annotated[
        bool, typer.Option("--secondary", help="imatch: rarer terms where there are too few.")
    ] = False,
    unsigned: Annotated[
        str | None, typer.Option("--unsigned", help="imatch: documents without a signature, keep or all-terms.")
    ] = None,
    key_file: Annotated[Path | None, typer.Option("--key-file", help="imatch: file of a secret key.")] = None,
    terms: Annotated[int | None, typer.Option("--terms", help="rare-terms, term-vector: terms in a signature.")] = None,
    most_idf: Annotated[
        float | None, typer.Option("--most-idf", help="rare-terms: terms of a higher idf are left out.")
    ] = None,
    bin: Annotated[
        int | None, typer.Option("--bin", help="rare-terms: places are rounded up to multiples of it.")
    ] = None,
    shared: Annotated[int | None, typer.Option("--shared", help="term-vector: terms that duplicates share.")] = None,
    dates: Annotated[
        int | None, typer.Option("--dates", help="term-vector: days that duplicates may be apart.")
    ] = None,
    lengths: Annotated[
        float | None, typer.Option("--lengths", help="Share that lengths of duplicates may differ by.")
    ] = None,
    min_df: Annotated[
        int | None, typer.Option("--min-df", help="Only terms in so many documents of the lexicon.")
    ] = None,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    date_column: Annotated[str | None, typer.Option("--date-column", help="Column that holds the date.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")] = False,
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Write the signatures of documents to a Parquet file."""
    from roughly.errors import SettingsError
    from roughly.signatures.named import make_method
    from roughly.sources.part import ReadOptions

    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    made = make_method(
        method,
        {
            "filter": filter, "lexicon": lexicon, "norm": norm, "lexicons": lexicons, "dropped": dropped,
            "min_terms": min_terms, "min_share": min_share, "secondary": secondary or None, "unsigned": unsigned,
            "key_file": key_file, "terms": terms, "most_idf": most_idf, "bin": bin, "shared": shared, "dates": dates,
            "lengths": lengths, "min_df": min_df, "threshold": threshold, "recall": recall,
            "shingle_size": shingle_size, "seed": seed,
        },
    )  # fmt: skip
    reading = ReadOptions(
        text_column=text_column, id_column=id_column, date_column=date_column, markup=markup, format=format  # type: ignore[arg-type]
    )  # fmt: skip
    from roughly.cli.progress import Progress, compiled
    from roughly.signatures.sign import run_sign

    if not quiet:
        compiled()
    start = time.perf_counter()
    with Progress(quiet) as progress:
        signed = run_sign(
            None, inputs, output=output, method=made, overwrite=overwrite, main_text=main_text,
            resources=Resources(threads=threads), reading=reading, listener=progress,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    for reject in signed.rejects[:_TOLD]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if as_json:
        told = {
            "output": str(output), "documents": signed.documents, "unsigned": signed.unsigned,
            "rejected": len(signed.rejects), "text_bytes": signed.text_bytes, "seconds": seconds,
            "guesses": signed.notes, **signed.made.to_dict(),
        }  # fmt: skip
        json.dump(told, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not quiet:
        print(f"signatures  {output}, {signed.made.method}, fingerprint {signed.made.fingerprint}")
        print(f"documents   {signed.documents:,}, {signed.unsigned:,} of them without a signature")
        for note in signed.notes:
            print(f"guessed     {note}")
        speed = signed.text_bytes / max(seconds, 1e-9) / 1e6
        print(f"took        {seconds:.1f} s, {speed:,.0f} MB/s; {len(signed.rejects):,} records rejected")
    if signed.rejects:
        raise typer.Exit(3)
