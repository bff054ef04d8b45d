"""A collection as an archive: a test set, or last year's files, in an index that is deleted after its use.

`dedupe --against` takes an index or a collection. An index has its settings; a collection is indexed with those of the
run, and read as its input is.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from roughly.errors import InputError, InputMissing
from roughly.index import Index
from roughly.index.storage.store import is_postgres
from roughly.settings import ReadOptions, Resources, Settings
from roughly.sources import open_parts
from roughly.sources.formats import format_of
from roughly.temporary_space import TemporarySpace

_GLOB = "*?["


class CollectionArchive(Index):
    """An index of a collection, in a temporary folder."""

    given: str
    folder: Path

    @property
    def name(self) -> str:
        """The collection, as the user gave it."""
        return self.given

    def close(self) -> None:
        """Close the index and delete it."""
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


def is_collection(where: str | os.PathLike[str]) -> bool:
    """Whether this names documents rather than an index: a folder, a glob, or a file with the ending of a format."""
    text = os.fspath(where)
    if is_postgres(text) or text.startswith("sqlite:"):
        return False
    return Path(text).is_dir() or format_of(text) is not None or any(sign in text for sign in _GLOB)


def archive_of(
    where: str | os.PathLike[str], settings: Settings, reading: ReadOptions, resources: Resources
) -> CollectionArchive:
    """The documents of a collection as an archive; a record that cannot be read ends it, since it could be missed."""
    folder = Path(tempfile.mkdtemp(prefix="roughly-against-", dir=resources.temp))
    space = TemporarySpace(resources.temp_limit, folder)
    archive = None
    try:
        archive = CollectionArchive.create(folder / "collection.db", settings)
        archive.given, archive.folder = os.fspath(where), folder
        documents = 0
        for part in open_parts([os.fspath(where)], reading, folder / "spool"):
            for chunk in part.chunks():
                parsed = part.parse(chunk)
                if parsed.rejects:
                    first = parsed.rejects[0]
                    raise InputError(f"{first.file}, {first.record}: {first.reason}; --against needs every record")
                documents += parsed.batch.num_rows
                for _ in archive.adding(parsed.batch):
                    pass
                space.check()
        if not documents:
            raise InputMissing(f"no documents in {os.fspath(where)}: nothing to compare with")
    except BaseException:
        if archive is not None and hasattr(archive, "folder"):
            archive.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return archive
