"""`roughly audit qrels|labels|leaks`: duplicates judged, labelled or split as if they were different documents."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from roughly.tools.audit.findings import Audit

app = typer.Typer(
    help="Duplicates that were judged or labelled differently, or leak from training into test.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_SHOWN = 10

Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Folder to write findings.csv and findings.json to.")
]
Shingle = Annotated[int, typer.Option("--shingle-size", help="Words in a shingle.")]
Text = Annotated[str | None, typer.Option("--text-column", help="Column that holds the text.")]
Id = Annotated[str | None, typer.Option("--id-column", help="Column that holds the id.")]
Main = Annotated[bool, typer.Option("--main-text", help="Of HTML, the main text only.")]
Memory = Annotated[str, typer.Option("--memory", help="For the whole process, as in 4GB or 512MB.")]
Threads = Annotated[int, typer.Option("--threads", help="0: one a core.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace findings that are there.")]
Fail = Annotated[bool, typer.Option("--fail", help="End with 3 where anything was found.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Alike = Annotated[float, typer.Option("--threshold", help="Resemblance of duplicates.")]
Held = Annotated[float, typer.Option("--threshold", help="Share of one document that the other holds.")]


@app.command()
def qrels(
    judgments: Annotated[Path, typer.Argument(help="TREC relevance judgments.", metavar="QRELS")],
    documents: Annotated[list[str], typer.Option("--documents", help="The documents; several are read as one.")],
    output: Output = None,
    threshold: Alike = 0.9,
    shingle_size: Shingle = 5,
    text_column: Text = None,
    id_column: Id = None,
    main_text: Main = False,
    memory: Memory = "4GB",
    threads: Threads = 0,
    overwrite: Overwrite = False,
    fail: Fail = False,
    as_json: AsJson = False,
) -> None:
    """Find relevance judgments that disagree on duplicates."""
    from roughly.console.progress import Progress
    from roughly.tools.audit.api import audit_qrels

    with Progress() as progress:
        found = audit_qrels(
            judgments, documents, threshold=threshold, shingle_size=shingle_size, main_text=main_text, memory=memory,
            threads=threads, listener=progress, text_column=text_column, id_column=id_column,
        )  # fmt: skip
    _tell(found, output, overwrite, as_json)
    _end(found, fail)


@app.command()
def labels(
    inputs: Annotated[list[str], typer.Argument(help="Files, folders or globs of labelled documents.")],
    label: Annotated[str, typer.Option("--label", help="Column that holds the label.")],
    output: Output = None,
    threshold: Alike = 0.9,
    shingle_size: Shingle = 5,
    text_column: Text = None,
    id_column: Id = None,
    main_text: Main = False,
    memory: Memory = "4GB",
    threads: Threads = 0,
    overwrite: Overwrite = False,
    fail: Fail = False,
    as_json: AsJson = False,
) -> None:
    """Find duplicates that carry different labels."""
    from roughly.console.progress import Progress
    from roughly.tools.audit.api import audit_labels

    with Progress() as progress:
        found = audit_labels(
            inputs, label, threshold=threshold, shingle_size=shingle_size, main_text=main_text, memory=memory,
            threads=threads, listener=progress, text_column=text_column, id_column=id_column,
        )  # fmt: skip
    _tell(found, output, overwrite, as_json)
    _end(found, fail)


@app.command()
def leaks(
    train: Annotated[list[str], typer.Option("--train", help="Training documents; several are read as one.")],
    test: Annotated[list[str], typer.Option("--test", help="Test documents; several are read as one.")],
    output: Output = None,
    threshold: Held = 0.5,
    shingle_size: Shingle = 5,
    passages: Annotated[int, typer.Option("--passages", help="Findings whose passages are looked up.")] = 1000,
    text_column: Text = None,
    id_column: Id = None,
    main_text: Main = False,
    memory: Memory = "4GB",
    threads: Threads = 0,
    overwrite: Overwrite = False,
    fail: Fail = False,
    as_json: AsJson = False,
) -> None:
    """Find test documents that stand in the training set, whole or in part."""
    from roughly.console.progress import Progress
    from roughly.tools.audit.api import audit_leaks

    with Progress() as progress:
        found = audit_leaks(
            train, test, threshold=threshold, shingle_size=shingle_size, passages=passages, main_text=main_text,
            memory=memory, threads=threads, listener=progress, text_column=text_column, id_column=id_column,
        )  # fmt: skip
    _tell(found, output, overwrite, as_json)
    _end(found, fail)


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
