"""An index made from a run of `dedupe`, with its settings, documents and clusters.

A run does not store the documents that it removed, so its input is read once more. It must not have changed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from roughly import methods
from roughly.errors import InputError, InputMissing, SettingsError
from roughly.index.index_config import make_config
from roughly.index.storage.store import check_place
from roughly.index.upkeep.bulk_load import load
from roughly.lexicon.builder import count_parts
from roughly.lexicon.lexicon import Lexicon
from roughly.meter import Meter
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import open_parts


def import_run(
    folder: Path,
    where: str | os.PathLike[str],
    *,
    inputs: Sequence[str] | None = None,
    store: str = "text",
    key_file: str | None = None,
    reading: ReadOptions | None = None,
    resources: Resources | None = None,
    advance: Callable[[int], None] = lambda done: None,
) -> int:
    """Build an index from the folder of a run; returns the number of documents."""
    resources = resources or Resources()
    settings, named = read_run(folder, key_file)
    check_place(where, new=True)
    with tempfile.TemporaryDirectory(prefix="roughly-import-", dir=resources.temp) as spool:
        options = reading or settings.reading()
        parts = open_parts(list(inputs or named), options, Path(spool))
        counted: Lexicon | None = None
        if methods.needs_count(settings):
            path = Path(spool) / "collection.lexicon"
            filters = methods.counted_with(settings)
            count_parts(parts, path, filters=filters, page=settings.page_text, resources=resources, meter=Meter(None))
            counted = Lexicon.open(path)
        config = make_config(settings, store, counted)
        verdicts = folder / "documents.parquet"
        return load(where, config, parts, verdicts, resources=resources, advance=advance)


def read_run(folder: Path, key_file: str | None = None) -> tuple[Settings, list[str]]:
    """The settings of a run, and the names of its inputs."""
    account = folder / "run.json"
    if not account.is_file() or not (folder / "documents.parquet").is_file():
        raise InputMissing(f"{folder} is not a run of roughly; name the folder that `roughly dedupe` wrote")
    try:
        run = json.loads(account.read_text(encoding="utf-8"))
        values, contents, inputs = run["settings"], run["contents"], run["inputs"]
    except (ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{account} is damaged; run dedupe again") from problem
    if "against" in run:
        raise InputError(
            f"{folder} is a run against an archive, whose documents it does not have; add its input to that archive"
        )
    if values.get("on_duplicate_id") == "number":
        raise InputError(f"{folder} has numbered ids that its input does not have; give documents ids of their own")
    if "key" in contents:
        if key_file is None:
            raise SettingsError(f"{folder} was made with a secret key; give it again with --key-file")
        values["options"]["key_file"] = key_file
    return Settings.from_dict(values), list(inputs)
