"""`roughly audit qrels|labels|leaks`: duplicates judged, labelled or split as if they were different documents."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from roughly.console.commands import register
from roughly.console.common_options import Printing
from roughly.declarations import REQUIRED, argument, group, option
from roughly.tools.audit.request import LEAK_THRESHOLD, AuditRequest

if TYPE_CHECKING:
    from roughly.tools.audit.findings import Audit

app = typer.Typer(
    help="Duplicates that were judged or labelled differently, or leak from training into test.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_SHOWN = 10
_OFFERED = ("threshold", "shingle_size", "text_column", "id_column", "main_text", "memory", "threads")


@dataclass(frozen=True, kw_only=True)
class QrelsOptions:
    """Options of the command `qrels`."""

    judgments: Path = argument(help="TREC relevance judgments.", metavar="QRELS")
    documents: list[str] = option(REQUIRED, "The documents; several are read as one.")
    output: Path | None = option(None, "Folder to write findings.csv and findings.json to.", "-o", "--output")
    request: AuditRequest = group(AuditRequest, *_OFFERED)
    printing: Printing = group(Printing, "overwrite", "as_json")
    fail: bool = option(False, "End with 3 where anything was found.")


@register(app, QrelsOptions)
def qrels(options: QrelsOptions) -> None:
    """Find relevance judgments that disagree on duplicates."""
    from roughly.console.progress import Progress
    from roughly.tools.audit.api import run_audit_qrels

    with Progress() as progress:
        found = run_audit_qrels(options.judgments, options.documents, options.request, progress)
    _tell(found, options.output, options.printing.overwrite, options.printing.as_json)
    _end(found, options.fail)


@dataclass(frozen=True, kw_only=True)
class LabelsOptions:
    """Options of the command `labels`."""

    inputs: list[str] = argument(help="Files, folders or globs of labelled documents.")
    label: str = option(REQUIRED, "Column that holds the label.")
    output: Path | None = option(None, "Folder to write findings.csv and findings.json to.", "-o", "--output")
    request: AuditRequest = group(AuditRequest, *_OFFERED)
    printing: Printing = group(Printing, "overwrite", "as_json")
    fail: bool = option(False, "End with 3 where anything was found.")


@register(app, LabelsOptions)
def labels(options: LabelsOptions) -> None:
    """Find duplicates that carry different labels."""
    from roughly.console.progress import Progress
    from roughly.tools.audit.api import run_audit_labels

    with Progress() as progress:
        found = run_audit_labels(options.inputs, options.label, options.request, progress)
    _tell(found, options.output, options.printing.overwrite, options.printing.as_json)
    _end(found, options.fail)


@dataclass(frozen=True, kw_only=True)
class LeaksOptions:
    """Options of the command `leaks`."""

    train: list[str] = option(REQUIRED, "Training documents; several are read as one.")
    test: list[str] = option(REQUIRED, "Test documents; several are read as one.")
    output: Path | None = option(None, "Folder to write findings.csv and findings.json to.", "-o", "--output")
    request: AuditRequest = group(AuditRequest, *_OFFERED, "passages", threshold=LEAK_THRESHOLD)
    printing: Printing = group(Printing, "overwrite", "as_json")
    fail: bool = option(False, "End with 3 where anything was found.")


@register(app, LeaksOptions)
def leaks(options: LeaksOptions) -> None:
    """Find test documents that stand in the training set, whole or in part."""
    from roughly.console.progress import Progress
    from roughly.tools.audit.api import run_audit_leaks

    with Progress() as progress:
        found = run_audit_leaks(options.train, options.test, options.request, progress)
    _tell(found, options.output, options.printing.overwrite, options.printing.as_json)
    _end(found, options.fail)


def _tell(found: Audit, output: Path | None, overwrite: bool, as_json: bool) -> None:
    if output is not None:
        found.write(output, overwrite)
    if as_json:
        json.dump(found.to_dict(), sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    shown = found.findings.slice(0, _SHOWN)
    for row in shown.to_pylist():
        print("  ".join(_shown(name, value) for name, value in row.items() if value is not None))
    if len(found) > _SHOWN:
        print(f"… and {len(found) - _SHOWN:,} more")
    for name, value in found.counts.items():
        if isinstance(value, dict):
            print(f"{name.replace('_', ' ')}: " + (", ".join(f"{k} {v:,}" for k, v in value.items()) or "none"))
        else:
            print(f"{name.replace('_', ' ')}: {value:,}")
    if found.unknown:
        listed = ", ".join(found.unknown[:5]) + (", …" if len(found.unknown) > 5 else "")
        print(f"named but not among the documents: {len(found.unknown):,} ({listed})")
    print(f"findings: {len(found):,}" + (f", in {output}" if output is not None else ""))


def _shown(name: str, value: object) -> str:
    if isinstance(value, float):
        return f"{name} {value:.3f}"
    if isinstance(value, list):
        words = sum(passage["words"] for passage in value)
        return f"{len(value)} passages of {words:,} words" if value else "no passage"
    return str(value) if name in ("topic", "kind") or name.endswith("_id") else f"{name.replace('_', ' ')} {value}"


def _end(found: Audit, fail: bool) -> None:
    for reject in found.rejects[:5]:
        print(f"rejected: {reject.file}, {reject.record}: {reject.reason}", file=sys.stderr)
    if found.rejects or (fail and len(found)):
        raise typer.Exit(3)
