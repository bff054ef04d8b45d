"""`roughly.recluster`: stored sketches and signatures, clustered any number of times without the documents.

Sketches (`roughly sketch`) give clusters at any threshold, of resemblance or containment: estimated, or exact if the
texts are given again. Signatures (`roughly sign`) are judged as their method says; with the texts, pairs that share a
key are scored exactly.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from roughly import checks
from roughly.dates import days_of
from roughly.declarations import gather
from roughly.errors import InputError, InputMissing, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.features import sketch_store
from roughly.features.metadata import read_metadata, values_in
from roughly.features.sampling import Sampling
from roughly.features.sketch import Sketch
from roughly.features.sketch_store import SketchFacts, read_facts, sketch_batches
from roughly.meter import Meter
from roughly.methods.method import Judge, Keys
from roughly.methods.shingles import COMMON
from roughly.methods.stored_vector import TERMS as VECTOR_TERMS
from roughly.option_types import ReclusterRunOptions
from roughly.python_words import for_python
from roughly.settings import MEASURES, ReadOptions, Resources, Settings
from roughly.signing import packed_vectors, signature_file
from roughly.signing.signature_file import read_signatures
from roughly.signing.sketching import Sketched, sketch_parts
from roughly.sources import open_data
from roughly.sources.parquet_open import parquet_schema
from roughly.tools.recluster.clustering import (
    Clustering,
    InMemoryCollection,
    check_options,
    check_values,
    cluster_collection,
    spool_for,
)
from roughly.tools.recluster.request import ReclusterRequest, ReclusterRun

_AT_ONCE = 16 << 20
"""Bytes of shingles that are put in order together."""
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class StoredDocuments:
    """The content of files of sketches or of signatures."""

    collection: InMemoryCollection
    judge: Judge
    common: int  # a key in more documents makes no pairs; 0: no limit
    shingle_size: int
    main_text: bool
    method: str
    fingerprint: str


@for_python
def recluster(stored: Paths, *, texts: Any = None, **options: Unpack[ReclusterRunOptions]) -> Clustering:
    """Cluster stored sketches or signatures, without the documents.

    Scores are estimates, or none if signatures are judged by common keys. With `texts`, the documents as for
    `roughly.dedupe`, pairs that share a key are scored exactly on all shingles. `options` are
    those of `ReclusterRequest` (`threshold`, `measure`, `common`, `cluster`, `pairs`, …), `threads`, `memory`, the
    columns and the format.
    """
    run = gather(ReclusterRun, options)
    return cluster_stored(read_stored(stored, run.resources), run, texts=texts)


def cluster_stored(stored: StoredDocuments, run: ReclusterRun, *, texts: Any = None) -> Clustering:
    """The same with the request as an object."""
    wanted, resources = run.request, run.resources
    common = stored.common if wanted.common is None else wanted.common
    check_options(
        1.0 if wanted.threshold is None else wanted.threshold, wanted.measure or MEASURES[0], common or COMMON,
        wanted.cluster, wanted.pairs,
    )  # fmt: skip
    judge = _judge(stored, wanted, texts is not None)
    full = None
    if texts is not None:
        facts = SketchFacts(
            Sampling("all"),
            wanted.shingle_size or stored.shingle_size,
            stored.main_text if wanted.main_text is None else wanted.main_text,
        )
        checks.refuse(checks.shingle_size(facts.shingle_size))
        full = full_sets(texts, stored.collection.ids, facts, resources, run.reading)
    return cluster_collection(
        stored.collection,
        judge,
        common=common,
        cluster=wanted.cluster,
        pairs=wanted.pairs,
        resources=resources,
        full=full,
    )


def _judge(stored: StoredDocuments, wanted: ReclusterRequest, with_texts: bool) -> Judge:
    """How pairs are judged, with the stored values and the texts, if given."""
    own = stored.judge
    measured = own.measure in MEASURES
    if with_texts or (own.on == "sketch" and measured):
        threshold = own.threshold if measured else Settings().threshold
        return dataclasses.replace(
            own,
            on="text" if with_texts else "sketch",
            measure=wanted.measure or (own.measure if measured else "resemblance"),  # type: ignore[arg-type]
            threshold=threshold if wanted.threshold is None else wanted.threshold,
        )
    for name in ("threshold", "measure"):
        if getattr(wanted, name) is not None:
            raise SettingsError(
                f"{name} needs similarities, which signatures of {stored.method} do not give: add the texts, "
                f"or leave {name} out"
            )
    return dataclasses.replace(own, on="keys", measure="common", threshold=1) if own.on == "text" else own


def read_stored(paths: Paths, resources: Resources) -> StoredDocuments:
    """The sketches, or the signatures, of one or several files or folders, which must have the same settings.

    Sketches beyond `memory` are in a temporary file; signatures beyond it are refused before they are read.
    """
    listed = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    kinds = {path: _kind(path) for path in listed}
    if not kinds:
        raise InputMissing("no file of sketches or signatures; name at least one")
    if len(set(kinds.values())) > 1:
        raise InputError(f"{listed[0]} and {listed[-1]} are not of one kind; cluster sketches and signatures apart")
    files = [path / sketch_store.FILE if path.is_dir() else path for path in listed]
    if kinds[listed[0]] == "sketches":
        return _sketches(files, resources)
    check_values(sum(map(_values, files)), resources)
    return _signatures(listed)


def _values(file: Path) -> int:
    """At most this many values are in memory when this file is read; a packed vector has sixty and their keys."""
    packed = packed_vectors.COLUMN in parquet_schema(file).names
    return values_in(file) * (VECTOR_TERMS if packed else 1)


def _kind(path: Path) -> str:
    file = path / sketch_store.FILE if path.is_dir() else path
    metadata = read_metadata(file, "sketches or signatures", "`roughly sketch` or `roughly sign`")
    for kind, key in (("sketches", sketch_store.METADATA), ("signatures", signature_file.METADATA)):
        if key in metadata:
            return kind
    raise InputError(f"{file} holds neither sketches nor signatures; make them with `roughly sketch` or `roughly sign`")


def _sketches(files: list[Path], resources: Resources) -> StoredDocuments:
    facts = read_facts(files[0])
    spool = spool_for(resources)
    ids, tokens = [pa.array([], pa.string())], [np.empty(0, np.int64)]
    for file in files:
        other = read_facts(file)
        if other != facts:
            raise InputError(
                f"{file} was made with other settings ({other.fingerprint()}) than {files[0]} "
                f"({facts.fingerprint()}); sketch both in the same way"
            )
        for names, lengths, sketch in sketch_batches(file, facts):
            ids.append(names)
            tokens.append(lengths)
            spool.add(sketch)
    sketch = spool.sketch()
    collection = InMemoryCollection(
        pa.concat_arrays(ids), np.concatenate(tokens), Keys(sketch.values, sketch.offsets), sketch
    )
    judge = Judge("sketch", "resemblance", 0.5)  # the paper's threshold
    return StoredDocuments(
        collection, judge, COMMON, facts.shingle_size, facts.main_text, "sketch", facts.fingerprint()
    )


def _signatures(paths: list[Path]) -> StoredDocuments:
    read = read_signatures(paths)
    made = read.made
    ids, days = pa.array(read.ids, pa.string()), days_of(read.dates)
    collection = InMemoryCollection(ids, read.tokens, read.keys, read.sketch, read.equal, days)
    described = made.described
    size = int(described.get("shingle_size", Settings().shingle_size))
    return StoredDocuments(
        collection, made.judge, int(described.get("common", 0)), size, False, made.method, made.fingerprint
    )


def full_sets(texts: Any, ids: pa.Array, facts: SketchFacts, resources: Resources, reading: ReadOptions) -> Sketch:
    """All shingles of the documents with these ids, in this order."""
    from roughly.cluster.scoring import blocks, slice_of

    data, paths = (None, [texts]) if isinstance(texts, str | os.PathLike) else (texts, None)
    with tempfile.TemporaryDirectory(prefix="roughly-", dir=resources.temp) as spool:
        parts = open_data(data, paths, reading, Path(spool))
        read, place, count = spool_for(resources), dict[str, int](), 0
        for names, _, sketch in sketch_parts(parts, facts, resources.threads, Sketched(Path(), facts), Meter()):
            place |= {doc_id: at for at, doc_id in enumerate(names.to_pylist(), count)}
            count += len(names)
            read.add(sketch)
    missing = [doc_id for doc_id in ids.to_pylist() if doc_id not in place]
    if missing:
        raise InputError(
            f"{len(missing):,} documents are stored but have no text, {missing[0]!r} for one: give the texts that "
            "the sketches or signatures were made of, or leave them out"
        )
    whole, ordered = read.sketch(), spool_for(resources)
    rows = np.array([place[name] for name in ids.to_pylist()], np.int64)
    for first, last in blocks(8 * np.diff(whole.offsets)[rows], _AT_ONCE):
        ordered.add(slice_of(whole, rows[first:last]))
    return ordered.sketch()
