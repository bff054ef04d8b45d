"""The working folder of a run: every artefact is complete or absent.

An artefact is a few files and a marker. The marker is written last and holds their sizes and checksums; so after a
kill at any time an artefact is either provably complete or is built again. The run does not wait for the disk: what
the system has not written yet when the power fails, mostly that of the last half minute, is built again. A run may
continue only with the same settings, the same inputs and the same version: `identity` says which.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from roughly.errors import RoughlyError
from roughly.temporary_space import TemporarySpace, delete_folder
from roughly.threads import map_in_order

IDENTITY = "identity.json"
_DIGESTS = {"contents": "the content of a lexicon or key changed", "against": "the archive changed"}
_RANGE = 1 << 26
"""Bytes of a file whose checksum one thread computes."""
_BLOCK = 1 << 20
"""Bytes read at once."""


class Workspace:
    """A folder of artefacts with checksums."""

    def __init__(
        self,
        folder: Path,
        identity: dict[str, Any],
        *,
        resume: bool = False,
        threads: int = 1,
        space: TemporarySpace | None = None,
    ) -> None:
        """`threads` compute checksums; `space` is what may be written."""
        self.folder, self._threads = folder, threads
        self.space = space or TemporarySpace(None, folder)
        if resume and folder.exists() and not self._is_bare():
            self._check(identity)
        else:
            delete_folder(folder, IDENTITY)
            folder.mkdir(parents=True)
            _write(folder / IDENTITY, json.dumps(identity, sort_keys=True, indent=1).encode(), synced=True)

    def _is_bare(self) -> bool:
        """Whether a run was killed before it wrote its identity, or after it deleted it: there is nothing to reuse."""
        return {path.name for path in self.folder.rglob("*") if not path.is_dir()} <= {f"{IDENTITY}.new"}

    def _check(self, identity: dict[str, Any]) -> None:
        path = self.folder / IDENTITY
        if not path.exists():
            raise RoughlyError(f"{self.folder} is not an unfinished run; start again with --overwrite")
        before = json.loads(path.read_text())
        now = json.loads(json.dumps(identity))
        changed = list(_differences(before, now))
        if changed:
            raise RoughlyError(
                f"cannot resume {self.folder}: since it was started, {', '.join(changed)}; "
                "repeat the command with its options, or start again with --overwrite"
            )

    def path(self, name: str) -> Path:
        """The path of a file of that name."""
        return self.folder / name

    def commit(self, name: str, files: list[Path], info: dict[str, Any]) -> None:
        """Declare an artefact complete."""
        sums = {file.name: [file.stat().st_size, checksum(file, self._threads)] for file in files}
        _write(self.path(f"{name}.done"), json.dumps({"files": sums, "info": info}).encode())

    def found(self, name: str) -> dict[str, Any] | None:
        """The values committed with an artefact; None if it is missing, incomplete or damaged."""
        marker = self.path(f"{name}.done")
        if not marker.exists():
            return None
        try:
            content = json.loads(marker.read_text())
            for file, (size, crc) in content["files"].items():
                path = self.path(file)
                if path.stat().st_size != size or checksum(path, self._threads) != crc:
                    return None
            info: dict[str, Any] = content["info"]
        except (OSError, ValueError, KeyError):
            return None
        return info

    def info(self, name: str) -> dict[str, Any]:
        """The values committed with an artefact, which must exist."""
        info: dict[str, Any] = json.loads(self.path(f"{name}.done").read_text())["info"]
        return info

    def save(
        self, name: str, arrays: dict[str, npt.NDArray[Any]], info: dict[str, Any], more: Sequence[Path] = ()
    ) -> None:
        """Store arrays as an artefact, with files that belong to it."""
        self.space.check(sum(array.nbytes for array in arrays.values()))
        files = list(more)
        for key, array in arrays.items():
            path = self.path(f"{name}.{key}.npy")
            np.save(path, array, allow_pickle=False)
            files.append(path)
        self.commit(name, files, info)

    def array(self, name: str, key: str) -> npt.NDArray[Any]:
        """An array of an existing artefact."""
        array: npt.NDArray[Any] = np.load(self.path(f"{name}.{key}.npy"), allow_pickle=False)
        return array

    def discard(self, name: str) -> None:
        """Remove an artefact's marker; its files will be written again."""
        self.path(f"{name}.done").unlink(missing_ok=True)

    def size(self) -> int:
        """Bytes on disk."""
        return sum(p.stat().st_size for p in self.folder.rglob("*") if p.is_file())


def checksum(path: Path, threads: int = 1) -> int:
    """CRC-32 of the CRC-32s of a file's ranges, which threads compute in parallel: it detects damage, not malice."""
    with path.open("rb") as stream:
        file, size = stream.fileno(), os.fstat(stream.fileno()).st_size

        def of_range(start: int) -> int:
            crc, stop = 0, min(start + _RANGE, size)
            room = memoryview(bytearray(min(_BLOCK, stop - start)))
            while start < stop:
                count = os.preadv(file, [room[: stop - start]], start)
                if not count:
                    break
                crc, start = isal_zlib.crc32(room[:count], crc), start + count
            return crc

        starts = range(0, size, _RANGE)
        crcs = list(map_in_order(of_range, starts, min(threads, len(starts))))
    return int(isal_zlib.crc32(np.array(crcs, "<u4").tobytes()))


def _write(path: Path, content: bytes, synced: bool = False) -> None:
    temp = path.with_name(path.name + ".new")
    temp.write_bytes(content)
    if synced:
        _sync(temp)
    temp.replace(path)
    if synced:
        _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """What changed, each by the name of the setting and both values."""
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if old == new:
            continue
        if name == "inputs":
            yield from _changed_inputs(old or [], new or [])
        elif name in _DIGESTS:
            yield _DIGESTS[name]
        elif isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new)
        else:
            yield f"{name} was {_shown(old)} and is {_shown(new)}"


def _changed_inputs(old: list[Any], new: list[Any]) -> Iterator[str]:
    """Inputs are name, format, size and time of the last change."""
    before, now = ({entry[0]: entry[1:] for entry in entries} for entries in (old, new))
    for name in list(dict.fromkeys([*before, *now])):
        if name not in now:
            yield f"the input {name} is missing"
        elif name not in before:
            yield f"the input {name} is new"
        elif before[name] != now[name]:
            yield f"the input {name} changed"
    if before == now:
        yield "the order of the inputs changed"


def _shown(value: Any) -> str:
    if value is None:
        return "not given"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
