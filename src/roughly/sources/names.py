"""Names that are unique within a run and do not depend on the order of the inputs.

A part is named after its file's path below the given folder; where two parts would have the same name, both
get their parent folder in front, and so on. These names are the paths below `kept/`, the prefix of generated ids, and
the default `source` of documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath


def unique_names(wanted: Sequence[tuple[str, str]]) -> list[str]:
    """A name for each (folder, path below it), all different."""
    depths = [0] * len(wanted)
    while True:
        names = [_deepened(root, path, depth) for (root, path), depth in zip(wanted, depths, strict=True)]
        counts = Counter(names)
        clashing = [
            index
            for index, name in enumerate(names)
            if counts[name] > 1 and depths[index] < len(_folders(wanted[index][0]))
        ]
        if not clashing:
            return _numbered(names)
        for index in clashing:
            depths[index] += 1


def common_folder(paths: Sequence[str]) -> str:
    """The deepest folder that contains all of these paths or URLs."""
    common = paths[0].split("/")[:-1]
    for path in paths[1:]:
        parts = path.split("/")[:-1]
        shared = 0
        while shared < min(len(common), len(parts)) and common[shared] == parts[shared]:
            shared += 1
        common = common[:shared]
    return "/".join(common)


def split_last(folder: str) -> tuple[str, str]:
    """The folder above and the last name of a path or URL; the name is `documents` if there is none."""
    folders = _folders(folder)
    return ("/".join(folders[:-1]), folders[-1]) if folders else ("", "documents")


def _folders(root: str) -> list[str]:
    return [part for part in root.replace(":", "").split("/") if part not in ("", ".", "..")]


def _deepened(root: str, path: str, depth: int) -> str:
    return "/".join([*_folders(root)[len(_folders(root)) - depth :], path])


def _numbered(names: list[str]) -> list[str]:
    """The last resort, for inputs without a folder to distinguish them."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        path = PurePosixPath(name)
        unique.append(name if seen[name] == 1 else str(path.with_name(f"{path.stem}~{seen[name]}{path.suffix}")))
    return unique
