"""`roughly cluster`: signatures in, clusters out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def cluster(
    signatures: Annotated[list[Path], typer.Argument(help="Parquet files of `roughly sign`, made alike.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Parquet file of all documents to write."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Group documents by their signatures alone."""
    import pyarrow.parquet as pq

    from roughly.lexicon.write import room
    from roughly.signatures.clusters import cluster_signatures, is_unverified
    from roughly.signatures.file import check_output, read_signatures
    from roughly.sources.streams import replacing

    if output is not None:
        check_output(output, overwrite)
    held = read_signatures(signatures)
    found = cluster_signatures(held)
    if is_unverified(held):
        print(
            f"note: {held.made.method} verifies pairs on texts, which signatures do not hold; clusters are candidates",
            file=sys.stderr,
        )
    members: dict[str, list[str]] = {}
    for document, name in zip(found["doc_id"].to_pylist(), found["cluster_id"].to_pylist(), strict=True):
        members.setdefault(name, []).append(document)
    clusters = {name: listed for name, listed in members.items() if len(listed) > 1}
    inside = sum(map(len, clusters.values()))
    if output is not None:
        with room(output), replacing(output) as target:
            pq.write_table(found, target, compression="zstd")
    if as_json:
        told = {
            "documents": len(held), "clusters": len(clusters), "clustered": inside,
            "largest": max(map(len, clusters.values()), default=0), "fingerprint": held.made.fingerprint,
        } | ({"output": str(output)} if output else {"members": clusters})  # fmt: skip
        json.dump(told, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif output is not None:
        print(f"clusters    {output}")
        print(f"documents   {len(held):,}, {inside:,} of them in {len(clusters):,} clusters of two or more")
    else:
        print("doc_id\tcluster_id")
        for name, listed in clusters.items():
            for document in listed:
                print(f"{document}\t{name}")
