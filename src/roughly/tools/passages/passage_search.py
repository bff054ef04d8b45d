"""One search for passages, stage by stage: from parts to tables, kept/, run.json and the report."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from roughly.engines.local.memory_budget import BASE_MEMORY
from roughly.engines.local.second_reading import check_texts
from roughly.engines.workspace import Workspace
from roughly.errors import InputError, InputMissing
from roughly.job.rereading import LANDMARKS, reading_record, write_landmarks
from roughly.meter import Meter, Stage
from roughly.sources.edited_copy import copy_edited, refuse_joined
from roughly.sources.part import CopyBudget, Part, is_untouched
from roughly.threads import map_in_order
from roughly.tools.passages.class_counts import count, forget_counts
from roughly.tools.passages.copy_decisions import TokenRuns, open_runs, write_runs
from roughly.tools.passages.copy_shares import by_length, by_source
from roughly.tools.passages.document_ids import repeated_ids
from roughly.tools.passages.mapped_arrays import Ints, MappedArrays
from roughly.tools.passages.passage_list import PassageList, best_passages
from roughly.tools.passages.passages_page import render_page
from roughly.tools.passages.repeated_places import PlaceSearch
from roughly.tools.passages.request import PassagesRun
from roughly.tools.passages.span_edits import SpanMarks, SpanRemoval
from roughly.tools.passages.span_finder import SpanFinder
from roughly.tools.passages.span_tables import (
    ROW_GROUP,
    RemovedTexts,
    documents_table,
    items_table,
    known_table,
    passages_table,
    run_blocks,
    spans_table,
    write_table,
)
from roughly.tools.passages.text_spans import Spans, open_spans, span_blocks, write_spans
from roughly.tools.passages.token_file import TokenFile, read_tokens
from roughly.version import __version__

_CUTS = ("cut_documents", "cut_rows", "cut_starts", "cut_ends", "cut_witnesses", "cut_witness_starts")
"""Arrays of the spans that are not kept, by document and start."""


class PassagesInputs(NamedTuple):
    """The parts of the input and of the test set, and the paths of both as given (None for Python objects)."""

    parts: list[Part]
    tests: list[Part]
    given: list[str] | None
    given_tests: list[str] | None


class PassageSearch:
    """One run, stage by stage."""

    def __init__(self, run: PassagesRun, inputs: PassagesInputs, work: Workspace, meter: Meter) -> None:
        self.request, self.resources, self.reading = run.request, run.resources, run.reading
        self.inputs, self.parts, self.tests, self.work, self.meter = inputs, inputs.parts, inputs.tests, work, meter
        self.threads, self.memory = run.resources.threads, run.resources.memory - BASE_MEMORY
        self.maps = MappedArrays(work, self.memory)

    def write(self, folder: Path) -> None:
        """Find all passages and write everything into `folder`."""
        with self.maps.watched():
            self._write(folder)

    def _write(self, folder: Path) -> None:
        request, threads = self.request, self.threads
        if request.do != "report":
            refuse_joined(self.parts)
        all_parts, is_resumed = [*self.parts, *self.tests], self.work.found("read") is not None
        file = read_tokens(
            all_parts, self.maps, self.meter, unit=request.unit, date_format=request.date_format,
            threads=threads, memory=self.memory,
        )  # fmt: skip
        reference = int(np.count_nonzero(file.facts["part"].to_numpy() >= len(self.parts)))
        ids = file.facts["doc_id"].combine_chunks()
        self._check(file, ids, reference)
        runs, found, total = self._runs(file, reference)
        finder = SpanFinder(all_parts, file, request.unit, threads)
        with self.meter.stage("fetch", len(runs.rows), "spans") as stage:
            spans = self._spans(finder, runs, ids, stage)
        with self.meter.stage("write"):
            rows = self._write_large(file, runs, spans, ids, folder)
            tables = {"passages": passages_table(finder, found, ids)}
            if self.tests:
                blocks = run_blocks(file, runs, self.maps)
                tables["items"] = items_table(file, blocks, ids, reference, request.shortest)
            for name, table in tables.items():
                pq.write_table(table, folder / f"{name}.parquet", compression="zstd", row_group_size=ROW_GROUP)
            if self.tests:
                _write_lines(tables["items"], folder / "items.jsonl")
            _write_rejects(file, folder / "quarantine.jsonl")
            write_landmarks(all_parts, folder / LANDMARKS)
        if request.do != "report":
            with self.meter.stage("copy", len(self.parts), "parts"):
                self._copy(file, runs, spans, ids, folder / "kept")
        if request.do == "remove":
            shutil.move(self.work.path("removed.parquet"), folder)
        touched = [at for at, part in enumerate(all_parts) if is_resumed or not is_untouched(part)]
        is_touched = pc.field("part").isin(pa.array(touched, pa.uint32()))
        check_texts(all_parts, (some.filter(is_touched) for some in file.facts.to_batches()), threads)
        summary = self._summary(file, runs, spans, tables) | {
            "documents_with_copies": rows["documents"], "passages": total,
        }  # fmt: skip
        self._account(folder, summary, file, runs, tables)

    def _write_large(
        self, file: TokenFile, runs: TokenRuns, spans: Spans, ids: pa.Array, folder: Path
    ) -> dict[str, int]:
        """Write the tables with a row per span or document, and return their numbers of rows."""
        places = [file.facts[name].to_numpy() for name in ("part", "row")]
        pieces: dict[str, Iterator[pa.Table]] = {
            "spans": map_in_order(
                lambda some: spans_table(file, runs, some, ids), span_blocks(spans, self.maps), self.threads
            ),
            "documents": map_in_order(
                lambda some: documents_table(file, some, ids), run_blocks(file, runs, self.maps), self.threads
            ),
            "known": map_in_order(
                lambda some: known_table(file, some, ids, places), run_blocks(file, runs, self.maps), self.threads
            ),
        }
        memory = self.memory // 8
        return {
            name: write_table(folder / f"{name}.parquet", name, tables, self.threads, memory)
            for name, tables in pieces.items()
        }

    def _runs(self, file: TokenFile, reference: int) -> tuple[TokenRuns, PassageList, int]:
        """The repeated runs, the best passages and the number of all passages."""
        work, maps, request = self.work, self.maps, self.request
        is_done = work.found("runs") is not None
        with self.meter.stage("group") as stage:
            stage.reused = is_done
            if not is_done:
                places = PlaceSearch(file, maps, request.window, reference, self.threads).find(stage)
        with self.meter.stage("verify") as stage:
            stage.reused = is_done
            if not is_done:
                counts = count(file, places, request, reference, maps)
                best, total = best_passages(places, counts, request.shortest, maps)
                whole = write_runs(file, places, counts, request, reference, maps)
                work.save("runs", {"best": best, "whole": whole}, {"passages": total}, [maps.path("runs")])
                del places, counts
                forget_counts(maps)
                maps.delete("starts", "firsts", "repeated", "ranks")
        best, whole = work.array("runs", "best"), work.array("runs", "whole")
        return open_runs(maps, whole), PassageList(*best.T), work.info("runs")["passages"]

    def _check(self, file: TokenFile, ids: pa.Array, reference: int) -> None:
        if len(file) == reference and not file.rejects:
            raise InputMissing(f"no documents in {', '.join(part.name for part in self.parts[:3])}: nothing to do")
        if self.tests and not reference:
            raise InputMissing(f"no documents in the test set {', '.join(part.name for part in self.tests[:3])}")
        for some in (ids.slice(0, len(file) - reference), ids.slice(len(file) - reference)):
            repeated = repeated_ids(some)
            if len(repeated):
                raise InputError(
                    f"{len(repeated):,} ids occur more than once, such as {repeated[0].as_py()!r}; spans name "
                    "documents by id. Name another column with --id-column, or rename them"
                )

    def _spans(self, finder: SpanFinder, runs: TokenRuns, ids: pa.Array, stage: Stage) -> Spans:
        """The spans of the runs, and with `remove` what is cut out."""
        stage.reused = self.work.found("spans") is not None
        if not stage.reused:
            files = [self.maps.path("spans")]
            if self.request.do == "remove":
                files.append(self.work.path("removed.parquet"))
                with files[1].open("wb") as out, RemovedTexts(out, ids, self.threads, self.memory // 8) as removed:
                    write_spans(finder, runs, self.maps, stage, removed.take)
            else:
                write_spans(finder, runs, self.maps, stage)
            self.work.commit("spans", files, {})
        return open_spans(self.maps)

    def _copy(self, file: TokenFile, runs: TokenRuns, spans: Spans, ids: pa.Array, folder: Path) -> None:
        """Write kept/: every part with its texts cut, or with its spans as a column."""
        folder.mkdir()
        part_of, row_of = file.facts["part"].to_numpy(), file.facts["row"].to_numpy()
        is_left_out = np.zeros(len(file), np.bool_)
        if self.request.do == "remove":
            is_left_out[runs.whole] = True
        cuts = self._cuts(file, runs, spans)

        def copy(number: int) -> None:
            own = np.arange(*np.searchsorted(part_of, [number, number + 1]))
            rows = row_of[own]
            keep = np.zeros(int(rows.max(initial=-1)) + 1, np.bool_)
            keep[rows[~is_left_out[own]]] = True
            here = slice(*np.searchsorted(cuts[0], np.searchsorted(part_of, [number, number + 1])))
            budget = CopyBudget(1, self.memory // (2 * self.threads))
            edits: SpanRemoval | SpanMarks
            _, rows, starts, ends, *witnesses = (column[here] for column in cuts)
            if self.request.do == "remove":
                edits = SpanRemoval(rows, starts, ends)
            else:
                edits = SpanMarks(rows, (starts, ends, *witnesses), ids)
            copy_edited(self.parts[number], edits, keep, folder, budget)

        for _ in map_in_order(copy, range(len(self.parts)), self.threads):
            pass
        self.maps.delete(*_CUTS)

    def _cuts(self, file: TokenFile, runs: TokenRuns, spans: Spans) -> list[Ints]:
        """The spans that are not kept: document, record, start, end, and with `mark` the witness's place."""
        row_of = file.facts["row"].to_numpy()
        names = _CUTS[:4] if self.request.do == "remove" else _CUTS
        with ExitStack() as stack:
            files = [stack.enter_context(self.maps.path(name).open("wb")) for name in names]
            for some in span_blocks(spans, self.maps):
                docs, is_cut = _removed(file, runs, some)
                witness = file.document_of(runs.witness[some.run])
                columns = (docs, row_of[docs], some.start, some.end, witness, some.witness_start)
                self.work.space.check(8 * len(names) * int(is_cut.sum()))
                for column, out in zip(columns, files, strict=False):
                    column[is_cut].tofile(out)
        return [self.maps.open(name, np.int64) for name in names]

    def _summary(self, file: TokenFile, runs: TokenRuns, spans: Spans, tables: dict[str, pa.Table]) -> dict[str, Any]:
        own = file.facts["part"].to_numpy() < len(self.parts)
        repeated = copied = removed = removed_bytes = 0
        for some in run_blocks(file, runs, self.maps):
            repeated += int(some.length[own[file.document_of(some.start)]].sum())
            copied += int(some.length[some.witness >= 0].sum())
        for part in span_blocks(spans, self.maps):
            is_removed = _removed(file, runs, part)[1]
            removed += int(is_removed.sum())
            removed_bytes += int((part.end - part.start)[is_removed].sum())
        nbytes = file.facts["bytes"].to_numpy()
        counts = {
            "documents": int(own.sum()),
            "tokens": int(np.diff(file.offsets)[own].sum()),
            "bytes": int(nbytes[own].sum()),
            "spans": removed,
            "repeated_tokens": repeated,
            "copied_tokens": copied,
            "copied_bytes": removed_bytes,
            "removed_whole": len(runs.whole),
            "removed_whole_bytes": int(nbytes[runs.whole].sum()),
            "rejected": len(file.rejects),
        }
        if self.tests:
            seen = tables["items"].filter(pc.field("seen_tokens") > 0)
            counts |= {
                "test_items": tables["items"].num_rows,
                "short_items": int(pc.sum(tables["items"]["short"]).as_py() or 0),
                "seen_items": seen.num_rows,
            }
        return counts

    def _account(
        self, folder: Path, counts: dict[str, Any], file: TokenFile, runs: TokenRuns, tables: dict[str, pa.Table]
    ) -> None:
        stages = self.meter.stages
        run = {
            "roughly": __version__,
            "request": dataclasses.asdict(self.request),
            "resources": {"threads": self.resources.threads, "memory": self.resources.memory},
            "inputs": [part.name for part in self.parts],
            "reading": reading_record(self.inputs.given, self.reading) | {"against": self.inputs.given_tests},
            "against": [part.name for part in self.tests],
            "counts": counts,
            "sources": by_source(file, run_blocks(file, runs, self.maps), len(self.parts)),
            "lengths": by_length(run_blocks(file, runs, self.maps)),
            "stages": [stage.to_dict() for stage in stages],
            "seconds": sum(stage.seconds for stage in stages),
            "peak_memory": max((stage.peak_memory for stage in stages), default=0),
            "guesses": sorted({note for part in (*self.parts, *self.tests) for note in part.notes}),
        }
        (folder / "run.json").write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (folder / "report.html").write_text(render_page(run, tables), encoding="utf-8")


def _removed(file: TokenFile, runs: TokenRuns, spans: Spans) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The documents of spans, and whether a span is removed by itself: it is not kept, and its document is not gone."""
    docs = file.document_of(spans.token)
    return docs, (runs.witness[spans.run] >= 0) & ~runs.is_whole(docs)


def _write_lines(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        for batch in table.to_batches(max_chunksize=ROW_GROUP):
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def _write_rejects(file: TokenFile, path: Path) -> None:
    if file.rejects:
        lines = (json.dumps(dataclasses.asdict(reject), ensure_ascii=False) + "\n" for reject in file.rejects)
        path.write_text("".join(lines), encoding="utf-8")
