"""Folders of mail: Maildirs, and `.eml` files. One file, one message.

The id is the Message-ID, or the path if there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from roughly.errors import InputError
from roughly.settings import ReadOptions
from roughly.sources.collector import Collector
from roughly.sources.files import File, local_file
from roughly.sources.folder import FolderPart
from roughly.sources.mail import read_mail
from roughly.sources.part import ALONE, CopyBudget, Mask


class MailFolder(FolderPart):
    """`.eml` files."""

    format = "eml"

    def _add(self, row: int, file: File, data: bytes, collector: Collector) -> None:
        mail = read_mail(data)
        collector.add(
            row,
            mail.message_id or self._id_from_path(file),
            mail.text,
            markup=mail.is_html and self._options.markup != "none",
            title=mail.subject,
            date=mail.date,
        )


class Maildir(MailFolder):
    """A folder with `cur` and `new`, as mail servers keep them. What is in `tmp` is not mail yet."""

    format = "maildir"

    def __init__(self, folder: Path, options: ReadOptions, kept_name: str, id_prefix: str = "") -> None:
        super().__init__(str(folder), _messages(folder), options, kept_name, id_prefix)
        if not self._files:
            self.notes.append("empty: no documents")

    def copy(self, keep: Mask, folder: Path, budget: CopyBudget = ALONE) -> int:
        """Copy the kept messages into a complete Maildir."""
        for name in ("cur", "new", "tmp"):
            (folder / self.kept_name / name).mkdir(parents=True, exist_ok=True)
        return super().copy(keep, folder, budget)


def _messages(folder: Path) -> Sequence[File]:
    try:
        return [
            local_file(path, f"{name}/{path.name}")
            for name in ("cur", "new")
            for path in sorted((folder / name).iterdir())
            if path.is_file() and not path.name.startswith(".")
        ]
    except OSError as error:
        raise InputError(f"{folder}: the Maildir cannot be read: {error.strerror}") from error
