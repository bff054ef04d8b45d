"""Kill commands at random moments, go on until they are done, and compare with what an undisturbed one leaves.

    python -m benchmarks.kills --kills 1000 --workers 16 --out benchmarks/results/kills.json

Each round starts a command, kills it (SIGKILL) at a moment drawn from its usual duration or from the changes of files
that it usually makes, repeats it (with `--resume` where there is one), kills that too with one chance in three, and so
on until it ends. Once in five kills of a run a
file of it is damaged as well: a byte flipped, or the end cut off. A round counts as identical if everything that is
left has the same bytes (the account of a run and the report hold times: the same counts), and nothing else is there.
An index must be whole, with the same documents and pairs. A service must also have what it acknowledged, and must not
have what it acknowledged to have removed (`killed_service.py`). Rounds run side by side, each in its own folder.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.killed_process import Moment, run_command
from benchmarks.measure import machine

ROOT = Path(__file__).resolve().parents[1]
INPUTS = [str(ROOT / "examples" / name) for name in ("policies.jsonl.gz", "news.jsonl")]
_TIMES = {"run.json", "report.html", "report.json", "decisions.jsonl"}
_ARTEFACTS = {".parquet", ".npy", ".keys", ".sketches", ".bin"}
SERVE = "serve"


@dataclass(frozen=True)
class Killed:
    """A command that is killed: its arguments for a folder, and those of the next try."""

    command: Callable[[list[str], Path], list[str]]
    again: tuple[str, ...] = ()
    ends_with: str = ""  # what is there only when all is done
    base: Callable[[list[str], Path], None] = lambda inputs, base: None  # what is there before
    leaves: Callable[[Path], dict[str, str]] = lambda folder: digests(folder)


@dataclass(frozen=True)
class Undisturbed:
    """What a command leaves when nobody kills it, and how long it takes."""

    seconds: float
    leaves: dict[str, str]
    size: int = 0
    before: int = 0  # names and sizes of files that its folder had at the start
    changes: int = 0  # and until the end


@dataclass(frozen=True)
class Limits:
    """Kills of all commands together, rounds at a time, and seconds after which no round begins."""

    kills: int
    workers: int = 1
    seconds: float = 86_400.0
    seed: int = 1


@dataclass
class Round:
    """How one round ended."""

    kills: int = 0
    damaged: int = 0
    lost: int = 0
    identical: bool = False
    problem: str = ""
    reached: tuple[str, ...] = ()


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__.split("\n\n")[0])
    parser.add_argument("inputs", nargs="*", default=INPUTS, help="by default the examples")
    parser.add_argument("--kills", type=int, default=100, help="of all commands together")
    parser.add_argument("--workers", type=int, default=1, help="rounds at a time")
    parser.add_argument("--seconds", type=float, default=86_400.0, help="no round begins later")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[*COMMANDS, SERVE], help="these commands only")
    parser.add_argument("--out", type=Path, help="write the results here too, as JSON")
    asked = parser.parse_args()
    inputs = [str(Path(path).resolve()) for path in asked.inputs]
    with tempfile.TemporaryDirectory(prefix="roughly-kills-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        limits = Limits(asked.kills, asked.workers, asked.seconds, asked.seed)
        found = kill(asked.only or [*COMMANDS, SERVE], inputs, Path(folder), limits)
    print(table(found["commands"]))
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(0 if all(one["identical"] == one["rounds"] for one in found["commands"].values()) else 1)


def kill(names: list[str], inputs: list[str], folder: Path, limits: Limits) -> dict[str, Any]:
    """Kill commands until each has its share of the kills; what came of it, by command."""
    start = time.monotonic()
    share = -(-limits.kills // len(names))
    rounds: dict[str, list[Round]] = {name: [] for name in names}
    begun: Counter[str] = Counter()
    waiting: dict[Future[Round], str] = {}
    with ProcessPoolExecutor(limits.workers, get_context("spawn")) as pool:
        prepared = dict(zip(names, pool.map(prepare, names, [inputs] * len(names), [folder] * len(names)), strict=True))
        while True:
            short = [name for name in names if sum(one.kills for one in rounds[name]) < share]
            late = time.monotonic() - start > limits.seconds
            while short and not late and len(waiting) < limits.workers:
                name = min(short, key=lambda name: begun[name])
                begun[name] += 1
                place = folder / f"{name} {begun[name]}"
                seed = f"{name} {limits.seed} {begun[name]}"
                waiting[pool.submit(one_round, name, inputs, place, prepared[name], seed)] = name
            if not waiting:
                break
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                name, result = waiting.pop(done), done.result()
                rounds[name].append(result)
                if result.problem:
                    print(f"{name}, round {len(rounds[name])}: {result.problem}", file=sys.stderr, flush=True)
    return {
        "machine": machine(), "workers": limits.workers, "seconds": round(time.monotonic() - start),
        "commands": {name: _summary(rounds[name], prepared[name]) for name in names},
    }  # fmt: skip


def _summary(rounds: list[Round], undisturbed: Undisturbed) -> dict[str, Any]:
    return {
        "kills": sum(one.kills for one in rounds),
        "rounds": len(rounds),
        "identical": sum(one.identical for one in rounds),
        "damaged_files": sum(one.damaged for one in rounds),
        "lost_acknowledged": sum(one.lost for one in rounds),
        "killed_after": dict(Counter(stage for one in rounds for stage in one.reached).most_common()),
        "problems": [one.problem for one in rounds if one.problem],
        "seconds_undisturbed": round(undisturbed.seconds, 2),
    }


def table(commands: dict[str, Any]) -> str:
    """As Markdown."""
    columns = ("kills", "rounds", "identical", "damaged_files", "lost_acknowledged")
    total = {column: sum(one[column] for one in commands.values()) for column in columns}
    lines = ["| command | kills | rounds | identical | files damaged | acknowledged and lost |", "|---|" + "---:|" * 5]
    for name, row in {**{f"`{name}`": one for name, one in commands.items()}, "all": total}.items():
        lines.append(f"| {name} | " + " | ".join(f"{row[column]:,}" for column in columns) + " |")
    return "\n".join(lines)


def prepare(name: str, inputs: list[str], folder: Path) -> Undisturbed:
    """What is there before (in `NAME base`), and what an undisturbed command leaves."""
    from benchmarks import killed_service

    base = folder / f"{name} base"
    base.mkdir()
    if name == SERVE:
        return killed_service.undisturbed(inputs, base)
    case = COMMANDS[name]
    case.base(inputs, base)
    for _ in range(2):  # the first loads what the others need not
        with _copied(base, folder / f"{name} whole") as whole:
            start, watch = time.perf_counter(), Moment(whole)
            watch.came()
            before = len(watch.seen)
            code, said = run_command(case.command(inputs, whole), watch)
            if code:
                raise RuntimeError(f"{name}: exit code {code}: {said}")
            seconds = time.perf_counter() - start
            found = Undisturbed(seconds, case.leaves(whole), _size(whole), before, len(watch.seen))
    return found


def one_round(name: str, inputs: list[str], place: Path, undisturbed: Undisturbed, seed: str) -> Round:
    """Kill a command until it is done, and compare."""
    from benchmarks import killed_service

    chance, result = random.Random(seed), Round()
    with _copied(place.parent / f"{name} base", place):
        try:
            if name == SERVE:
                killed_service.kill_and_repeat(inputs, place, undisturbed.seconds, chance, result)
            else:
                _kill_and_repeat(COMMANDS[name], inputs, place, undisturbed, chance, result)
            found = index_content(place) if name == SERVE else COMMANDS[name].leaves(place)
        except RuntimeError as problem:
            result.problem = str(problem)
            return result
    result.identical = found == undisturbed.leaves and not result.lost
    if not result.identical:
        differ = {one for one, _ in found.items() ^ undisturbed.leaves.items()}
        result.problem = f"{sorted(differ)[:5]} differ, {result.lost} documents lost"
    return result


def _kill_and_repeat(
    case: Killed, inputs: list[str], place: Path, undisturbed: Undisturbed, chance: random.Random, result: Round
) -> None:
    while True:
        more = case.again if result.kills else ()
        spare = result.kills and chance.random() < 2 / 3
        threads = ("--threads", str(chance.randint(1, 2))) if "--resume" in case.again else ()
        moment = (
            None if spare
            else Moment(seconds=chance.uniform(0.0, undisturbed.seconds)) if chance.random() < 0.3
            else Moment(place, changes=chance.uniform(undisturbed.before, undisturbed.changes))
        )  # fmt: skip
        code, said = run_command([*case.command(inputs, place), *more, *threads], moment)
        if code != -signal.SIGKILL:
            break
        result.kills += 1
        result.reached += (_reached(place, undisturbed.size),)
        if "--resume" in case.again and chance.random() < 0.2:
            result.damaged += _damage(place, chance)
        if case.ends_with and (place / case.ends_with).exists():
            shutil.rmtree(place / f"{case.ends_with}.partial", ignore_errors=True)
            return
    if code:
        raise RuntimeError(f"exit code {code} after {result.kills} kills: {said}")


@contextlib.contextmanager
def _copied(base: Path, place: Path) -> Iterator[Path]:
    shutil.copytree(base, place)
    try:
        yield place
    finally:
        shutil.rmtree(place)


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file that holds no times, and what the account of a run counts."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith("known/") or not path.is_file():
            continue
        if path.name == "run.json":
            account = json.loads(path.read_text())
            found[name] = json.dumps([account.get("fingerprint"), account["counts"]])
        elif path.name not in _TIMES:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def index_content(folder: Path) -> dict[str, str]:
    """The documents of an index with their clusters, and its pairs; what else is in the folder."""
    from roughly import Index

    with Index.open(folder / "index.db") as index:
        ids = sorted(index)
        clusters: dict[int, list[str]] = {}
        for name in ids:
            entry = index.get(name)
            clusters.setdefault(entry.cluster_id if entry is not None else -1, []).append(name)
        pairs = sorted(map(str, index.pairs().to_pylist()))
        content = {
            "whole": str(index.verify().whole),
            "documents": _digest(ids),
            "clusters": _digest(sorted(clusters.values())),
            "pairs": _digest(pairs),
        }
    left = sorted(path.name for path in folder.iterdir() if not path.name.startswith(("index.db", "known")))
    return content | {"files": str(left)}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def _decided(inputs: list[str], base: Path) -> None:
    """A run and a few decisions about it."""
    from roughly.job.result import Result
    from roughly.tools.decide.api import Decisions

    _run_known(inputs, base)
    removed = sorted(Result(base / "known" / "run").removed.to_arrow()["doc_id"].to_pylist())
    with Decisions(base / "known" / "run") as decisions:
        for name in removed[:40:4]:
            decisions.keep(name, by="kills")


def _empty_index(inputs: list[str], base: Path) -> None:
    """An index with nothing in it yet."""
    from roughly import Index

    Index.create(base / "index.db", threshold=0.7).close()


def _run_known(inputs: list[str], base: Path) -> None:
    code, said = run_command(["dedupe", *inputs, "-o", str(base / "known" / "run"), "--quiet"])
    if code:
        raise RuntimeError(f"exit code {code}: {said}")


COMMANDS: dict[str, Killed] = {
    "dedupe": Killed(
        lambda inputs, at: ["dedupe", *inputs, "-o", f"{at}/out", "--quiet"],
        again=("--resume",), ends_with="out",
    ),
    "dedupe, one file": Killed(
        lambda inputs, at: ["dedupe", *inputs, "-o", f"{at}/kept.jsonl", "--drop", f"{at}/removed.txt", "--quiet"],
        again=("--resume", "--overwrite"),
    ),
    "passages": Killed(
        lambda inputs, at: ["passages", *inputs, "-o", f"{at}/out", "--do", "remove", "--quiet"],
        again=("--resume",), ends_with="out",
    ),
    "apply": Killed(
        lambda inputs, at: ["apply", f"{at}/known/run", "-o", f"{at}/out", "--quiet"],
        again=("--overwrite",), base=_decided,
    ),
    "index add": Killed(
        lambda inputs, at: ["index", "add", f"{at}/index.db", *inputs, "--quiet"],
        base=_empty_index, leaves=index_content,
    ),
    "index import": Killed(
        lambda inputs, at: ["index", "import", f"{at}/index.db", f"{at}/known/run", "--quiet"],
        ends_with="index.db", base=_run_known, leaves=index_content,
    ),
}  # fmt: skip


def _reached(place: Path, whole: int) -> str:
    """The last artefact of a run that was complete, or how much of the result was written."""
    done = sorted(place.rglob("*.done"), key=lambda path: path.stat().st_mtime_ns)
    if not done:
        return f"{min(_size(place) * 10 // max(whole, 1) * 10, 100)} % written"
    return "reading" if done[-1].stem.startswith("segment") else done[-1].stem


def _size(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file() and "known" not in path.parts)


def _damage(place: Path, chance: random.Random) -> int:
    """Flip a byte of one artefact of an unfinished run, or cut off its end."""
    files = [
        path
        for path in sorted(place.glob("*.partial/**/*"))
        if path.is_file() and path.stat().st_size and path.suffix in _ARTEFACTS
    ]
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


if __name__ == "__main__":
    from benchmarks import kills  # so that the processes that run rounds have the same classes

    kills.main()
