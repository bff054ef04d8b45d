"""`roughly group`: ranked results in, duplicates grouped and indented under the first, nothing discarded."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from roughly.amounts import counted
from roughly.console.commands import Given
from roughly.console.common_options import COLUMNS, Printing, SettingsLayers
from roughly.console.terminal_output import print_json, print_rejects
from roughly.declarations import argument, option, values
from roughly.declarations import group as options_of
from roughly.fast_dataclass import dataclass
from roughly.settings import ReadOptions, Settings

_READING = ("markup", "main_text", "tokens")
SHOW = ("rank", "newest", "oldest", "longest")


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Options of the command `group`."""

    results: list[str] = argument(help="Results, best first: files, or - for standard input.")
    show: str = option("rank", "Which result of a group is shown: " + ", ".join(SHOW) + ".")
    index: str | None = option(None, "An index of the results: texts are not needed.")
    signatures: Path | None = option(None, "A file of `roughly sign` with the results.")
    layers: SettingsLayers = options_of(SettingsLayers)
    printing: Printing = options_of(Printing, "as_json")
    settings: dict[str, Any] = values(
        Settings,
        "method",
        "threshold",
        "recall",
        "measure",
        "shingle_size",
        "shingle_unit",
        "verify",
        "main_text",
        "tokens",
    )
    reading: ReadOptions = options_of(ReadOptions, *COLUMNS, "markup")


def group(options: GroupOptions, given: Given) -> None:
    """Group ranked results: duplicates are indented under the one that is shown."""
    from roughly.errors import InputMissing, SettingsError

    settings, reading = None, options.reading
    key_file = given.method_options.pop("key_file", None) if options.index is not None else None
    if options.index is None and options.signatures is None:
        from roughly.job.gathered_settings import merge_settings

        settings = merge_settings(given.settings(), preset=options.layers.preset, file=options.layers.settings_file)
        reading = settings.reading(reading)
    elif typed := [name for name in (*given.settings(), *_named(options.layers)) if name not in _READING]:
        stored = "index" if options.index is not None else "signatures"
        raise SettingsError(f"the {stored} has settings of its own; leave out --{', --'.join(typed).replace('_', '-')}")
    from roughly.results.group import group_results

    documents, rejects = _read(options.results, reading, texts=settings is not None)
    print_rejects(rejects)
    if not documents:
        raise InputMissing(f"no results in {', '.join(options.results)}")
    if options.index is not None:
        from roughly.index import Index

        with Index.open(options.index, key_file=key_file) as opened:
            found = group_results(documents, show=options.show, index=opened, signatures=options.signatures)
    else:
        found = group_results(documents, show=options.show, settings=settings, signatures=options.signatures)
    if options.printing.as_json:
        print_json(found.to_dict())
    else:
        from roughly.report.visible import reveal

        print(reveal(str(found)))
        print(
            f"{counted(found.results, 'result')} in {counted(len(found), 'group')}; scores: {found.scores}",
            file=sys.stderr,
        )
    if rejects:
        raise SystemExit(3)


def _named(layers: SettingsLayers) -> list[str]:
    """The options of layers that were given."""
    given = {"preset": layers.preset, "settings": layers.settings_file}
    return [name for name, value in given.items() if value is not None]


def _read(inputs: list[str], options: Any, *, texts: bool) -> tuple[list[dict[str, Any]], list[Any]]:
    """The results in the order of the files; if texts are not needed, the id replaces the text."""
    from roughly.sources import open_parts

    documents: list[dict[str, Any]] = []
    rejects: list[Any] = []
    with tempfile.TemporaryDirectory(prefix="roughly-group-") as spool:
        parts = open_parts(inputs, options, Path(spool)) if texts else _by_id(inputs, options, Path(spool))
        for part in parts:
            for chunk in part.chunks():
                parsed = part.parse(chunk)
                documents += [_plain(row, part.kept_name, texts) for row in parsed.batch.to_pylist()]
                rejects += parsed.rejects
    return documents, rejects


def _plain(row: dict[str, Any], file: str, texts: bool) -> dict[str, Any]:
    """The result without values that the reader generated."""
    if row["source"] == file:
        del row["source"]
    if not texts:
        del row["text"]
    return row


def _by_id(inputs: list[str], options: Any, spool: Path) -> Any:
    from dataclasses import replace

    from roughly.errors import InputError, InputMissing
    from roughly.sources import open_parts

    for name in [options.id_column] if options.id_column else ["doc_id", "id"]:
        try:
            return open_parts(inputs, replace(options, text_column=name, id_column=name), spool)
        except InputMissing:
            raise
        except InputError as problem:
            if "no column" not in str(problem):
                raise
            last = problem
    raise InputError(str(last).replace("--text-column", "--id-column"))
