"""Prepares a run for judging: draws pairs from its duplicates and near misses, and reads their texts again.

A run's folder does not have the texts of removed documents, nor near misses. Both come from the input that run.json
names, which is read once when pairs are drawn; after that only the rows of the drawn pairs are read.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from roughly.cluster.fields import Fields
from roughly.cluster.verdict_reasons import explain_verdict, fields_of
from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.job.document_texts import Place, texts_of
from roughly.job.rereading import Input, open_again
from roughly.meter import Listener, Meter
from roughly.settings import MEASURES, ReadOptions, Resources, Settings
from roughly.signing.text_batch import TextBatch
from roughly.sources.parquet_open import open_parquet
from roughly.sources.part import Chunk, Part
from roughly.text.canonical import Tokens
from roughly.text.markup import PageText, page_text
from roughly.threads import map_in_order
from roughly.tools.judge.near_misses import MOST, near_misses
from roughly.tools.judge.request import DrawRequest
from roughly.tools.judge.strata import Candidate, Drawing
from roughly.tools.judge.verdict_file import Drawn, DrawnPair, VerdictFile
from roughly.tools.tune.draw import place_of
from roughly.verdict import Verdict
from roughly.verify.scores import score_texts

Known = Mapping[str, Any]
_KNOWN = ("title", "url", "source", "date")


@dataclass(frozen=True)
class JudgedRun:
    """A finished run."""

    folder: Path
    fingerprint: str
    settings: dict[str, Any]
    inputs: list[str]
    run_json: dict[str, Any] = field(default_factory=dict, repr=False)  # all of run.json

    @classmethod
    def open(cls, folder: Path) -> JudgedRun:
        """Read run.json."""
        try:
            run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            return cls(folder, run["fingerprint"], run["settings"], run["inputs"], run)
        except (FileNotFoundError, NotADirectoryError):
            raise InputMissing(f"{folder} is not a run; name the folder that `roughly dedupe` wrote") from None
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise InputError(f"{folder / 'run.json'} cannot be read ({problem}); run dedupe again") from problem

    @property
    def measure(self) -> str:
        """The measure of the threshold."""
        return self.settings["measure"] if self.settings["measure"] in MEASURES else MEASURES[0]

    @property
    def learned(self) -> str | None:
        """The learned verdict, if the run has one: then pairs are drawn by their probability."""
        found: str | None = self.settings.get("verdict")
        return found

    @property
    def score(self) -> str:
        """What pairs are drawn by: a column of pairs.parquet."""
        return self.measure if self.learned is None else "probability"

    @property
    def limit(self) -> float:
        """The score from which pairs are the same."""
        return float(self.settings["threshold"]) if self.learned is None else Verdict.parse(self.learned).probability

    @property
    def verdict_settings(self) -> Settings:
        """The settings, of a run with a learned verdict."""
        return Settings.from_dict(self.settings)

    def fields_of(self, known: Sequence[Known]) -> Fields | None:
        """What a learned verdict compares of documents beside their texts."""
        return None if self.learned is None else fields_of(known, self.verdict_settings)

    def score_of(self, left: str, right: str, known: Sequence[Known]) -> float:
        """The score of two texts; `known` as for `explain_verdict`."""
        if self.learned is not None:
            return explain_verdict(left, right, self.verdict_settings, known).probability
        scores = score_texts(left, right, int(self.settings["shingle_size"]), self.unit)
        return float(getattr(scores, self.measure))

    @property
    def unit(self) -> str:
        """What shingles are made of."""
        return str(self.settings.get("shingle_unit", "word"))

    @property
    def verdicts(self) -> Path:
        """The file of verdicts: beside the folder, since `--overwrite` replaces everything in it."""
        folder = self.folder.resolve()
        return folder.with_name(f"{folder.name}.verdicts.jsonl")


def open_verdicts(run: JudgedRun, path: Path) -> VerdictFile:
    """The existing verdicts; refused if they are of another run."""
    found = VerdictFile.open(path)
    if found.drawn.run != run.fingerprint:
        raise InputError(
            f"{path} holds verdicts on another run, with other settings than {run.folder}; name another file with "
            "--verdicts"
        )
    return found


def draw_pairs(
    run: JudgedRun,
    path: Path,
    request: DrawRequest,
    *,
    inputs: Sequence[str] | None = None,
    reading: ReadOptions | None = None,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> VerdictFile:
    """Draw pairs around the run's threshold and begin a file of verdicts."""
    resources, meter = resources or Resources(), Meter(listener)
    drawing = Drawing(run.limit, request.pairs, request.seed, uncertain_first=run.learned is not None)
    for candidate in _found(run):
        drawing.add(candidate)
    wanted = {name for one in drawing.possible() for name in (one.left_id, one.right_id)}
    kept_ids, share = _kept_sample(run, request.seed) if not request.found_only else ([], 1.0)
    with closing(Input(run.folder, run.run_json, inputs, reading)) as source:
        parts, names = source.parts, source.names
        places, tokens, known = _read(parts, run, wanted, set(kept_ids), source.page, resources, meter)
        kept_ids = [name for name in kept_ids if name in places]
        if kept_ids:
            with meter.stage("near"):
                for candidate in near_misses(
                    kept_ids, _gathered([tokens[name] for name in kept_ids]), measure=run.measure,
                    threshold=float(run.settings["threshold"]), shingle_size=int(run.settings["shingle_size"]),
                    resources=resources, learned=run.learned,
                    fields=run.fields_of([known[name] for name in kept_ids]),
                ):  # fmt: skip
                    drawing.add(candidate)
        strata, drawn = drawing.finish(1 / share**2)
        if not drawn:
            raise InputError(f"{run.folder} found no duplicates, and nothing is near its threshold: nothing to judge")
        missing = next((n for _, one in drawn for n in (one.left_id, one.right_id) if n not in places), None)
        if missing is not None:
            raise InputError(
                f"the document {missing!r} of the run is not in {', '.join(names)}; give the input with --input, and "
                "--id-column if dedupe was given one"
            )
        wanted_places = [places[name] for _, one in drawn for name in (one.left_id, one.right_id)]
        compared = texts_of(parts, wanted_places, source.page, resources.threads)
        main_text = bool(run.settings["main_text"])
        shown = page_text(main_text)  # of a DOM, people read the words
        texts = compared if shown == source.page else texts_of(parts, wanted_places, shown, resources.threads)
    listed = []
    for number, one in drawn:
        left, right = places[one.left_id], places[one.right_id]
        score = run.score_of(compared[left], compared[right], (known[one.left_id], known[one.right_id]))
        listed.append(
            DrawnPair(
                one.left_id, one.right_id, score, number, left, right, _digest(texts[left]),
                _digest(texts[right]),
            )
        )  # fmt: skip
    options = {name: value for name, value in asdict(source.options).items() if value is not None}
    return VerdictFile.create(
        path,
        Drawn(
            run=run.fingerprint, measure=run.score, threshold=run.limit,
            shingle_size=int(run.settings["shingle_size"]), main_text=main_text, seed=request.seed, inputs=names,
            reading=options, strata=strata, pairs=listed,
        ),
    )  # fmt: skip


def pair_texts(
    verdicts: VerdictFile, wanted: Sequence[int], inputs: Sequence[str] | None = None, threads: int = 1
) -> dict[int, tuple[str, str]]:
    """The texts of some of the drawn pairs; refused if the input is missing or has changed."""
    drawn = verdicts.drawn
    names = [str(name) for name in inputs or drawn.inputs]
    with tempfile.TemporaryDirectory(prefix="roughly-judge-") as spool:
        parts = open_again(names, ReadOptions(**drawn.reading), Path(spool))
        return texts_of_pairs(verdicts, wanted, parts, names, threads)


def texts_of_pairs(
    verdicts: VerdictFile, wanted: Sequence[int], parts: Sequence[Part], names: Sequence[str], threads: int = 1
) -> dict[int, tuple[str, str]]:
    """The same from an input that is open."""
    drawn = verdicts.drawn
    places = [place for n in wanted for place in (drawn.pairs[n].left_place, drawn.pairs[n].right_place)]
    if any(part >= len(parts) for part, _ in places):
        raise InputError(_changed(names))
    texts = texts_of(parts, places, page_text(drawn.main_text), threads)
    found = {}
    for number in wanted:
        pair = drawn.pairs[number]
        left, right = texts.get(pair.left_place), texts.get(pair.right_place)
        if left is None or right is None or (_digest(left), _digest(right)) != (pair.left_digest, pair.right_digest):
            raise InputError(_changed(names))
        found[number] = left, right
    return found


def _changed(names: Sequence[str]) -> str:
    return (
        f"{', '.join(names)} has changed since the pairs were drawn, so their texts are not those judged; restore the "
        "input, or begin again with another file (--verdicts)"
    )


def _found(run: JudgedRun) -> Iterator[Candidate]:
    """Every removed document that has words, with its witness."""
    empty = _without_words(run)
    columns = ["left_id", "right_id", run.score, "witness", "kind"]
    try:
        file = open_parquet(run.folder / "pairs.parquet")
    except FileNotFoundError:
        raise InputMissing(f"{run.folder} has no pairs.parquet; run dedupe again") from None
    with file:
        if run.score not in file.schema_arrow.names:
            raise InputError(f"{run.folder} is of a version whose pairs had no {run.score}; run dedupe again")
        for batch in file.iter_batches(columns=columns):
            rows = zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
            yield from (
                Candidate(
                    left, right, 1.0 if kind == "exact" and (run.learned is None or score is None) else score, True
                )
                for left, right, score, witness, kind in rows
                if witness and left not in empty
            )


def _without_words(run: JudgedRun) -> set[str]:
    """Documents without words: they duplicate each other, and there is nothing to judge."""
    path = run.folder / "known.parquet"
    if not path.exists():  # a run of an earlier version
        return set()
    with open_parquet(path) as file:
        batches = file.iter_batches(columns=["doc_id", "tokens"])
        chosen = (batch.filter(pc.equal(batch.column("tokens"), 0)) for batch in batches)
        return {name for batch in chosen for name in batch.column("doc_id").to_pylist()}


def _kept_sample(run: JudgedRun, seed: int) -> tuple[list[str], float]:
    """The ids of kept documents, at most `MOST`, and their share of all kept ones."""
    count = 0

    def names() -> Iterator[tuple[int, str]]:
        nonlocal count
        with open_parquet(run.folder / "documents.parquet") as file:
            for batch in file.iter_batches(columns=["doc_id", "kept"]):
                kept = batch.filter(batch.column("kept")).column("doc_id").to_pylist()
                count += len(kept)
                yield from ((place_of(name, seed, "near"), name) for name in kept)

    chosen = sorted(name for _, name in heapq.nsmallest(MOST, names()))
    return chosen, len(chosen) / max(count, 1)


def _read(
    parts: Sequence[Part], run: JudgedRun, wanted: set[str], kept_ids: set[str], page: PageText, resources: Resources,
    meter: Meter,
) -> tuple[dict[str, Place], dict[str, Any], dict[str, Known]]:  # fmt: skip
    """The position of each document that may be shown, the tokens of the kept ones, and what is known of each."""

    def make(item: tuple[int, Part, Chunk]) -> tuple[int, pa.RecordBatch, int]:
        number, part, chunk = item
        return number, part.parse(chunk).batch, chunk.nbytes

    renamed: Counter[str] | None = Counter() if run.settings["on_duplicate_id"] == "number" else None
    places: dict[str, Place] = {}
    tokens: dict[str, Any] = {}
    known: dict[str, Known] = {}
    items = ((number, part, chunk) for number, part in enumerate(parts) for chunk in part.chunks())
    with meter.stage("read", sum(part.size or 0 for part in parts), "bytes") as stage:
        for number, batch, nbytes in map_in_order(make, items, resources.threads):
            stage.bytes += nbytes
            meter.advance(stage, stage.bytes)
            ids = batch.column("doc_id").to_pylist()
            if renamed is not None:
                ids = [_numbered(name, renamed) for name in ids]
            rows = batch.select(["row", *_KNOWN]).to_pylist()
            for name, row in zip(ids, rows, strict=True):
                if name in wanted or name in kept_ids:
                    places[name], known[name] = (number, row["row"]), row
            at = [n for n, name in enumerate(ids) if name in kept_ids]
            if at:
                some = batch.take(pa.array(at, pa.int64()))
                found = TextBatch(some.column("text"), some.column("markup"), page).units(run.unit)
                for n, place in enumerate(at):
                    tokens[ids[place]] = found.hashes[found.offsets[n] : found.offsets[n + 1]]
    return places, tokens, known


def _numbered(name: str, seen: Counter[str]) -> str:
    """The id that dedupe gives a document whose id is in use: a, a#2, a#3."""
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}#{seen[name]}"


def _gathered(tokens: Sequence[Any]) -> Tokens:
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in tokens]))).astype(np.int64)
    return Tokens(np.concatenate([np.empty(0, np.uint64), *tokens]), offsets)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
