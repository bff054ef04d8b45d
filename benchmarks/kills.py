"""Kill commands at random moments, go on until they are done, and compare with what an undisturbed one leaves.

    python -m benchmarks.kills INPUT… --kills 50 --out benchmarks/results/kills.json

Each round starts a command, kills it (SIGKILL) at a moment drawn from its usual duration, repeats it (with `--resume`
where there is one), kills that too with one chance in three, and so on until it ends. Once in five kills of a run a
file of it is damaged as well: a byte flipped, or the end cut off. A round counts as identical if everything that is
left has the same bytes (the account of a run and the report hold times: the same counts), and nothing else is there.
An index must be whole, with the same documents and pairs. A service must also have what it acknowledged.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TIMES = {"run.json", "report.html", "report.json", "decisions.jsonl"}
_ARTEFACTS = {".parquet", ".npy", ".keys", ".sketches", ".bin"}
_ROUGHLY = [sys.executable, "-m", "roughly"]
_KILLS_OF_A_ROUND = 3
"""Most kills of a service until all documents are added."""
_TOKEN = "write-token-of-the-kills-0001"


@dataclass(frozen=True)
class Killed:
    """A command that is killed: its arguments for a folder, and those of the next try."""

    command: Callable[[list[str], Path], list[str]]
    again: tuple[str, ...] = ()
    ends_with: str = ""  # what is there only when all is done
    base: Callable[[list[str], Path], None] = lambda inputs, base: None  # what is there before
    leaves: Callable[[Path], dict[str, str]] = lambda folder: digests(folder)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__.split("\n\n")[0])
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--kills", type=int, default=100, help="of each command")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[*COMMANDS, "serve"], help="these commands only")
    parser.add_argument("--out", type=Path, help="write the results here too, as JSON, beside those of other commands")
    asked = parser.parse_args()
    inputs = [str(Path(path).resolve()) for path in asked.inputs]
    results: dict[str, Any] = json.loads(asked.out.read_text()) if asked.out and asked.out.exists() else {}
    for name in asked.only or [*COMMANDS, "serve"]:
        with tempfile.TemporaryDirectory(prefix="roughly-kills-") as folder:
            results[name] = kill(name, inputs, Path(folder), asked.kills, asked.seed)
        print(json.dumps({name: results[name]}, indent=1), flush=True)
        if asked.out:
            asked.out.write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(0 if all(one["identical"] == one["rounds"] for one in results.values()) else 1)


def kill(name: str, inputs: list[str], folder: Path, kills: int, seed: int = 1) -> dict[str, Any]:
    """Kill a command `kills` times or more; returns how many rounds there were and how many ended identically."""
    if name == "serve":
        return kill_service(inputs, folder, kills, seed)
    case, chance = COMMANDS[name], random.Random(f"{name} {seed}")
    base, whole, place = folder / "base", folder / "whole", folder / "place"
    base.mkdir()
    case.base(inputs, base)
    usual = 0.0
    for _ in range(2):  # the first loads what the others need not
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(base, whole)
        start = time.perf_counter()
        code, said = _run(case.command(inputs, whole))
        if code:
            raise RuntimeError(f"{name}: exit code {code}: {said}")
        usual = time.perf_counter() - start
    wanted = case.leaves(whole)
    stages: Counter[str] = Counter()
    rounds = identical = killed = damaged = 0
    while killed < kills:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(base, place)
        tried = 0
        while True:
            more = case.again if tried else ()
            spare = tried and chance.random() < 2 / 3
            code, said = _run([*case.command(inputs, place), *more], None if spare else chance.uniform(0.0, usual))
            if code == -signal.SIGKILL:
                killed, tried = killed + 1, tried + 1
                stages[_reached(place)] += 1
                if "--resume" in case.again and chance.random() < 0.2:
                    damaged += _damage(place, chance)
                if case.ends_with and (place / case.ends_with).exists():
                    shutil.rmtree(place / f"{case.ends_with}.partial", ignore_errors=True)
                    break
                continue
            if code:
                raise RuntimeError(f"{name}, round {rounds}: exit code {code}: {said}")
            break
        rounds += 1
        found = case.leaves(place)
        identical += found == wanted
        if found != wanted:
            differ = sorted(one for one in found.keys() | wanted.keys() if found.get(one) != wanted.get(one))
            print(f"{name}, round {rounds}: {differ[:5]} differ", file=sys.stderr)
    return {
        "rounds": rounds, "identical": identical, "kills": killed, "damaged_files": damaged,
        "killed_after": dict(stages.most_common()), "seconds_undisturbed": round(usual, 2),
    }  # fmt: skip


def _run(arguments: list[str], seconds: float | None = None) -> tuple[int, str]:
    """Run a command, and kill it after so many seconds; its exit code, negative for a signal, and what it said.

    It is forked by a process that has loaded the libraries, so most kills come when it is at work.
    """
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from commands import ENVIRONMENT, address

    told = json.dumps([arguments, str(Path.cwd()), {**os.environ, **ENVIRONMENT}]).encode()
    with tempfile.TemporaryFile() as said, Path(os.devnull).open("r+b") as nothing:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(address())
            files = [nothing.fileno(), nothing.fileno(), said.fileno()]
            socket.send_fds(connection, [len(told).to_bytes(8, "big")], files)
            connection.sendall(told)
            answers = connection.makefile()
            child = int(answers.readline())
            if seconds is not None and not select.select([connection], [], [], seconds)[0]:
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.kill(child, signal.SIGKILL)
            code = int(answers.readline())
        said.seek(0)
        return code, said.read().decode()


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
    subprocess.run([*_ROUGHLY, "dedupe", *inputs, "-o", str(base / "known" / "run"), "--quiet"], check=True)


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


def kill_service(inputs: list[str], folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill a service while documents are added to it; what it acknowledged must be there when it serves again."""
    from roughly import Client, Index
    from roughly.settings import ReadOptions
    from roughly.sources import open_parts

    parts = open_parts(inputs, ReadOptions(), folder)
    rows = [
        {"doc_id": row["doc_id"], "text": row["text"]}
        for part in parts
        for chunk in part.chunks()
        for row in part.parse(chunk).batch.to_pylist()
    ]
    chance, killed, rounds, identical, lost = random.Random(f"serve {seed}"), 0, 0, 0, 0
    (folder / "whole").mkdir()
    with Index.create(folder / "whole" / "index.db") as index:
        index.add(rows)
    wanted = index_content(folder / "whole")
    while killed < kills:
        place = folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        Index.create(place / "index.db").close()
        acknowledged: list[str] = []
        tries = 0
        while len(acknowledged) < len(rows):
            process, address = _serve(place / "index.db")
            waiting = rows[len(acknowledged) :]
            ended = threading.Event()
            stop = threading.Timer(chance.uniform(0.0, 4.0), lambda end=ended, one=process: (end.set(), one.kill()))
            tries += 1
            if tries <= _KILLS_OF_A_ROUND:
                stop.start()
            try:
                with Client(address, token=_TOKEN, retries=0) as client:
                    for added in client.adding(waiting, at_once=20):
                        acknowledged.append(added.doc_id)
            except Exception as problem:
                if not ended.wait(5):
                    raise RuntimeError(f"the service failed: {problem}") from problem
            stop.cancel()
            killed += ended.is_set()
            process.kill()
            process.communicate()
            with Index.open(place / "index.db") as index:
                lost += sum(index.get(name) is None for name in acknowledged)
        rounds += 1
        identical += index_content(place) == wanted
    return {"rounds": rounds, "identical": identical, "kills": killed, "lost_acknowledged": lost}


def _serve(index: Path) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [*_ROUGHLY, "serve", str(index), "--port", "0"], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "ROUGHLY_TOKENS": f"write {_TOKEN}\n"},
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"serving at (http://\S+)/ ", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, found[1]
    raise RuntimeError("the service did not start")


def _reached(place: Path) -> str:
    """The last artefact of a run that was complete, or what else is there."""
    done = sorted(place.rglob("*.done"), key=lambda path: path.stat().st_mtime_ns)
    if not done:
        return "the result" if (place / "out").exists() or (place / "kept.jsonl").exists() else "nothing"
    return "reading" if done[-1].stem.startswith("segment") else done[-1].stem


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
    main()
