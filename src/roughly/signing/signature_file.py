"""The file of signatures: one Parquet row per document, and metadata on how they were made.

| column | type | |
|---|---|---|
| `doc_id` | string | |
| `tokens` | int64 | canonical tokens of the document |
| `date` | string | as found, or null |
| `equal` | uint64 | digest of the canonical tokens in order: equal documents are duplicates whatever the method |
| `equal_lo` | uint64 | its other 64 bits; files made before it was stored have none, and are compared by 64 bits |
| `keys` | list<uint64> | sharing one makes two documents candidates; if of fixed size, one per band, 0 for none |
| `asks` | list<bool> | which keys are probes; only if some are not |
| `sketch` | list<uint64> | what pairs are judged on; only if they are not judged on keys |
| `limit` | uint64 | the highest hash up to which the sketch is complete; only if it is a sample |

The metadata `roughly` is JSON: version, method, its parameters, how pairs are judged, and a fingerprint of all these.
Signatures of different fingerprints cannot be compared, and are refused together. Term vectors can be packed instead:
see `packed_vectors`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from roughly.errors import DuplicateIds, InputError, InputMissing, OutputError, OutputExists
from roughly.fast_dataclass import dataclass
from roughly.features.metadata import read_metadata, unreadable
from roughly.features.sketch import Sketch
from roughly.lexicon.format import FORM
from roughly.methods.method import Judge, Keys, Method, Signature
from roughly.signing import packed_vectors
from roughly.sources.parquet_open import parquet_table

VERSION = 2
METADATA = b"roughly"
_EQUAL = ("equal", "equal_lo")
_COLUMNS: dict[str, Callable[[Any], bool]] = {
    "doc_id": pa.types.is_string,
    "tokens": pa.types.is_int64,
    "date": pa.types.is_string,
    "equal": pa.types.is_uint64,
    "equal_lo": pa.types.is_uint64,
    "keys": lambda kind: _is_list_of(kind, pa.uint64()),
    "asks": lambda kind: _is_list_of(kind, pa.bool_()),
    "sketch": lambda kind: _is_list_of(kind, pa.uint64()),
    "limit": pa.types.is_uint64,
}
_OPTIONAL = ("equal_lo", "asks", "sketch", "limit")
_PLAIN = ("shingle_size", "seed")
"""Settings of a run that keys depend on and methods do not describe."""
_LARGEST = 1 << 62


@dataclass(frozen=True)
class SignatureOrigin:
    """How signatures were made."""

    method: str
    described: dict[str, Any]
    judge: Judge
    most: int = 0

    @classmethod
    def by(cls, method: Method, packed: bool = False) -> SignatureOrigin:
        """The facts of this method; those of packed signatures say so."""
        described = method.describe() | {name: getattr(method, name) for name in _PLAIN if hasattr(method, name)}
        if method.unit != "word":  # files of versions without it have the same fingerprint
            described["shingle_unit"] = method.unit
        described |= {"packed": True} if packed else {}
        return cls(method.name, json.loads(json.dumps(described)), method.judge())

    def to_dict(self) -> dict[str, Any]:
        """As plain values, with the fingerprint."""
        judge = dataclasses.asdict(self.judge)
        if not judge["ignore_common"]:  # files of versions without it have the same fingerprint
            del judge["ignore_common"]
        values = {
            "version": VERSION, "form": FORM, "method": self.method, "settings": self.described, "judge": judge,
            "most": self.most,
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


def _is_list_of(kind: Any, held: Any) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return is_list and bool(kind.value_type == held)


def check_output(output: Path, overwrite: bool) -> None:
    """Refuse a file that cannot be written, before any work is done."""
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
    """The signatures of one or several files, which must have the same settings."""
    tables, made = [], None
    for path in paths:
        found = read_made(path)
        if made is not None and found.fingerprint != made.fingerprint:
            raise InputError(
                f"{path} was made with other settings ({found.method}, {found.fingerprint}) than {paths[0]} "
                f"({made.method}, {made.fingerprint}); sign both in the same way"
            )
        made = found
        tables.append(_read_packed(Path(path), made) if "packed" in made.described else _read_table(Path(path)))
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
    """How a file's signatures were made."""
    held = read_metadata(Path(path), "signatures", "`roughly sign`").get(METADATA)
    if held is None:
        raise InputError(f"{path} holds no signatures; make some with `roughly sign`")
    try:
        values = json.loads(held)
        version, form, fingerprint = values["version"], values["form"], values["fingerprint"]
        if version != VERSION or form != FORM:
            raise InputError(f"{path} was made by another roughly (version {version}, {form}); sign again")
        made = SignatureOrigin(values["method"], values["settings"], Judge(**values["judge"]), values["most"])
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, RecursionError) as problem:
        raise _damaged(path, "its metadata cannot be read") from problem
    if not _is_sound(made):
        raise _damaged(path, "its settings have values that none has")
    if made.fingerprint != fingerprint:
        raise _damaged(path, "its settings do not match their fingerprint")
    return made


def _is_sound(made: SignatureOrigin) -> bool:
    """Whether values have the types that they must have; someone else may have written them."""
    judge = made.judge
    return (
        isinstance(made.method, str)
        and isinstance(made.described, dict)
        and _is_number(made.most)
        and judge.on in ("text", "sketch", "keys")
        and judge.measure in ("resemblance", "containment", "common")
        and _is_number(judge.threshold, int | float)
        and (judge.dates is None or _is_number(judge.dates))
        and (judge.lengths is None or _is_number(judge.lengths, int | float))
        and isinstance(judge.ignore_common, bool)
    )


def _is_number(value: Any, kind: Any = int) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def _damaged(path: str | Path, why: str) -> InputError:
    return InputError(f"{path} is damaged: {why}; sign again")


def _read_packed(path: Path, made: SignatureOrigin) -> pa.Table:
    """The rows of a file of packed vectors, with the columns of other signatures."""
    table = _read_rows(path)
    for name, kind in (("doc_id", pa.string()), (packed_vectors.COLUMN, packed_vectors.KIND)):
        if table.column_names.count(name) != 1 or table[name].type != kind or table[name].null_count:
            raise _damaged(path, f"its column {name} is missing, or holds something else")
    held = packed_vectors.unpacked(table[packed_vectors.COLUMN], int(made.judge.threshold))
    return pa.table({"doc_id": table["doc_id"], **held})


def _read_rows(path: Path) -> pa.Table:
    try:
        table = parquet_table(path)
        table.validate(full=True)
    except (OSError, ValueError, pa.ArrowException) as problem:
        raise unreadable(path, problem, "signatures") from problem
    return table


def _read_table(path: Path) -> pa.Table:
    """A file's rows, whose columns are checked: what follows takes them for what the file's format says."""
    table = _read_rows(path)
    for name, is_right in _COLUMNS.items():
        if name not in table.column_names:
            if name in _OPTIONAL:
                continue
            raise _damaged(path, f"it has no column {name}")
        if table.column_names.count(name) > 1:
            raise _damaged(path, f"it has two columns {name}")
        column = table[name]
        if not is_right(column.type) or (column.null_count and name != "date"):
            raise _damaged(path, f"its column {name} holds something else")
    return table


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
