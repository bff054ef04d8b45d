"""The file of signatures: one Parquet row per document, and in its metadata what they were made with.

| column | type | |
|---|---|---|
| `doc_id` | string | |
| `tokens` | int64 | canonical tokens of the document |
| `date` | string | as found, or null |
| `equal` | uint64 | digest of the canonical tokens in order: equal documents are duplicates whatever the method |
| `equal_lo` | uint64 | its other 64 bits; files made before it was stored have none, and are compared by 64 bits |
| `keys` | list<uint64> | sharing one makes two documents candidates; if of fixed size, one per band, 0 for none |
| `asks` | list<bool> | which keys ask; only where some do not |
| `sketch` | list<uint64> | what pairs are judged on; only where they are not judged on keys |
| `limit` | uint64 | up to where the sketch is complete; only where it is not complete everywhere |

The metadata `roughly` is JSON: version, method, what follows from its settings, how pairs are judged, and a fingerprint
of all these. Signatures of different fingerprints cannot be compared, and are refused together.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.errors import DuplicateIds, InputError, InputMissing, OutputError, OutputExists
from roughly.features.metadata import read_metadata
from roughly.features.sketch import Sketch
from roughly.lexicon.format import FORM
from roughly.methods.method import Judge, Keys, Method, Signature

VERSION = 2
METADATA = b"roughly"
_EQUAL = ("equal", "equal_lo")
_PLAIN = ("shingle_size", "seed")
"""What keys depend on and methods do not describe, since it stands among the settings of a run."""


@dataclass(frozen=True)
class SignatureOrigin:
    """With what signatures were made."""

    method: str
    described: dict[str, Any]
    judge: Judge
    most: int = 0

    @classmethod
    def by(cls, method: Method) -> SignatureOrigin:
        """With this method."""
        described = method.describe() | {name: getattr(method, name) for name in _PLAIN if hasattr(method, name)}
        return cls(method.name, json.loads(json.dumps(described)), method.judge())

    def to_dict(self) -> dict[str, Any]:
        """As plain values, with the fingerprint."""
        values = {
            "version": VERSION, "form": FORM, "method": self.method, "settings": self.described,
            "judge": dataclasses.asdict(self.judge), "most": self.most,
        }  # fmt: skip
        text = json.dumps(values, sort_keys=True, ensure_ascii=False)
        return {**values, "fingerprint": hashlib.sha256(text.encode()).hexdigest()[:16]}

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change whenever signatures may."""
        return str(self.to_dict()["fingerprint"])


@dataclass(frozen=True)
class Signatures:
    """Signatures in memory, in the order of their ids."""

    made: SignatureOrigin
    ids: list[str]
    tokens: npt.NDArray[np.int64]
    dates: list[str | None]
    equal: npt.NDArray[np.uint64]  # one row per document, the same for equal ones
    keys: Keys
    sketch: Sketch | None

    def __len__(self) -> int:
        return len(self.ids)


def check_output(output: Path, overwrite: bool) -> None:
    """Refuse, before any work is done, a file that cannot be written."""
    if output.is_dir():
        raise OutputExists(f"{output} is a folder; name a file to write")
    if output.exists() and not overwrite:
        raise OutputExists(f"{output} already exists; add --overwrite to replace it")
    if not output.absolute().parent.is_dir():
        raise OutputError(f"cannot write {output}: {output.absolute().parent} is not a folder; make it first")


def digest_columns(digests: npt.NDArray[np.uint64]) -> dict[str, pa.Array]:
    """Digests of 128 bits as Arrow columns."""
    return {name: pa.array(np.ascontiguousarray(digests[:, lane])) for lane, name in enumerate(_EQUAL)}


def signature_columns(signature: Signature) -> dict[str, pa.Array]:
    """Keys and sketch as Arrow columns."""
    keys, sketch = signature.keys, signature.sketch
    if keys is None:
        raise InputError("a method of equality has no signature to store")
    out: dict[str, pa.Array] = {}
    if keys.offsets is None:
        flat = pa.array(np.ascontiguousarray(keys.values).ravel())
        out["keys"] = pa.FixedSizeListArray.from_arrays(flat, keys.values.shape[1])
    else:
        out["keys"] = _list(keys.values, keys.offsets)
        if keys.probes is not None and not keys.probes.all():
            out["asks"] = _list(keys.probes, keys.offsets)
    if sketch is not None:
        out["sketch"] = _list(sketch.values, sketch.offsets)
        if sketch.limits is not None:
            out["limit"] = pa.array(sketch.limits)
    return out


def read_signatures(paths: Sequence[str | Path]) -> Signatures:
    """The signatures of one or several files, which must have been made alike."""
    tables, made = [], None
    for path in paths:
        found = read_made(path)
        if made is not None and found.fingerprint != made.fingerprint:
            raise InputError(
                f"{path} was made with other settings ({found.method}, {found.fingerprint}) than {paths[0]} "
                f"({made.method}, {made.fingerprint}); sign both in the same way"
            )
        made = found
        tables.append(pq.read_table(path))
    if made is None:
        raise InputMissing("no file of signatures; name at least one")
    equal = [name for name in _EQUAL if all(name in table.column_names for table in tables)]
    names = [name for name in tables[0].column_names if name not in _EQUAL or name in equal]
    table = pa.concat_tables(table.select(names) for table in tables).sort_by("doc_id").combine_chunks()
    ids = table["doc_id"].to_pylist()
    twice = next((a for a, b in itertools.pairwise(ids) if a == b), None)
    if twice is not None:
        raise DuplicateIds(f"two documents have the id {twice!r}; ids name documents, so they must differ")
    keys = table["keys"].combine_chunks() if len(ids) else table["keys"].chunks[0]
    return Signatures(
        made,
        ids,
        table["tokens"].to_numpy(),
        table["date"].to_pylist(),
        np.column_stack([table[name].to_numpy() for name in equal]),
        _keys(keys, table),
        _sketch(table, made),
    )


def read_made(path: str | Path) -> SignatureOrigin:
    """With what a file's signatures were made."""
    held = read_metadata(Path(path), "signatures", "`roughly sign`").get(METADATA)
    if held is None:
        raise InputError(f"{path} holds no signatures; make some with `roughly sign`")
    values = json.loads(held)
    if values["version"] != VERSION or values["form"] != FORM:
        raise InputError(
            f"{path} was made by another roughly (version {values['version']}, {values['form']}); sign again"
        )
    made = SignatureOrigin(values["method"], values["settings"], Judge(**values["judge"]), values["most"])
    if made.fingerprint != values["fingerprint"]:
        raise InputError(f"{path} is damaged: its settings do not match their fingerprint; sign again")
    return made


def _keys(column: Any, table: pa.Table) -> Keys:
    values, offsets = _flat(column)
    if pa.types.is_fixed_size_list(column.type):
        return Keys(values.reshape(-1, column.type.list_size))
    asks = _flat(table["asks"].combine_chunks())[0] if "asks" in table.column_names else None
    return Keys(values, offsets, asks)


def _sketch(table: pa.Table, made: SignatureOrigin) -> Sketch | None:
    if "sketch" not in table.column_names:
        return None
    values, offsets = _flat(table["sketch"].combine_chunks())
    limits = table["limit"].to_numpy() if "limit" in table.column_names else None
    return Sketch(values, offsets, limits, made.most)


def _list(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))


def _flat(column: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    values = column.flatten().to_numpy(zero_copy_only=False)
    if pa.types.is_fixed_size_list(column.type):
        return values, np.arange(len(column) + 1) * column.type.list_size
    offsets = column.offsets.to_numpy().astype(np.int64)
    return values, offsets - offsets[0]
