"""`roughly cluster`: stored sketches or signatures in, clusters out."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from roughly.console.common_options import Printing
from roughly.declarations import argument, group, option
from roughly.tools.recluster.request import ReclusterRun

_OFFERED = (
    "threshold", "measure", "cluster", "common", "shingle_size", "text_column", "id_column", "format", "markup",
    "main_text", "memory", "threads",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Options of the command `cluster`."""

    stored: list[Path] = argument(help="Folders of `roughly sketch`, or files of `roughly sign`, made alike.")
    output: Path | None = option(None, "Parquet file of all documents to write.", "-o", "--output")
    printing: Printing = group(Printing, "overwrite", "as_json")
    run: ReclusterRun = group(ReclusterRun, *_OFFERED)
    text: str | None = option(None, "The documents themselves, for exact scores: a file, folder or glob.")


def cluster(options: ClusterOptions) -> None:
    """Cluster documents by their sketches or signatures, without the texts or with them."""
    from roughly.signing.signature_file import check_output
    from roughly.tools.recluster.stored_clusters import cluster_stored, read_stored

    if options.output is not None:
        check_output(options.output, options.printing.overwrite)
    held = read_stored(options.stored)
    found = cluster_stored(held, options.run, texts=options.text)
    if held.judge.on == "text" and options.text is None:
        print(
            f"note: {held.method} verifies pairs on texts, which signatures do not hold; clusters are candidates "
            "(add --text for verified ones)",
            file=sys.stderr,
        )
    clusters = found.clusters
    inside = sum(map(len, clusters.values()))
    if options.output is not None:
        import pyarrow.parquet as pq

        from roughly.lexicon.lexicon_writer import room
        from roughly.sources.streams import replacing

        with room(options.output), replacing(options.output) as target:
            pq.write_table(found.documents, target, compression="zstd")
    if options.printing.as_json:
        summary = {
            **found.counts, "clusters": len(clusters), "clustered": inside,
            "largest": max(map(len, clusters.values()), default=0), "scores": found.scores,
            "fingerprint": held.fingerprint,
        } | ({"output": str(options.output)} if options.output else {"members": clusters})  # fmt: skip
        json.dump(summary, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif options.output is not None:
        counts = found.counts
        print(f"clusters    {options.output}")
        print(f"documents   {counts['documents']:,}, {inside:,} of them in {len(clusters):,} clusters of two or more")
        print(f"stay        {counts['kept']:,}; {counts['removed']:,} go; scores: {found.scores}")
    else:
        print("doc_id\tcluster_id")
        for name, listed in clusters.items():
            for document in listed:
                print(f"{document}\t{name}")
