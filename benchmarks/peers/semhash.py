"""semhash: static embeddings and nearest neighbours; another idea of a duplicate, shown for its speed.

Its default model comes from the Hugging Face hub; `SEMHASH_MODEL` may name a local folder instead. Without
either the row says so. A filtered record joins those that it was found to duplicate.
"""

from __future__ import annotations

import os

from model2vec import StaticModel  # type: ignore[import-not-found]
from semhash import SemHash  # type: ignore[import-not-found]

from benchmarks.peers import THRESHOLD
from benchmarks.peers.protocol import Components, arguments, read_documents, write_clusters


def main() -> None:
    """Deduplicate a JSONL file."""
    source, out = arguments()
    records = [{"id": doc_id, "text": text} for doc_id, text in read_documents(source)]
    folder = os.environ.get("SEMHASH_MODEL")
    model = StaticModel.from_pretrained(folder) if folder else None
    result = SemHash.from_records(records=records, columns=["text"], model=model).self_deduplicate(threshold=THRESHOLD)
    places = {record["id"]: place for place, record in enumerate(records)}
    components = Components(len(records))
    for duplicate in result.filtered:
        for other, _ in duplicate.duplicates:
            components.join(places[duplicate.record["id"]], places[other["id"]])
    selected = {record["id"] for record in result.selected}
    kept = [doc_id in selected for doc_id in places]
    write_clusters(out, zip(places, components.roots(), kept, strict=True))
    with source.open("rb") as lines, (out / "kept.jsonl").open("wb") as file:
        file.writelines(line for line, stays in zip(lines, kept, strict=True) if stays)


if __name__ == "__main__":
    main()
