"""Sketches on disk: one Parquet file with everything needed to compare them, and no texts.

| column | type | |
|---|---|---|
| `doc_id` | string | |
| `tokens` | int64 | length of the document |
| `limit` | uint64 | the sketch holds every shingle hash of the document up to this one |
| `values` | list<uint64> | the sampled shingle hashes, ascending |

The file's metadata say how the sketches were made, with a fingerprint of that. Sketches are compared only with
sketches of the same fingerprint, and a file whose fingerprint does not fit its facts is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.errors import InputError
from roughly.fast_dataclass import dataclass
from roughly.features.metadata import read_metadata, refuse_damage, refuse_nulls
from roughly.features.sampling import Sampling
from roughly.features.sketch import Ints, Sketch, limits_of
from roughly.sources.parquet_open import open_parquet

FILE = "sketches.parquet"
VERSION = 2
FORM = "canonical 1, Unicode 14.0.0"
"""Version of canonical form and token hash of the values; a test compares it with that of lexicons."""
SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("limit", pa.uint64(), nullable=False),
        pa.field("values", pa.large_list(pa.field("item", pa.uint64(), nullable=False)), nullable=False),
    ]
)
METADATA = b"roughly.sketches"
_AT_ONCE = 8192
_REMEDY = "make the sketches again"


@dataclass(frozen=True)
class SketchFacts:
    """How sketches were made."""

    sampling: Sampling
    shingle_size: int
    main_text: bool = False
    form: str = FORM

    def to_dict(self) -> dict[str, Any]:
        """As plain values; `from_dict` gives back an equal object."""
        groups = [list(group) for group in self.sampling.groups]
        return {
            "version": VERSION, "form": self.form, "sketch": str(self.sampling), "groups": groups,
            "shingle_size": self.shingle_size, "main_text": self.main_text,
            **({"seed": self.sampling.seed} if self.sampling.seed else {}),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The opposite of `to_dict`."""
        return cls(
            Sampling.parse(values["sketch"], values["groups"], values.get("seed", 0)), values["shingle_size"],
            values["main_text"], values["form"],
        )  # fmt: skip

    def fingerprint(self) -> str:
        """Sixteen hex digits that change whenever the values may."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]


class SketchWriter:
    """Writes a file of sketches, batch by batch."""

    def __init__(self, path: Path, facts: SketchFacts) -> None:
        summary = facts.to_dict() | {"fingerprint": facts.fingerprint()}
        schema = SCHEMA.with_metadata({METADATA: json.dumps(summary).encode()})
        # hashes do not compress, and dictionaries do not help
        self._writer = pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=["doc_id"])
        self._schema = schema

    def write(self, ids: pa.Array, tokens: Ints, sketch: Sketch) -> None:
        """Add documents."""
        start, end = int(sketch.offsets[0]), int(sketch.offsets[-1])
        lists = pa.LargeListArray.from_arrays(
            pa.array(sketch.offsets - start), pa.array(sketch.values[start:end]), type=SCHEMA.field("values").type
        )
        columns = [ids, pa.array(tokens), pa.array(limits_of(sketch)), lists]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()


def read_facts(path: Path) -> SketchFacts:
    """How the sketches in a file, or in the folder that holds it, were made."""
    path = path / FILE if path.is_dir() else path
    metadata = read_metadata(path, "sketches", "`roughly sketch`")
    if METADATA not in metadata:
        raise InputError(f"{path} holds no sketches; make them with `roughly sketch`")
    with refuse_damage(path, _REMEDY):
        summary = json.loads(metadata[METADATA])
        if summary.get("version") != VERSION or summary.get("form") != FORM:
            raise InputError(
                f"{path} was made by another version of roughly (version {summary.get('version')}, "
                f"{summary.get('form')}); {_REMEDY}"
            )
        facts = SketchFacts.from_dict(summary)
    if facts.fingerprint() != summary.get("fingerprint"):
        raise InputError(f"{path}: the fingerprint does not fit the settings beside it; {_REMEDY}")
    return facts


def sketch_batches(path: Path, facts: SketchFacts) -> Iterator[tuple[pa.Array, Ints, Sketch]]:
    """(ids, tokens, sketches) of a file, some documents at a time."""
    most = facts.sampling.number if facts.sampling.kind == "min" else 0
    with refuse_damage(path, _REMEDY), open_parquet(path, pre_buffer=False) as file:
        for batch in file.iter_batches(_AT_ONCE):
            refuse_nulls(batch)
            for name in ("tokens", "limit", "values"):
                if batch.schema.field(name).type != SCHEMA.field(name).type:
                    raise ValueError(f"{name} holds {batch.schema.field(name).type}")
            lists = batch.column("values")
            offsets = lists.offsets.to_numpy().astype(np.int64)
            limits = None if facts.sampling.kind == "all" else batch.column("limit").to_numpy()
            sketch = Sketch(lists.values.to_numpy(), offsets, limits, most)
            yield batch.column("doc_id").cast(pa.string()), batch.column("tokens").to_numpy(), sketch
