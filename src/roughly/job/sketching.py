"""`roughly.sketch` and `roughly.recluster`: sketches made once, clustered as often as wanted (Broder 1997, §6).

    sources → text → tokens → sampled shingles → sketches/sketches.parquet

Then clusters at any threshold, of resemblance or containment, come from that file alone: estimated, or exact where the
texts are given once more.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly.errors import InputError, Interrupted, SettingsError
from roughly.features.sampling import Sampling
from roughly.features.sketch import Sketch, joined
from roughly.features.sketch_store import FILE, SketchFacts, SketchWriter, read_sketches
from roughly.features.sketching import Sketched, sketch_parts
from roughly.job.clustering import Clustering, cluster_sketches
from roughly.job.folder import Place
from roughly.meter import Listener, Meter
from roughly.methods.shingles import COMMON, check_shingle_size
from roughly.settings import Resources
from roughly.sources import open_parts, parts_from_objects
from roughly.sources.part import Part, ReadOptions


def sketch(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str],
    overwrite: bool = False,
    sketch: str = "mod:25",
    groups: Sequence[Sequence[float]] = (),
    shingle_size: int = 10,
    main_text: bool = False,
    threads: int = 0,
    **reading: Any,
) -> Sketched:
    """Write the sketches of documents to a folder.

    `data` and `paths` are those of `roughly.dedupe`; `reading` are the columns and the format. `sketch` says which
    shingles are kept: `mod:25`, `min:400`, `adaptive` (with or without `groups`) or `all`.
    """
    if (data is None) == (paths is None):
        raise SettingsError("give either data or paths")
    if isinstance(data, str | os.PathLike):
        data, paths = None, [data]
    facts = SketchFacts(Sampling.parse(sketch, groups), shingle_size, main_text)
    resources = Resources(threads=threads)
    return run_sketch(
        data, paths, facts=facts, resources=resources, reading=ReadOptions(**reading), output=Path(output),
        overwrite=overwrite,
    )  # fmt: skip


def run_sketch(
    data: Any,
    paths: Sequence[str | os.PathLike[str]] | None,
    *,
    facts: SketchFacts,
    resources: Resources,
    reading: ReadOptions,
    output: Path,
    overwrite: bool = False,
    listener: Listener | None = None,
) -> Sketched:
    """The same with settings as objects. The folder appears whole or not at all."""
    problems = list(check_shingle_size(facts.shingle_size))
    if problems:
        raise SettingsError(*problems)
    started = time.perf_counter()
    place = Place(output, overwrite=overwrite, temp=resources.temp)
    try:
        parts = _open(data, paths, reading, place.spool)
        done = Sketched(output, facts, notes=sorted({note for part in parts for note in part.notes}))
        with SketchWriter(place.result / FILE, facts) as writer:
            for ids, tokens, sketched in sketch_parts(parts, facts, resources.threads, done, Meter(listener)):
                writer.write(ids, tokens, sketched)
        done.seconds = time.perf_counter() - started
        text = json.dumps(done.summary(), indent=1, ensure_ascii=False)
        (place.result / "run.json").write_text(text + "\n", encoding="utf-8")
        place.publish()
    except BaseException as problem:
        place.abandon(problem)
        if isinstance(problem, KeyboardInterrupt) and not isinstance(problem, Interrupted):
            raise Interrupted(place.how_to_go_on()) from None
        raise
    if place.scratch is not None:
        shutil.rmtree(place.scratch, ignore_errors=True)
    return done


def _open(data: Any, paths: Sequence[str | os.PathLike[str]] | None, reading: ReadOptions, spool: Path) -> list[Part]:
    if paths is None:
        return parts_from_objects(data, reading, spool)
    return open_parts([os.fspath(path) for path in paths], reading, spool)


def recluster(
    folder: str | os.PathLike[str],
    *,
    threshold: float = 0.5,
    measure: str = "resemblance",
    common: int = COMMON,
    cluster: str = "star",
    texts: Any = None,
    threads: int = 0,
    **reading: Any,
) -> Clustering:
    """Cluster stored sketches at a threshold, without the documents.

    Scores are estimates. With `texts`, the documents as `roughly.dedupe` takes them, what shares a sampled shingle is
    scored exactly on all shingles. Everything is held in memory.
    """
    stored = read_sketches(Path(folder))
    full = None if texts is None else _full_sets(texts, stored.ids, stored.facts, Resources(threads=threads), reading)
    return cluster_sketches(
        stored.ids, stored.tokens, stored.sketch, threshold=threshold, measure=measure, common=common, cluster=cluster,
        full=full,
    )  # fmt: skip


def _full_sets(texts: Any, ids: pa.Array, facts: SketchFacts, resources: Resources, reading: dict[str, Any]) -> Sketch:
    """All shingles of the documents with these ids, in this order."""
    whole = SketchFacts(Sampling("all"), facts.shingle_size, facts.main_text)
    data, paths = (None, [texts]) if isinstance(texts, str | os.PathLike) else (texts, None)
    with tempfile.TemporaryDirectory(prefix="roughly-") as spool:
        parts = _open(data, paths, ReadOptions(**reading), Path(spool))
        batches = list(sketch_parts(parts, whole, resources.threads, Sketched(Path(), whole), Meter()))
    place = {doc_id: at for at, doc_id in enumerate(name for batch in batches for name in batch[0].to_pylist())}
    missing = [doc_id for doc_id in ids.to_pylist() if doc_id not in place]
    if missing:
        raise InputError(
            f"{len(missing):,} documents have sketches but no text, {missing[0]!r} for one: give the texts that the "
            "sketches were made of, or leave them out for estimates"
        )
    from roughly.cluster.estimated import chosen

    return chosen(joined([batch[2] for batch in batches]), np.array([place[doc_id] for doc_id in ids.to_pylist()]))
