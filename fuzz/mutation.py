"""Files changed at random, for the targets that are written in Python."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from roughly.errors import RoughlyError

INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """A copy with one to four changes: bytes replaced, removed, repeated, or the end cut off."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        count = chance.choice((1, 1, 2, 4, 8, 64))
        match chance.randrange(6):
            case 0:
                changed[at : at + count] = chance.randbytes(count)
            case 1:
                changed[at : at + count] = bytes([chance.choice(INTERESTING)]) * count
            case 2 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 3:
                del changed[at : at + count]
            case 4:
                changed[at:at] = changed[at : at + count]
            case 5 if chance.random() < 0.1:
                del changed[at:]
    return bytes(changed)


def try_file(path: Path, use: Callable[[Path], None]) -> None:
    """Use a file, which either works or is refused with an error of ours."""
    try:
        use(path)
    except RoughlyError as problem:
        if "\n" in str(problem).strip():
            raise AssertionError("a message is one line") from problem


def run_target(
    seeds: Sequence[bytes], change: Callable[[bytes, random.Random], bytes], use: Callable[[Path], None],
    wanted: int, findings: Path,
) -> dict[str, int]:  # fmt: skip
    """Try changed copies of the seeds until this many bytes were used; a finding is kept under its own name."""
    findings.mkdir(parents=True, exist_ok=True)
    path = findings / f"current-{use.__module__}"  # still there if the process is killed by what it reads
    chance = random.Random(1)
    tried = inputs = 0
    while tried < wanted:
        path.write_bytes(change(chance.choice(seeds), chance))
        tried, inputs = tried + path.stat().st_size, inputs + 1
        try:
            try_file(path, use)
        except Exception:
            path.rename(findings / f"{use.__module__}-{inputs}")
            raise
    path.unlink(missing_ok=True)
    return {"bytes": tried, "inputs": inputs}
