"""Sign files: read once, one chunk per thread, written in the order of the input."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from roughly.amounts import records_were
from roughly.errors import InputMissing, SettingsError
from roughly.fast_dataclass import dataclass
from roughly.lexicon.builder import count_parts
from roughly.lexicon.lexicon_writer import room
from roughly.meter import Listener, Meter
from roughly.methods import METHODS, Method, check, counted_with, make, needs_count
from roughly.methods.stored_vector import unpack
from roughly.model import Reject
from roughly.settings import ReadOptions, Resources, Settings
from roughly.signing.packed_vectors import COLUMN as PACKED
from roughly.signing.packed_vectors import VectorPacker
from roughly.signing.request import SignRequest
from roughly.signing.signature_file import (
    METADATA,
    SignatureOrigin,
    check_output,
    digest_columns,
    signature_columns,
)
from roughly.signing.text_batch import TextBatch
from roughly.sources import data_or_paths, open_data
from roughly.sources.part import Chunk, Part
from roughly.sources.streams import replacing
from roughly.text.markup import PageText, page_text
from roughly.threads import map_in_order


@dataclass
class SigningResult:
    """The result of signing."""

    made: SignatureOrigin
    documents: int = 0
    unsigned: int = 0  # documents without a key
    text_bytes: int = 0
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def sign(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str],
    method: str | Method = "imatch",
    overwrite: bool = False,
    main_text: bool = False,
    threads: int = 0,
    reading: ReadOptions | None = None,
    **options: Any,
) -> SigningResult:
    """Write the signatures of documents to a Parquet file; `options` are those of the method and of `Settings`."""
    data, paths = data_or_paths(data, paths)
    if not isinstance(method, str) and options:
        raise SettingsError(f"options go with the name of a method, not with a made one: {', '.join(options)}")
    made = Settings.gather({"method": method, **options}) if isinstance(method, str) else method
    request = SignRequest(
        output=Path(output),
        overwrite=overwrite,
        main_text=main_text,
        resources=Resources(threads=threads),
        reading=reading or ReadOptions(),
    )
    signed = run_sign(data, paths, made, request)
    if signed.rejects:
        first = signed.rejects[0]
        warnings.warn(
            f"{records_were(len(signed.rejects))} left out; the first: {first.file}, {first.record}: {first.reason}",
            stacklevel=2,
        )
    return signed


def run_sign(
    data: Any,
    paths: Iterable[str | os.PathLike[str]] | None,
    method: Method | Settings,
    request: SignRequest,
    listener: Listener | None = None,
) -> SigningResult:
    """The same with settings as objects; returns counts as well."""
    _check(method)
    output, resources, reading = request.output, request.resources, request.reading
    if isinstance(method, Settings):
        reading = replace(reading, text_column=method.reading(reading).text_column)
    check_output(output, request.overwrite)
    meter, page = Meter(listener), page_text(request.main_text)
    with tempfile.TemporaryDirectory(prefix="roughly-sign-", dir=resources.temp) as spool:
        parts = open_data(data, paths, reading, Path(spool))
        if isinstance(method, Settings):
            method = _make(method, parts, Path(spool), page, resources, meter)
        made = method
        packer = VectorPacker(made) if request.packed else None
        signed = SigningResult(
            SignatureOrigin.by(made, request.packed), notes=sorted({note for part in parts for note in part.notes})
        )
        size = sum(part.size or 0 for part in parts)
        with meter.stage("read", size, "bytes") as stage, room(output), replacing(output) as target:
            writer = _Writer(target, signed)
            items = ((part, chunk) for part in parts for chunk in part.chunks())
            work = map_in_order(lambda item: _sign(*item, made, page, packer), items, resources.threads)
            for nbytes, batch, most, rejects in work:
                writer.add(batch, most)
                signed.rejects += rejects
                stage.bytes += nbytes
                meter.advance(stage, stage.bytes)
            if not signed.documents:
                raise InputMissing(f"no documents in {', '.join(part.name for part in parts[:3])}")
            writer.close()
    return signed


def _check(method: Method | Settings) -> None:
    """Refuse impossible settings before anything is read."""
    if isinstance(method, Settings):
        check(method)
        if method.verify:
            raise SettingsError("signatures are judged without the texts, so pairs cannot be verified; see `dedupe`")
        if method.verdict is not None:
            raise SettingsError("signatures hold no words, so a learned verdict cannot be given on them; see `dedupe`")
        if method.tokens == "dom":
            raise SettingsError("signatures are made of words, not of the DOM; leave tokens out, or see `dedupe`")
        if method.date_format is not None:
            raise SettingsError("signatures store dates as they were found, without a date_format; leave it out")
    declared = METHODS[method.method] if isinstance(method, Settings) else method
    if declared.equality:
        raise SettingsError(f"{declared.name} has no keys to store: it finds only equal documents")


def _make(
    settings: Settings, parts: Sequence[Part], spool: Path, page: PageText, resources: Resources, meter: Meter
) -> Method:
    """The method; if its lexicon is that of the documents themselves, they are counted first."""
    if not needs_count(settings):
        return make(settings)
    counted = count_parts(
        parts, spool / "collection.lexicon", filters=counted_with(settings), page=page, resources=resources,
        meter=meter,
    )  # fmt: skip
    return make(settings, counted)


class _Writer:
    """Row groups as they come; the schema is that of the first."""

    def __init__(self, target: BinaryIO, signed: SigningResult) -> None:
        self._target, self._signed = target, signed
        self._writer: pq.ParquetWriter | None = None

    def add(self, batch: pa.RecordBatch, most: int) -> None:
        if self._writer is None:
            self._signed.made = replace(self._signed.made, most=most)
            held = json.dumps(self._signed.made.to_dict(), ensure_ascii=False).encode()
            schema = batch.schema.with_metadata({METADATA: held})
            self._writer = pq.ParquetWriter(self._target, schema, compression="zstd")
        self._writer.write_batch(batch.cast(self._writer.schema))
        self._signed.documents += batch.num_rows
        self._signed.unsigned += _unsigned(batch)
        self._signed.text_bytes += int(batch.schema.metadata[b"bytes"])

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _unsigned(batch: pa.RecordBatch) -> int:
    if PACKED in batch.schema.names:
        return sum(not unpack(own).terms for own in batch.column(PACKED).to_pylist())
    keys = batch.column("keys")
    if pa.types.is_fixed_size_list(keys.type):
        values = keys.flatten().to_numpy().reshape(len(keys), -1)
        return int((values == 0).all(axis=1).sum())
    return int((np.diff(keys.offsets.to_numpy()) == 0).sum())


def _sign(
    part: Part, chunk: Chunk, method: Method, page: PageText, packer: VectorPacker | None
) -> tuple[int, pa.RecordBatch, int, list[Reject]]:
    parsed = part.parse(chunk)
    texts = TextBatch(parsed.batch.column("text"), parsed.batch.column("markup"), page)
    if packer is not None:
        packed = packer.pack(texts, parsed.batch)
        held = {"doc_id": parsed.batch.column("doc_id"), PACKED: packed}
        batch = pa.RecordBatch.from_pydict(held).replace_schema_metadata({"bytes": str(texts.text_bytes)})
        return chunk.nbytes, batch, 0, parsed.rejects
    signature = texts.sign(method)
    held = {
        "doc_id": parsed.batch.column("doc_id"),
        "tokens": pa.array(texts.lengths),
        "date": parsed.batch.column("date"),
        **digest_columns(texts.lexical_digests),
        **signature_columns(signature),
    }
    batch = pa.RecordBatch.from_pydict(held).replace_schema_metadata({"bytes": str(texts.text_bytes)})
    return chunk.nbytes, batch, 0 if signature.sketch is None else signature.sketch.most, parsed.rejects
