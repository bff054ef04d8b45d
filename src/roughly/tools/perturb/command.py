"""`roughly perturb`: edited copies of documents, with labels."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def perturb(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders or globs of documents.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write; must not hold a run.")],
    kind: Annotated[str, typer.Option("--kind", help="Kinds of copies with commas, or all.")] = "words",
    alpha: Annotated[float, typer.Option("--alpha", help="Of ten, how much stays as it is.")] = 9.0,
    every: Annotated[int, typer.Option("--every", help="words: words between two that may change.")] = 10,
    added: Annotated[
        str, typer.Option("--added", help="words: words put in are from terms, text or document.")
    ] = "terms",
    versions: Annotated[int, typer.Option("--versions", help="split: versions of a campaign.")] = 3,
    copies: Annotated[int, typer.Option("--copies", help="Of each document and kind.")] = 1,
    documents: Annotated[int, typer.Option("--documents", help="Copy so many, drawn by chance; 0: all.")] = 0,
    originals: Annotated[
        bool, typer.Option("--originals/--no-originals", help="Whether the originals are written too.")
    ] = True,
    shingle_size: Annotated[int, typer.Option("--shingle-size", help="Words in a shingle, for the labels.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Of all that is drawn.")] = 0,
    format: Annotated[str, typer.Option("--format", help="Of the documents written: parquet or jsonl.")] = "parquet",
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the run in the output folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No summary.")] = False,
) -> None:
    """Make edited copies of documents, each labelled with its source and how much they share."""
    from roughly.tools.perturb.api import perturb as make

    kinds = "all" if kind.strip() == "all" else [name.strip() for name in kind.split(",") if name.strip()]
    done = make(
        inputs, output=output, kinds=kinds, alpha=alpha, every=every, added=added, versions=versions, copies=copies,
        documents=documents, originals=originals, shingle_size=shingle_size, format=format, seed=seed,
        overwrite=overwrite, text_column=text_column,
    )  # fmt: skip
    if as_json:
        json.dump({"output": str(output)} | done.summary(), sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif not quiet:
        print(f"{'kind':<12} {'copies':>8}  mean resemblance")
        for name, figures in done.kinds.items():
            print(f"{name:<12} {figures['copies']:>8,}  {figures['resemblance']:.3f}")
        print(f"documents   {output / f'documents.{format}'}: {done.originals:,} originals, {done.copies:,} copies")
        print(f"labels      {output / 'pairs.csv'}")
