"""`roughly cluster`: stored sketches or signatures in, clusters out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from roughly.settings import CLUSTERINGS, MARKUP, MEASURES, Resources, parse_size


def cluster(
    stored: Annotated[
        list[Path], typer.Argument(help="Folders of `roughly sketch`, or files of `roughly sign`, made alike.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Parquet file of all documents to write."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output where it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="How alike duplicates are; of sketches 0.5 if not given.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", help=" or ".join(MEASURES) + ", the first if not given.")
    ] = None,
    cluster: Annotated[str, typer.Option("--cluster", help=" or ".join(CLUSTERINGS) + ".")] = "star",
    common: Annotated[
        int | None, typer.Option("--common", help="A key in more documents forms no pairs; of sketches 1000.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="The documents themselves, for exact scores: a file, folder or glob.")
    ] = None,
    shingle_size: Annotated[
        int | None, typer.Option("--shingle-size", help="Words in a shingle of --text; as stored if not given.")
    ] = None,
    text_column: Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")] = None,
    id_column: Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Instead of guessing it from the name.")] = None,
    markup: Annotated[str, typer.Option("--markup", help="Strip HTML: " + ", ".join(MARKUP) + ".")] = "auto",
    main_text: Annotated[
        bool | None, typer.Option("--main-text", help="Of HTML, the main text only; of sketches as stored.")
    ] = None,
    memory: Annotated[str, typer.Option("--memory", help="For grouping, beside what is stored.")] = "4GB",
    threads: Annotated[int, typer.Option("--threads", help="0: one a core.")] = 0,
) -> None:
    """Cluster documents by their sketches or signatures, without the texts or with them."""
    from roughly.errors import SettingsError
    from roughly.settings import ReadOptions
    from roughly.signing.signature_file import check_output
    from roughly.tools.recluster.stored_clusters import ReclusterRequest, cluster_stored, read_stored

    if markup not in MARKUP:
        raise SettingsError(f"markup must be one of {', '.join(MARKUP)}, not {markup!r}")
    if output is not None:
        check_output(output, overwrite)
    asked = ReclusterRequest(
        threshold=threshold, measure=measure, common=common, cluster=cluster, shingle_size=shingle_size,
        main_text=main_text,
    )  # fmt: skip
    reading = ReadOptions(text_column=text_column, id_column=id_column, markup=markup, format=format)  # type: ignore[arg-type]
    resources = Resources(threads=threads, memory=parse_size(memory))
    held = read_stored(stored)
    found = cluster_stored(held, asked, texts=text, resources=resources, reading=reading)
    if held.judge.on == "text" and text is None:
        print(
            f"note: {held.method} verifies pairs on texts, which signatures do not hold; clusters are candidates "
            "(add --text for verified ones)",
            file=sys.stderr,
        )
    clusters = found.clusters
    inside = sum(map(len, clusters.values()))
    if output is not None:
        import pyarrow.parquet as pq

        from roughly.lexicon.writer import room
        from roughly.sources.streams import replacing

        with room(output), replacing(output) as target:
            pq.write_table(found.documents, target, compression="zstd")
    if as_json:
        told = {
            **found.counts, "clusters": len(clusters), "clustered": inside,
            "largest": max(map(len, clusters.values()), default=0), "scores": found.scores,
            "fingerprint": held.fingerprint,
        } | ({"output": str(output)} if output else {"members": clusters})  # fmt: skip
        json.dump(told, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif output is not None:
        counts = found.counts
        print(f"clusters    {output}")
        print(f"documents   {counts['documents']:,}, {inside:,} of them in {len(clusters):,} clusters of two or more")
        print(f"stay        {counts['kept']:,}; {counts['removed']:,} go; scores: {found.scores}")
    else:
        print("doc_id\tcluster_id")
        for name, listed in clusters.items():
            for document in listed:
                print(f"{document}\t{name}")
