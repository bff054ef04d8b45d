"""Processes that work on an index until they are done or killed; they say what is done when it is.

    python index_worker.py          reads lines "WHERE TASK SEED", several with | between them, from standard input

Each task is done by a process of its own, a fork of this one, which has loaded everything. Its lines on standard output
are acknowledgements: what they name must be there whatever happens next. `end` is said when all have ended.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import traceback

from roughly import Index, Settings
from roughly.index.upkeep import refresh as refreshing

WORDS = [f"word{n}" for n in range(300)]


def text(number: int) -> str:
    """The text of a document: near-copies in groups of four."""
    chosen = random.Random(number // 4)
    words = [chosen.choice(WORDS) for _ in range(80)]
    words[number % 4] = f"copy{number}"
    return " ".join(words)


def document(number: int) -> dict[str, str]:
    day = f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}"
    return {"doc_id": f"d{number}", "text": text(number), "date": day, "url": f"http://host/{number}"}


def say(*words: object) -> None:
    print(*words, flush=True)


def main(where: str, task: str, seed: int) -> None:
    chosen = random.Random(seed)
    with Index.open(where) as index:
        say("ready", os.getpid())
        if task.startswith("add:"):
            first, last = map(int, task[4:].split("-"))
            numbers = list(range(first, last))
            chosen.shuffle(numbers)
            while numbers:
                some, numbers = numbers[: (size := chosen.randint(1, 9))], numbers[size:]
                for added in index.add([document(n) for n in some]):
                    say("added", added.doc_id)
        elif task.startswith("remove:"):
            first, last = map(int, task[7:].split("-"))
            for number in range(first, last):
                for gone in (index.revoke if number % 5 == 0 else index.remove)(f"d{number}"):
                    say("revoked" if number % 5 == 0 else "removed", gone)
        elif task.startswith("expire:"):
            for month in range(2, 13):
                index.expire(before=f"2024-{month:02d}-01")
                say("expired", f"2024-{month:02d}-01")
        elif task.startswith("refresh:"):
            refreshing.STEP = 10
            say("refreshed", index.refresh(task[8:], advance=lambda done: say("step", done)).changed)


def prepare() -> None:
    """Load everything once."""
    with tempfile.TemporaryDirectory() as folder:
        for method in ("minhash", "imatch"):
            with Index.create(f"{folder}/{method}.db", Settings(method=method)) as index:
                index.add([document(n) for n in range(5)])
                index.query(text(1))


def nurse() -> None:
    """A process for each task of each line."""
    prepare()
    say("prepared")
    for line in sys.stdin:
        children = []
        for task in line.split("|"):
            child = os.fork()
            if not child:
                where, what, seed = task.split()
                try:
                    main(where, what, int(seed))
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        say("end", *codes)


if __name__ == "__main__":
    nurse()
