"""Google's deduplicate-text-datasets: make, self-similar and collect, then what its scripts do, from texts to texts.

    python -m benchmarks.peers.deduplicate_text_datasets INPUT.jsonl OUT BINARY

It works on bytes: a run of at least `LEAST_BYTES` that occurs twice is removed wherever it occurs, the
first time too. Every text has a separator with its number before it, as in `load_dataset.py`. `make` builds the suffix
array in one piece, which takes less CPU time than parts that are merged.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.peers import LEAST_BYTES, WORKERS
from benchmarks.peers.protocol import read_documents

SEPARATOR = b"\xff\xff"


def main() -> None:
    """Remove repeated runs of bytes from a JSONL file."""
    source, out, binary = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    (out / "cache").mkdir(parents=True)
    data, ids, begins = out / "texts", [], []
    with data.open("wb") as file:
        for number, (doc_id, text) in enumerate(read_documents(source)):
            file.write(SEPARATOR + struct.pack("<I", number))
            ids.append(doc_id)
            begins.append(file.tell())
            file.write(text.encode())
        ends = [begin - len(SEPARATOR) - 4 for begin in begins[1:]] + [file.tell()]

    def call(command: str, *options: str) -> str:
        whole = [binary, command, "--data-file", str(data), *options]
        return subprocess.run(whole, check=True, capture_output=True, text=True).stdout

    cached = ("--length-threshold", str(LEAST_BYTES), "--cache-dir", str(out / "cache"))
    call("make")
    call("self-similar", *cached, "--num-threads", str(WORKERS))
    _, _, listed = call("collect", *cached).partition("out\n")
    ranges = [(int(start), int(end)) for start, end in map(str.split, listed.splitlines())]
    (out / "kept").mkdir()
    texts = kept_texts(data.read_bytes(), list(zip(begins, ends, strict=True)), ranges)
    with (out / "kept" / "kept.jsonl").open("w", encoding="utf-8") as kept:
        kept.writelines(
            json.dumps({"id": doc_id, "text": text}) + "\n" for doc_id, text in zip(ids, texts, strict=True)
        )


def kept_texts(content: bytes, places: list[tuple[int, int]], ranges: list[tuple[int, int]]) -> Iterator[str]:
    """What is left of the texts at `places` (begin, end) without the bytes in `ranges`; both are in order."""
    at = 0
    for begin, end in places:
        left, here = [], begin
        while at < len(ranges) and ranges[at][0] < end:
            left.append(content[here : max(here, ranges[at][0])])
            here = max(here, min(end, ranges[at][1]))
            if ranges[at][1] > end:  # it goes on in the next text
                break
            at += 1
        left.append(content[here:end])
        yield b"".join(left).decode("utf-8", "ignore")


if __name__ == "__main__":
    main()
