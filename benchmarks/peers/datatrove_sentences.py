"""datatrove: its three stages of sentence deduplication, three sentences at a time, spaCy's for English.

The input is split into two files, one per worker. Documents of which little is left are kept, so that what is counted
as lost is what its hashes removed.
"""

from __future__ import annotations

from datatrove.executor.local import LocalPipelineExecutor  # type: ignore[import-not-found]
from datatrove.pipeline.dedup.sentence_dedup import (  # type: ignore[import-not-found]
    SentDedupConfig,
    SentenceDedupFilter,
    SentenceDedupSignature,
    SentenceFindDedups,
)
from datatrove.pipeline.readers import JsonlReader  # type: ignore[import-not-found]
from datatrove.pipeline.writers.jsonl import JsonlWriter  # type: ignore[import-not-found]

from benchmarks.peers import WORKERS
from benchmarks.peers.datatrove import split
from benchmarks.peers.protocol import arguments


def main() -> None:
    """Remove repeated sentences from a JSONL file."""
    source, out = arguments()
    split(source, out / "input")
    config = SentDedupConfig(n_sentences=3, min_doc_words=0, min_num_sentences=0)
    reader = JsonlReader(str(out / "input"), text_key="text", id_key="id")
    signatures, found = str(out / "signatures"), str(out / "found")
    stages = (
        ([reader, SentenceDedupSignature(signatures, config=config)], WORKERS),
        ([SentenceFindDedups(signatures, found, config=config)], 1),
        (
            [reader, SentenceDedupFilter(found, config=config), JsonlWriter(str(out / "kept"), compression=None)],
            WORKERS,
        ),
    )
    for number, (pipeline, tasks) in enumerate(stages):
        LocalPipelineExecutor(
            pipeline=pipeline, tasks=tasks, workers=WORKERS, logging_dir=str(out / f"log-{number}"), start_method="fork"
        ).run()


if __name__ == "__main__":
    main()
