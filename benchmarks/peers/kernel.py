"""Time a peer's tokenising and sketching alone, on one thread: `python -m benchmarks.peers.kernel NAME INPUT REPEATS`.

Runs in the peer's own environment. Texts are in memory as Python strings before the clock starts; the fastest of the
repeats is printed as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

from benchmarks.peers.protocol import CHUNK, read_documents


def main() -> None:
    """Time `sketch` of the named peer module."""
    name, source, repeats = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    sketch = importlib.import_module(f"benchmarks.peers.{name}").sketch
    texts = [text for _, text in read_documents(source)]
    sketch(texts[:20])
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        for start in range(0, len(texts), CHUNK):
            sketch(texts[start : start + CHUNK])
        times.append(time.perf_counter() - started)
    print(json.dumps({"seconds": min(times), "bytes": sum(len(text.encode()) for text in texts)}))


if __name__ == "__main__":
    main()
