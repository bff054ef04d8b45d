"""`roughly cluster`: stored sketches or signatures, or features of objects, in, clusters out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from roughly.amounts import counted
from roughly.console.common_options import Printing
from roughly.console.terminal_output import print_json
from roughly.declarations import argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.tools.recluster.request import ReclusterRun

if TYPE_CHECKING:
    from roughly.tools.recluster.clustering import Clustering

_OFFERED = (
    "threshold", "measure", "cluster", "common", "shingle_size", "text_column", "id_column", "format", "markup",
    "main_text", "memory", "threads", "temp",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Options of the command `cluster`."""

    stored: list[Path] = argument(
        help="Folders of `roughly sketch`, files of `roughly sign`, made with the same settings, or files of features."
    )
    output: Path | None = option(None, "Parquet file of all documents to write.", "-o", "--output")
    printing: Printing = group(Printing, "overwrite", "as_json")
    run: ReclusterRun = group(ReclusterRun, *_OFFERED)
    text: str | None = option(None, "The documents themselves, for exact scores: a file, folder or glob.")
    features: str | None = option(
        None, "Column with a list of strings or numbers per object: cluster these (Parquet or JSON lines)."
    )


def cluster(options: ClusterOptions) -> None:
    """Cluster documents by their sketches or signatures, without the texts or with them."""
    from roughly.signing.signature_file import check_output

    if options.output is not None:
        check_output(options.output, options.printing.overwrite)
    found, fingerprint = _by_features(options) if options.features is not None else _by_stored(options)
    clusters = found.clusters
    inside = sum(map(len, clusters.values()))
    if options.output is not None:
        import pyarrow.parquet as pq

        from roughly.lexicon.lexicon_writer import room
        from roughly.sources.streams import replacing

        with room(options.output), replacing(options.output) as target:
            pq.write_table(found.documents.to_arrow(), target, compression="zstd")
    if options.printing.as_json:
        summary = {
            **found.counts, "clusters": len(clusters), "clustered": inside,
            "largest": max(map(len, clusters.values()), default=0), "scores": found.scores, **fingerprint,
        } | ({"output": str(options.output)} if options.output else {"members": clusters})  # fmt: skip
        print_json(summary)
    elif options.output is not None:
        counts = found.counts
        print(f"clusters    {options.output}")
        several = f"{counted(len(clusters), 'cluster')} of two or more"
        print(f"documents   {counts['documents']:,}, {inside:,} of them in {several}")
        print(f"kept        {counts['kept']:,}; {counts['removed']:,} removed; scores: {found.scores}")
    else:
        print("doc_id\tcluster_id")
        for name, listed in clusters.items():
            for document in listed:
                print(f"{document}\t{name}")


def _by_stored(options: ClusterOptions) -> tuple[Clustering, dict[str, str]]:
    """Clusters of sketches or signatures, and their fingerprint."""
    from roughly.tools.recluster.stored_clusters import cluster_stored, read_stored

    stored = read_stored(options.stored, options.run.resources)
    found = cluster_stored(stored, options.run, texts=options.text)
    if stored.judge.on == "text" and options.text is None:
        print(
            f"note: {stored.method} verifies pairs on texts, which signatures do not have; clusters are candidates "
            "(add --text for verified ones)",
            file=sys.stderr,
        )
    return found, {"fingerprint": stored.fingerprint}


def _by_features(options: ClusterOptions) -> tuple[Clustering, dict[str, str]]:
    """Clusters of objects by their own features."""
    from roughly.errors import SettingsError
    from roughly.tools.recluster.objects_api import cluster_feature_files
    from roughly.tools.recluster.request import FeatureRequest

    if options.text is not None:
        raise SettingsError("--features clusters objects by their features, which have no texts; leave --text out")
    wanted, columns = options.run.request, options.run.reading
    given = {name: getattr(wanted, name) for name in ("threshold", "measure", "cluster", "common", "shingle_size")}
    given |= {"id_column": columns.id_column, "features_column": options.features}
    chosen = {name: value for name, value in given.items() if value is not None}
    return cluster_feature_files(options.stored, FeatureRequest(**chosen, resources=options.run.resources)), {}
