"""The folder of a run under way: artefacts that are whole, or are not there.

An artefact is a few files and a marker. The marker is written last, after the files are on disk, and holds their
sizes and checksums; so after a kill at any moment an artefact is either complete and provably so, or is built
again. A run may go on only with the same settings, the same inputs and the same version: `identity` says which.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from roughly.errors import RoughlyError

_IDENTITY = "identity.json"


class Workspace:
    """A folder of artefacts with checksums."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        if resume and folder.exists() and not self._is_bare():
            self._check(identity)
        else:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            _write(folder / _IDENTITY, json.dumps(identity, sort_keys=True, indent=1).encode())

    def _is_bare(self) -> bool:
        """Whether a run was killed before it could say what it is; there is nothing to take over."""
        return {path.name for path in self.folder.iterdir()} <= {f"{_IDENTITY}.new"}

    def _check(self, identity: dict[str, Any]) -> None:
        path = self.folder / _IDENTITY
        if not path.exists():
            raise RoughlyError(f"{self.folder} is not an unfinished run; start anew with --overwrite")
        before = json.loads(path.read_text())
        now = json.loads(json.dumps(identity))
        changed = sorted(k for k in before.keys() | now.keys() if before.get(k) != now.get(k))
        if changed:
            raise RoughlyError(
                f"cannot resume {self.folder}: {', '.join(changed)} changed since it was started; "
                "repeat the command with what it had, or start anew with --overwrite"
            )

    def path(self, name: str) -> Path:
        """Where a file of that name belongs."""
        return self.folder / name

    def commit(self, name: str, files: list[Path], info: dict[str, Any]) -> None:
        """Declare an artefact complete."""
        sums = {}
        for file in files:
            sums[file.name] = [file.stat().st_size, checksum(file)]
            _sync(file)
        _write(self.path(f"{name}.done"), json.dumps({"files": sums, "info": info}).encode())

    def found(self, name: str) -> dict[str, Any] | None:
        """What an artefact was committed with, or None where it is missing, incomplete or damaged."""
        marker = self.path(f"{name}.done")
        if not marker.exists():
            return None
        try:
            content = json.loads(marker.read_text())
            for file, (size, crc) in content["files"].items():
                path = self.path(file)
                if path.stat().st_size != size or checksum(path) != crc:
                    return None
        except (OSError, ValueError, KeyError):
            return None
        info: dict[str, Any] = content["info"]
        return info

    def info(self, name: str) -> dict[str, Any]:
        """What an artefact was committed with; it must be there."""
        info: dict[str, Any] = json.loads(self.path(f"{name}.done").read_text())["info"]
        return info

    def save(
        self, name: str, arrays: dict[str, npt.NDArray[Any]], info: dict[str, Any], more: Sequence[Path] = ()
    ) -> None:
        """Keep arrays as an artefact, with files that belong to it."""
        files = list(more)
        for key, array in arrays.items():
            path = self.path(f"{name}.{key}.npy")
            np.save(path, array, allow_pickle=False)
            files.append(path)
        self.commit(name, files, info)

    def array(self, name: str, key: str) -> npt.NDArray[Any]:
        """An array of an artefact that was found."""
        array: npt.NDArray[Any] = np.load(self.path(f"{name}.{key}.npy"), allow_pickle=False)
        return array

    def discard(self, name: str) -> None:
        """Forget an artefact's marker; its files will be written again."""
        self.path(f"{name}.done").unlink(missing_ok=True)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(p.stat().st_size for p in self.folder.rglob("*") if p.is_file())


def checksum(path: Path) -> int:
    """CRC-32 of a file: it tells damage, not malice."""
    crc = 0
    with path.open("rb") as stream:
        while block := stream.read(1 << 22):
            crc = isal_zlib.crc32(block, crc)
    return int(crc)


def _write(path: Path, content: bytes) -> None:
    temp = path.with_name(path.name + ".new")
    temp.write_bytes(content)
    _sync(temp)
    temp.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
