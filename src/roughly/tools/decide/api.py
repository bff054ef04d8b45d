"""`Decisions`: what people decide about a finished run, from Python, the command line and the explorer."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import weakref
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from roughly.amounts import counted
from roughly.engines.local.decided_tables import CHANGED
from roughly.engines.local.kept_parts import copy_parts
from roughly.engines.local.run_browser import Browsing
from roughly.engines.local.second_reading import check_texts
from roughly.errors import InputError, InputMissing
from roughly.fast_dataclass import dataclass
from roughly.features.metadata import refuse_damage
from roughly.job.output_folder import OutputFolder
from roughly.job.rereading import LANDMARKS, Input
from roughly.report.run_request import judging_of, requested_quality
from roughly.settings import Resources
from roughly.tools.decide.decision_effects import Concerned, DecidedDocument, RunRules, Scores, effects
from roughly.tools.decide.decision_file import Decision, DecisionFile
from roughly.tools.judge.api import JudgedRun
from roughly.verify.scores import score_texts

_RESTORE = "restore it, or say where it is with --input"
_SHOWN = 5  # unknown ids in a message
_SCORES = ("resemblance", "containment", "contained_in")


@dataclass(frozen=True, slots=True)
class AppliedDecisions:
    """What applying decisions gave: the folder of the new run, and the documents that changed."""

    folder: Path
    decisions: int
    kept: int
    removed: int
    changed: tuple[DecidedDocument, ...]

    @property
    def overridden(self) -> tuple[DecidedDocument, ...]:
        """The documents that were decided about against what was verified."""
        return tuple(one for one in self.changed if one.overridden)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        changed = [one.to_dict() for one in self.changed]
        return asdict(self) | {"folder": str(self.folder), "changed": changed, "overridden": len(self.overridden)}


class Decisions:
    """The decisions about a run. They are stored beside its folder and change nothing in it until they are applied.

    decisions = roughly.Decisions("out")
    decisions.keep("b", note="has the appendix")
    decisions.different("c", "a")
    decisions.apply("out-decided")
    """

    def __init__(
        self, run: str | os.PathLike[str], *, inputs: Sequence[str] | None = None, tables: Browsing | None = None
    ) -> None:
        self.run = JudgedRun.open(Path(run))
        self._inputs = None if inputs is None else [str(name) for name in inputs]
        self.tables = tables or Browsing(self.run.folder)
        self._finalise = weakref.finalize(self, self.tables.close if tables is None else bool)
        folder = self.run.folder.resolve()
        self.file = DecisionFile(folder.with_name(f"{folder.name}.decisions.jsonl"), self.run.fingerprint)

    def close(self) -> None:
        """Free what was opened."""
        self._finalise()

    def __enter__(self) -> Decisions:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @property
    def standing(self) -> list[Decision]:
        """The decisions that have not been undone, in order."""
        self.file.refresh()
        return self.file.standing

    def __len__(self) -> int:
        return len(self.standing)

    def about(self, doc_id: str) -> list[Decision]:
        """The decisions that name a document."""
        return [one for one in self.standing if doc_id in one.ids]

    def keep(self, doc_id: str, *, note: str = "", by: str | None = None) -> Decision:
        """Keep this document, instead of the one that was kept in its place."""
        return self.record("keep", [doc_id], by=by, note=note)

    def different(self, left_id: str, right_id: str, *, note: str = "", by: str | None = None) -> Decision:
        """These two are not duplicates of each other."""
        return self.record("different", [left_id, right_id], by=by, note=note)

    def together(self, *doc_ids: str, note: str = "", by: str | None = None) -> Decision:
        """These belong together: one of them is kept, the first of those that the run kept."""
        return self.record("together", doc_ids, by=by, note=note)

    def undo(self, number: int, *, note: str = "", by: str | None = None) -> None:
        """Take a decision back."""
        self.file.undo(number, by or _user(), note)

    def record(self, kind: str, ids: Sequence[str], *, note: str = "", by: str | None = None) -> Decision:
        """Store a decision; a document that the run does not have is refused."""
        unknown = self._unknown(ids)
        if unknown:
            raise InputMissing(
                f"the run has no document {', '.join(map(repr, unknown[:_SHOWN]))}; check the spelling of the id"
            )
        return self.file.record(kind, ids, _user() if by is None else by, note)

    def effects(self) -> list[DecidedDocument]:
        """The documents that the decisions change, with the reason for each."""
        decisions = self.standing
        named = sorted({name for one in decisions for name in one.ids})
        if not named:
            return []
        if unknown := self._unknown(named):
            raise InputError(
                f"{self.file.path} names {counted(len(unknown), 'document')} that the run does not have, such as "
                f"{', '.join(map(repr, unknown[:_SHOWN]))}; undo these decisions, or repeat the run they are about"
            )
        return effects(decisions, self._concerned(named), self._rules(), self._texts)

    def apply(
        self, output: str | os.PathLike[str] | None = None, *, overwrite: bool = False,
        resources: Resources | None = None,
    ) -> AppliedDecisions:  # fmt: skip
        """Write a new run, with its `kept/`, in which the decisions count; by default beside the run."""
        decisions = self.standing
        if not decisions:
            raise InputMissing(
                f"there are no decisions about {self.run.folder}; make some in the explorer or in Python"
            )
        resources = resources or Resources()
        folder = self.run.folder if self.run.folder.name not in ("", "..") else self.run.folder.resolve()
        target = Path(output) if output is not None else folder.with_name(f"{folder.name}.decided")
        with OutputFolder(target, overwrite=overwrite) as out, closing(self._input()) as source:
            changed = self.effects()
            values = {name: [_value(one, name) for one in changed] for name in CHANGED.names}
            with self.tables.decided(pa.table(values, CHANGED)) as decided:
                counts = decided.write(out.result)
                copied = copy_parts(
                    source.parts, decided.kept_rows(), out.result / "kept", threads=resources.threads,
                    memory=resources.memory,
                )  # fmt: skip
                if (found := sum(copied)) != counts["kept"]:
                    raise InputError(
                        f"the input has {found:,} of the {counts['kept']:,} documents to be kept: it has changed since "
                        f"the run; {_RESTORE}"
                    )
                digests = (batch for batch in decided.kept_rows() if "raw_lo" in batch.schema.names)
                check_texts(source.parts, digests, resources.threads, f"since the run; {_RESTORE}")
            self._copy_rest(out.result)
            self._write_account(out.result, decisions, changed, counts)
            out.finish()
        return AppliedDecisions(target, len(decisions), counts["kept"], counts["removed"], tuple(changed))

    # ------------------------------------------------------------------ the run

    def _unknown(self, ids: Sequence[str]) -> list[str]:
        known = {row["doc_id"] for row in self.tables.rows_of("doc_id", ids)}
        return [name for name in ids if name not in known]

    def _concerned(self, named: Sequence[str]) -> Concerned:
        """The documents of the clusters that are named, those that have a witness among them, and their pairs."""
        rows = {row["doc_id"]: row for row in self.tables.rows_of("doc_id", named)}
        rows |= {
            row["doc_id"]: row
            for row in self.tables.rows_of("cluster_id", [row["cluster_id"] for row in rows.values()])
        }
        rows |= {row["doc_id"]: row for row in self.tables.rows_of("kept_id", list(rows))}
        with refuse_damage(self.run.folder / "pairs.parquet", "make the run again"):
            pairs = [
                (row["left_id"], row["right_id"], Scores(*(row[name] for name in _SCORES)))
                for row in self.tables.pairs_of(list(rows))
            ]
        others = {name for left, right, _ in pairs for name in (left, right)} | {
            row["kept_id"] for row in rows.values()
        }
        found = self.tables.rows_of("doc_id", [name for name in others if name not in rows])
        outside = {row["doc_id"]: row["cluster_id"] for row in found if row["kept"]}
        removed = {row["doc_id"] for row in found if not row["kept"]}
        archived = {row["kept_id"] for row in rows.values()} - set(rows) - removed
        return Concerned(list(rows.values()), pairs, {name: name for name in archived} | outside)

    def _rules(self) -> RunRules:
        quality, size = requested_quality(self.run.run_json), int(self.run.settings["shingle_size"])

        def score(left: str, right: str) -> Scores:
            found = score_texts(left, right, size)
            return Scores(found.resemblance, found.containment, found.contained_in)

        threshold = None if quality.threshold is None else float(quality.threshold)
        return RunRules(quality.measure, threshold, judging_of(self.run.run_json).on == "equality", score)

    def _input(self) -> Input:
        return Input(self.run.folder, self.run.run_json, self._inputs)

    def _texts(self, ids: Sequence[str]) -> Mapping[str, str | None]:
        rows = {row["doc_id"]: row for row in self.tables.rows_of("doc_id", ids) if row["part"] is not None}
        places = {name: (row["part"], row["row"]) for name, row in rows.items()}
        with closing(self._input()) as source:
            read = source.records(places.values())
        found: dict[str, str | None] = dict.fromkeys(ids)
        for name, place in places.items():
            record = read.get(place)
            if record is not None and record.bytes == rows[name]["bytes"]:
                found[name] = record.text
        return found

    # ------------------------------------------------------------------ what is written

    def _copy_rest(self, folder: Path) -> None:
        for name in ("known.parquet", LANDMARKS, "quarantine.jsonl"):
            source = self.run.folder / name
            if source.is_dir():
                shutil.copytree(source, folder / name)
            elif source.exists():
                shutil.copyfile(source, folder / name)

    def _write_account(
        self, folder: Path, decisions: Sequence[Decision], changed: Sequence[DecidedDocument], counts: Mapping[str, int]
    ) -> None:
        decided = {
            "of": str(self.run.folder.resolve()),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "decisions": [one.to_dict() for one in decisions],
            "changed": len(changed),
            "overridden": sum(one.overridden for one in changed),
        }
        run = self.run.run_json | {"counts": self.run.run_json["counts"] | counts, "decided": decided}
        (folder / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        lines = "".join(json.dumps(one.to_dict(), separators=(",", ":")) + "\n" for one in changed)
        (folder / "changes.jsonl").write_text(lines, encoding="utf-8")


def _value(one: DecidedDocument, name: str) -> Any:
    return getattr(one.scores, name) if name in _SCORES else getattr(one, name)


def _user() -> str:
    """The name of the user, for decisions without a name."""
    try:
        return getpass.getuser()[:40] or "unknown"
    except (KeyError, OSError):
        return "unknown"
