"""`roughly audit qrels|labels|leaks`: duplicates judged, labelled or split as if they were different documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from roughly.amounts import counted
from roughly.console.commands import command_group, register
from roughly.console.common_options import Printing
from roughly.console.terminal_output import LISTED, end, print_json
from roughly.declarations import REQUIRED, argument, group, option
from roughly.fast_dataclass import dataclass
from roughly.tools.audit.request import LEAK_THRESHOLD, AuditRequest

if TYPE_CHECKING:
    from roughly.meter import Listener
    from roughly.tools.audit.findings import Audit

app = command_group("Find duplicates that were judged or labelled differently, or leak from training into test.")
_SHOWN = 10
_OFFERED = ("threshold", "shingle_size", "text_column", "id_column", "main_text", "memory", "threads")


@dataclass(frozen=True, kw_only=True)
class FindingsOptions:
    """Where the findings of an audit go."""

    output: Path | None = option(None, "Folder to write findings.csv and findings.json to.", "-o", "--output")
    printing: Printing = group(Printing, "overwrite", "as_json")
    fail: bool = option(False, "Exit with code 3 if anything was found.")


@dataclass(frozen=True, kw_only=True)
class QrelsOptions:
    """Options of the command `qrels`."""

    judgments: Path = argument(help="TREC relevance judgments.", metavar="QRELS")
    documents: list[str] | None = option(None, "The documents; several are read as one.")
    run: Path | None = option(
        None, "In their place, output of roughly dedupe with any method, or a file of pairs or clusters."
    )
    request: AuditRequest = group(AuditRequest, *_OFFERED)
    findings: FindingsOptions = group(FindingsOptions)


@register(app, QrelsOptions)
def qrels(options: QrelsOptions) -> None:
    """Find relevance judgments that disagree on duplicates."""
    from roughly.errors import SettingsError
    from roughly.tools.audit.api import ONE_OF, run_audit_groups, run_audit_qrels

    documents, run = options.documents, options.run
    if (not documents) == (run is None):
        raise SettingsError(ONE_OF)
    if run is not None:
        _report(lambda at: run_audit_groups(options.judgments, run, options.request), options.findings)
    else:
        _report(lambda at: run_audit_qrels(options.judgments, documents or (), options.request, at), options.findings)


@dataclass(frozen=True, kw_only=True)
class LabelsOptions:
    """Options of the command `labels`."""

    inputs: list[str] = argument(help="Files, folders or globs of labelled documents.")
    label: str = option(REQUIRED, "Column of the label.")
    request: AuditRequest = group(AuditRequest, *_OFFERED)
    findings: FindingsOptions = group(FindingsOptions)


@register(app, LabelsOptions)
def labels(options: LabelsOptions) -> None:
    """Find duplicates with different labels."""
    from roughly.tools.audit.api import run_audit_labels

    _report(lambda at: run_audit_labels(options.inputs, options.label, options.request, at), options.findings)


@dataclass(frozen=True, kw_only=True)
class LeaksOptions:
    """Options of the command `leaks`."""

    train: list[str] = option(REQUIRED, "Training documents; several are read as one.")
    test: list[str] = option(REQUIRED, "Test documents; several are read as one.")
    request: AuditRequest = group(AuditRequest, *_OFFERED, "passages", threshold=LEAK_THRESHOLD)
    findings: FindingsOptions = group(FindingsOptions)


@register(app, LeaksOptions)
def leaks(options: LeaksOptions) -> None:
    """Find test documents that are in the training set, whole or in part."""
    from roughly.tools.audit.api import run_audit_leaks

    _report(lambda at: run_audit_leaks(options.train, options.test, options.request, at), options.findings)


def _report(run: Callable[[Listener], Audit], options: FindingsOptions) -> None:
    """Run an audit with a progress bar; write and print what it found."""
    from roughly.console.progress import Progress

    with Progress() as progress:
        found = run(progress)
    if options.output is not None:
        found.write(options.output, options.printing.overwrite)
    if options.printing.as_json:
        print_json(found.to_dict())
    else:
        _print_findings(found, options.output)
    end(found.rejects, failed=options.fail and len(found) > 0)


def _print_findings(found: Audit, output: Path | None) -> None:
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
        listed = ", ".join(found.unknown[:LISTED]) + (", …" if len(found.unknown) > LISTED else "")
        print(f"named but not among the documents: {len(found.unknown):,} ({listed})")
    print(f"findings: {len(found):,}" + (f", in {output}" if output is not None else ""))


def _shown(name: str, value: object) -> str:
    if isinstance(value, float):
        return f"{name} {value:.3f}"
    if isinstance(value, list):
        words = sum(passage["words"] for passage in value)
        return f"{counted(len(value), 'passage')} of {counted(words, 'word')}" if value else "no passage"
    return str(value) if name in ("topic", "kind") or name.endswith("_id") else f"{name.replace('_', ' ')} {value}"
