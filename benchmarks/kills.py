"""Kill a run at random moments, resume it until it is done, and compare every byte with an undisturbed run.

    python -m benchmarks.kills INPUT… --kills 100

Each round starts a run, kills it (SIGKILL) at a moment drawn from its usual duration, resumes it, kills that too with
one chance in three, and so on until it ends. Once in five rounds a file of the interrupted run is damaged as well: a
byte flipped, or the end cut off. A round counts as identical if all outputs but the account of the run itself
(`run.json` and the report hold times) have the same bytes, and the account the same counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

_TIMES = {"run.json", "report.html", "report.json"}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__.split("\n\n")[0])
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="also write the result here, as JSON")
    parser.add_argument(
        "--option", action="append", default=[], help="passed on to dedupe, such as --option=--memory=1GB"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="roughly-kills-") as folder:
        result = kill(asked.inputs, Path(folder), asked.kills, asked.seed, asked.option)
    print(json.dumps(result, indent=1))
    if asked.out:
        asked.out.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(0 if result["identical"] == result["rounds"] else 1)


def kill(
    inputs: list[str], folder: Path, kills: int, seed: int = 1, options: list[str] | None = None
) -> dict[str, Any]:
    """Kill `kills` runs or more; returns how many rounds there were and how many ended identically."""
    command = [sys.executable, "-m", "roughly", "dedupe", *inputs, "--quiet", *(options or [])]
    start = time.perf_counter()
    subprocess.run([*command, "-o", str(folder / "whole")], check=True, stdin=subprocess.DEVNULL)
    usual = time.perf_counter() - start
    wanted = digests(folder / "whole")
    chance = random.Random(seed)
    stages: Counter[str] = Counter()
    rounds = identical = killed = damaged = 0
    out = folder / "out"
    while killed < kills:
        again = False
        while True:
            run = subprocess.Popen(
                [*command, "-o", str(out), *(["--resume"] if again else [])],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            spare = again and chance.random() < 2 / 3
            try:
                _, said = run.communicate(timeout=None if spare else chance.uniform(0.0, usual))
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.communicate()
                killed += 1
                partial = out.with_name(out.name + ".partial")
                stages[_reached(partial)] += 1
                if chance.random() < 0.2:
                    damaged += _damage(partial, chance)
                if out.exists():  # killed while it was leaving: the result stands already
                    shutil.rmtree(partial, ignore_errors=True)
                    break
                again = partial.exists()
                continue
            if run.returncode:
                raise RuntimeError(f"round {rounds}: exit code {run.returncode}: {said.decode()}")
            break
        rounds += 1
        identical += digests(out) == wanted
        shutil.rmtree(out)
    return {
        "rounds": rounds,
        "identical": identical,
        "kills": killed,
        "damaged_files": damaged,
        "killed_after": dict(stages.most_common()),
        "seconds_undisturbed": round(usual, 2),
    }


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every output that holds no times, and what the account of the run counts."""
    account = json.loads((folder / "run.json").read_text())
    return {"counts": json.dumps([account["fingerprint"], account["counts"]])} | {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in _TIMES
    }


def _reached(partial: Path) -> str:
    """The last artefact that was complete."""
    done = sorted(partial.rglob("*.done"), key=lambda path: path.stat().st_mtime_ns)
    name = done[-1].stem if done else "nothing"
    return "reading" if name.startswith("segment") else name


def _damage(partial: Path, chance: random.Random) -> int:
    """Flip a byte of one artefact, or cut off its end."""
    files = [p for p in sorted(partial.rglob("*")) if p.is_file() and p.stat().st_size and p.suffix in _ARTEFACTS]
    if not files:
        return 0
    path = chance.choice(files)
    content = bytearray(path.read_bytes())
    at = chance.randrange(len(content))
    if chance.random() < 0.5:
        content[at] ^= 0x10
    else:
        del content[at:]
    path.write_bytes(content)
    return 1


_ARTEFACTS = {".parquet", ".npy", ".keys", ".sketches", ".bin"}

if __name__ == "__main__":
    main()
