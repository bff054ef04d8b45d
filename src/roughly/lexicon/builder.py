"""Makes lexicons: from documents, from other lexicons, from a part of one.

    sources → text → filters → count (one counter per thread, spilling) → merge → one file, complete or not at all

Threads read chunk by chunk. Sums do not depend on which thread counted what, so the file has the same bytes for any
number of threads, any size of batches and any order of the documents.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from roughly.amounts import records_were
from roughly.declarations import gather
from roughly.errors import InputError, InputMissing, Interrupted, MemoryTooSmall
from roughly.fast_dataclass import dataclass
from roughly.lexicon.counter import Counter, Runs
from roughly.lexicon.format import LexiconFacts
from roughly.lexicon.lexicon import Lexicon
from roughly.lexicon.lexicon_writer import check_output, write_lexicon
from roughly.lexicon.request import BuildRequest
from roughly.lexicon.term_table import TermTable, add_documents, choose, merged
from roughly.lexicon.thresholds import Thresholds
from roughly.meter import Listener, Meter
from roughly.model import Reject
from roughly.settings import Resources
from roughly.sources import data_or_paths, open_data
from roughly.sources.part import Chunk, Part
from roughly.text.filters import Filters
from roughly.text.markup import PageText, page_text
from roughly.threads import map_in_order

BASE_MEMORY = 384 << 20
"""Memory of the process before the first document: the interpreter, its libraries, the kernels."""
THREAD_MEMORY = 64 << 20
"""Minimum memory per thread: chunks being read, and a counter that does not spill all the time."""
LEAST_MEMORY = BASE_MEMORY + 2 * THREAD_MEMORY

T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Built:
    """A lexicon and how it was built."""

    lexicon: Lexicon
    text_bytes: int = 0
    spills: int = 0
    rejects: list[Reject] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def build(
    data: Any = None,
    *,
    paths: Sequence[str | os.PathLike[str]] | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Lexicon:
    """Count the documents that contain each term.

    `data` and `paths` are those of `roughly.dedupe`; `options` those of `BuildRequest`: `filters`, `main_text`,
    `threads`, `memory`, `temp`, the columns and the format. Without `output`
    the lexicon is kept in memory. Records that cannot be read are left out, with a warning that gives their number.
    """
    data, paths = data_or_paths(data, paths)
    target = None if output is None else Path(output)
    built = run_build(data, paths, gather(BuildRequest, options), output=target, overwrite=overwrite)
    if built.rejects:
        first = built.rejects[0]
        warnings.warn(
            f"{records_were(len(built.rejects))} left out; the first: {first.file}, {first.record}: {first.reason}",
            stacklevel=2,
        )
    return built.lexicon


def run_build(
    data: Any,
    paths: Iterable[str | os.PathLike[str]] | None,
    request: BuildRequest,
    *,
    output: Path | None,
    overwrite: bool = False,
    listener: Listener | None = None,
) -> Built:
    """The same with the request as an object; returns counts as well."""
    resources, filters = request.resources, request.filters
    filters = Filters.parse(filters) if isinstance(filters, str) else filters
    if resources.memory < LEAST_MEMORY:
        raise MemoryTooSmall(
            f"--memory {resources.memory >> 20}MB is too little; {LEAST_MEMORY >> 20}MB is the minimum"
        )
    with _scratch(output, overwrite, resources.temp) as scratch:
        parts = open_data(data, paths, request.reading, scratch / "spool")
        return _build(parts, filters, page_text(request.main_text), resources, Meter(listener), output, scratch)


def count_parts(
    parts: Sequence[Part], output: Path, *, filters: Filters, page: PageText, resources: Resources, meter: Meter
) -> Lexicon:
    """The lexicon of open parts, written to a file: for runs that count before they sign."""
    with tempfile.TemporaryDirectory(prefix="roughly-lexicon-", dir=resources.temp) as scratch:
        return _build(parts, filters, page, resources, meter, output, Path(scratch)).lexicon


def _build(
    parts: Sequence[Part], filters: Filters, page: PageText, resources: Resources, meter: Meter, output: Path | None,
    scratch: Path,
) -> Built:  # fmt: skip
    facts = LexiconFacts(documents=0, filters=str(filters))
    runs = Runs(scratch, facts)
    spare = resources.memory - BASE_MEMORY
    threads = min(resources.threads, spare // THREAD_MEMORY)
    counters = [Counter(filters, runs, spare * 2 // 5 // threads) for _ in range(threads)]
    built = Built(lexicon=None, notes=sorted({n for p in parts for n in p.notes}))  # type: ignore[arg-type]
    _count(parts, counters, page, meter, built)
    documents = add_documents([counter.documents for counter in counters])
    if not documents:
        names = ", ".join(part.name for part in parts[:3])
        raise InputMissing(f"no documents in {names}: a lexicon needs at least one")
    with meter.stage("merge"):
        tables = [*runs.tables(), *(counter.drain() for counter in counters)]
        built.spills = len(runs.paths)
        facts = dataclasses.replace(facts, documents=documents)
        built.lexicon = _publish(output, facts, merged(tables), scratch)
    return built


def merge(
    lexicons: Sequence[Lexicon], *, output: str | os.PathLike[str] | None = None, overwrite: bool = False
) -> Lexicon:
    """Several lexicons as one: byte for byte the lexicon of all their documents."""
    if not lexicons:
        raise InputMissing("no lexicon to merge; name at least one")
    first = lexicons[0]
    for other in lexicons:
        if other.facts.thresholds.min_df > 1:
            raise InputError(
                f"{other.name} lacks terms of fewer than {other.facts.thresholds.min_df} documents, so sums would "
                "be too low; merge the full lexicons and prune the result"
            )
        if other.facts.kind() != first.facts.kind():
            raise InputError(f"{first.name} and {other.name} cannot be merged: {_difference(first, other)}")
    facts = dataclasses.replace(first.facts, documents=add_documents([lexicon.documents for lexicon in lexicons]))
    path = None if output is None else Path(output)
    with _scratch(path, overwrite) as scratch:
        return _publish(path, facts, merged([lexicon.table for lexicon in lexicons]), scratch)


def prune(
    lexicon: Lexicon,
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    min_df: int = 1,
    letters_only: bool = False,
    min_length: int = 1,
) -> Lexicon:
    """A lexicon of only those terms that are within the thresholds."""
    wanted = Thresholds(min_df=min_df, letters_only=letters_only, min_length=min_length)
    thresholds = lexicon.facts.thresholds.together_with(wanted)
    facts = dataclasses.replace(lexicon.facts, thresholds=thresholds)
    path = None if output is None else Path(output)
    with _scratch(path, overwrite) as scratch:
        kept = (choose(table, thresholds.mask(table)) for table in merged([lexicon.table]))
        return _publish(path, facts, kept, scratch)


def _count(parts: Sequence[Part], counters: Sequence[Counter], page: PageText, meter: Meter, built: Built) -> None:
    """Read every part and count its terms, each chunk with any idle counter."""
    from roughly.text.markup import strip_column

    idle: SimpleQueue[Counter] = SimpleQueue()
    for counter in counters:
        idle.put(counter)

    def count(item: tuple[Part, Chunk]) -> tuple[int, int, list[Reject]]:
        part, chunk = item
        parsed = part.parse(chunk)
        texts = strip_column(parsed.batch.column("text"), parsed.batch.column("markup"), page)
        counter = idle.get()
        try:
            counter.add(texts)
        finally:
            idle.put(counter)
        return chunk.nbytes, texts.nbytes - 8 * (len(texts) + 1), parsed.rejects

    items = ((part, chunk) for part in parts for chunk in part.chunks())
    with meter.stage("count", sum(part.size or 0 for part in parts), "bytes") as stage:
        for nbytes, text_bytes, rejects in map_in_order(count, items, len(counters)):
            built.text_bytes += text_bytes
            built.rejects += rejects
            stage.bytes += nbytes
            meter.advance(stage, stage.bytes)


@contextmanager
def _scratch(output: Path | None, overwrite: bool, temp: Path | None = None) -> Iterator[Path]:
    """A folder to spill to, always deleted at the end."""
    if output is not None:
        check_output(output, overwrite)
    folder = Path(tempfile.mkdtemp(prefix="roughly-lexicon-", dir=temp))
    try:
        yield folder
    except KeyboardInterrupt:
        where = f"nothing was written to {output}" if output else "nothing was written"
        raise Interrupted(f"stopped; {where}: run it again") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _publish(output: Path | None, facts: LexiconFacts, tables: Iterable[TermTable], scratch: Path) -> Lexicon:
    """Write the file and open it; without an output, keep its bytes."""
    path = output or scratch / "lexicon"
    write_lexicon(path, facts, tables, scratch)
    return Lexicon.open(path, verify=False) if output else Lexicon.from_bytes(path.read_bytes())


def _difference(a: Lexicon, b: Lexicon) -> str:
    """The difference between two lexicons because of which their counts cannot be added."""
    left, right = a.facts.to_dict(), b.facts.to_dict()
    names = [name for name in left if name != "documents" and left[name] != right[name]]
    summary = "; ".join(
        f"{name} is {left[name] or 'none'} in one and {right[name] or 'none'} in the other" for name in names
    )
    return f"{summary}. Build both in the same way"
