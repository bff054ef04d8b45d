"""`roughly.sketch`: sketches made once, to be clustered any number of times (Broder 1997, §6; see `stored_clusters`).

sources → text → tokens → sampled shingles → sketches/sketches.parquet
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from roughly import checks
from roughly.declarations import gather
from roughly.features.sampling import Sampling
from roughly.features.sketch_store import FILE, SketchFacts, SketchWriter
from roughly.job.output_folder import OutputFolder
from roughly.meter import Listener, Meter
from roughly.option_types import SketchRequestOptions
from roughly.python_words import for_python
from roughly.signing.sketching import Sketched, sketch_parts
from roughly.sources import data_or_paths, open_data
from roughly.tools.recluster.request import SketchRequest


@for_python
def sketch(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str],
    overwrite: bool = False,
    **options: Unpack[SketchRequestOptions],
) -> Sketched:
    """Write the sketches of documents to a folder.

    `data` and `paths` are those of `roughly.dedupe`; `options` those of `SketchRequest`: `sketch` says which shingles
    are kept, `mod:25`, `min:400`, `adaptive` (with or without `groups`) or `all`; then `shingle_size`, `main_text`,
    `threads`, the columns and the format.
    """
    data, paths = data_or_paths(data, paths)
    request = gather(SketchRequest, options)
    return run_sketch(data, paths, request, output=Path(output), overwrite=overwrite)


def run_sketch(
    data: Any,
    paths: Sequence[str | os.PathLike[str]] | None,
    request: SketchRequest,
    *,
    output: Path,
    overwrite: bool = False,
    listener: Listener | None = None,
) -> Sketched:
    """The same with settings as objects. The folder appears complete or not at all."""
    given = request.sketch
    sampling = given if isinstance(given, Sampling) else Sampling.parse(given, request.groups, request.seed)
    facts = SketchFacts(sampling, request.shingle_size, request.main_text)
    checks.refuse(checks.shingle_size(facts.shingle_size))
    resources, reading = request.resources, request.reading
    started = time.perf_counter()
    with OutputFolder(output, overwrite=overwrite, temp=resources.temp) as place:
        parts = open_data(data, paths, reading, place.spool)
        done = Sketched(output, facts, notes=sorted({note for part in parts for note in part.notes}))
        with SketchWriter(place.result / FILE, facts) as writer:
            for ids, tokens, sketched in sketch_parts(parts, facts, resources.threads, done, Meter(listener)):
                writer.write(ids, tokens, sketched)
        done.seconds = time.perf_counter() - started
        text = json.dumps(done.summary(), indent=1, ensure_ascii=False)
        (place.result / "run.json").write_text(text + "\n", encoding="utf-8")
        place.finish()
    return done
