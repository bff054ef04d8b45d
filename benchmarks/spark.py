"""The engine spark beside the local one: a collection through a cluster of one and of two executors, stage by stage.

    python -m benchmarks.grow corpora/large/debian_docs.parquet --documents 1000000 --out grown/1m
    python -m benchmarks.spark grown/1m --out spark.json

Every run is a process of its own, measured from outside: seconds, and the memory of all its processes (driver,
executors, Python workers). Shuffle bytes and seconds a stage are those of Spark's event log. MLlib's MinHashLSH does
the same job on the same cluster (`benchmarks.peers.mllib`), with as many hash tables as find a pair at 0.8 as surely.
datatrove's distributed road, four MinHash stages of which a scheduler runs tasks side by side, runs on two workers
(`benchmarks.peers.datatrove`), on the same documents as JSON lines.
Recall is that of `benchmarks.scale`: of two labelled documents at or above 0.8 at least one goes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.dedupe import command_of
from benchmarks.measure import Measured, machine, run
from benchmarks.peers.venvs import PeerUnavailable
from benchmarks.scale import recall
from benchmarks.tables import markdown, write_json

_ROWS = ("run", "seconds", "peak GB", "shuffled MB", "bytes a document", "recall", "removed")
_STAGES = ("stage", "seconds", "shuffled MB", "bytes a document", "tasks")
_CONF = """
spark.eventLog.enabled true
spark.eventLog.compress false
spark.eventLog.rolling.enabled false
spark.eventLog.dir {events}
spark.ui.enabled false
spark.driver.memory {driver}
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.sql.shuffle.partitions {partitions}
spark.executorEnv.PYTHONPATH {path}
spark.executorEnv.XDG_CACHE_HOME {cache}
"""


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="what benchmarks.grow made")
    parser.add_argument("--executors", default="1,2", help="numbers of executors, with a core each")
    parser.add_argument("--memory", type=int, default=2048, help="MB of an executor")
    parser.add_argument("--driver", default="1g", help="memory of the driver")
    parser.add_argument("--partitions", type=int, default=8, help="of a shuffle")
    parser.add_argument("--timeout", type=float, default=7200)
    parser.add_argument("--work", type=Path, help="where outputs go meanwhile")
    parser.add_argument("--no-peer", action="store_true", help="without MLlib and datatrove")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    documents = json.loads((asked.folder / "grown.json").read_text())["documents"]
    rows: list[dict[str, Any]] = [local(asked)]
    for executors in map(int, asked.executors.split(",")):
        rows.append(on_spark(asked, executors))
        show(rows, documents)
    if not asked.no_peer:
        rows.append(mllib(asked, max(map(int, asked.executors.split(",")))))
        show(rows, documents)
        rows.append(datatrove(asked))
        show(rows, documents)
    for row in rows:
        if "stages" in row:
            print(f"\n{row['run']}\n\n{stage_table(row['stages'], documents)}")
    if asked.out:
        write_json(asked.out, {"machine": machine(), "documents": documents, "rows": rows})


def show(rows: list[dict[str, Any]], documents: int) -> None:
    """The table so far."""
    print(table(rows, documents), flush=True)


def local(asked: argparse.Namespace) -> dict[str, Any]:
    """The local engine on two threads."""
    with _Scratch(asked.work) as scratch:
        out = scratch / "out"
        command = [sys.executable, "-m", "roughly", "dedupe", str(asked.folder / "documents"), "-o", str(out)]
        command += ["--quiet", "--threads", "2"]
        done = run(command, folder=scratch, environment={}, timeout=asked.timeout)
        return _row("local, 2 threads", done, out, out / "documents.parquet", asked.folder)


def on_spark(asked: argparse.Namespace, executors: int) -> dict[str, Any]:
    """The engine spark on so many executors."""
    with _Scratch(asked.work) as scratch:
        out = scratch / "out"
        master = f"local-cluster[{executors},1,{asked.memory}]"
        command = [sys.executable, "-m", "roughly", "dedupe", str(asked.folder / "documents"), "-o", str(out)]
        command += ["--quiet", "--engine", "spark", "--master", master, "--memory", "1GB"]
        done = run(command, folder=scratch, environment=_environment(scratch, asked), timeout=asked.timeout)
        row = _row(f"spark, {executors} × 1 core", done, out, out / "documents.parquet" / "*.parquet", asked.folder)
        if not done.failure:
            row["stages"] = stages(scratch / "events")
            row["meter"] = json.loads((out / "run.json").read_text())["stages"]
            row["shuffled"] = sum(stage["shuffled"] for stage in row["stages"].values())
        return row


def mllib(asked: argparse.Namespace, executors: int) -> dict[str, Any]:
    """MLlib's MinHashLSH on the same cluster."""
    with _Scratch(asked.work) as scratch:
        out = scratch / "out"
        out.mkdir()
        master = f"local-cluster[{executors},1,{asked.memory}]"
        command = [sys.executable, "-m", "benchmarks.peers.mllib", str(asked.folder / "documents"), str(out), master]
        done = run(command, folder=scratch, environment=_environment(scratch, asked), timeout=asked.timeout)
        row = _row(f"MLlib, {executors} × 1 core", done, out, out / "documents.parquet", asked.folder)
        if not done.failure:
            row["shuffled"] = sum(stage["shuffled"] for stage in stages(scratch / "events").values())
        return row


def datatrove(asked: argparse.Namespace) -> dict[str, Any]:
    """datatrove's four stages on two workers."""
    name = "datatrove, 2 workers"
    with _Scratch(asked.work) as scratch:
        source, out = scratch / "documents.jsonl", scratch / "out"
        texts = f"'{asked.folder}/documents/*.parquet'"
        duckdb.sql(f"COPY (SELECT id, text FROM {texts}) TO '{source}' (FORMAT json)")
        try:
            command = command_of("datatrove", source, out)
        except PeerUnavailable as problem:
            return {"run": name, "seconds": 0.0, "failure": str(problem)}
        root = str(Path(__file__).resolve().parents[1])
        done = run(command, folder=scratch, environment={"PYTHONPATH": root}, timeout=asked.timeout)
        documents = scratch / "documents.parquet"
        if done.failure is None:
            columns = "{'doc_id': 'VARCHAR', 'cluster': 'BIGINT', 'kept': 'BOOLEAN'}"
            told = f"read_csv('{out}/clusters.tsv', delim = '\t', header = false, quote = '', columns = {columns})"
            duckdb.sql(f"COPY (SELECT doc_id, kept FROM {told}) TO '{documents}'")
        return _row(name, done, out, documents, asked.folder)


def _row(name: str, done: Measured, out: Path, documents: Path, folder: Path) -> dict[str, Any]:
    row = {"run": name, "seconds": done.seconds, "peak": done.peak_bytes, "failure": done.failure}
    if done.failure is None:
        row["recall"] = recall(documents, folder / "truth")
        row["removed"] = duckdb.sql(f"SELECT count(*) FROM '{documents}' WHERE NOT kept").fetchall()[0][0]
    return row


def _environment(scratch: Path, asked: argparse.Namespace) -> dict[str, str]:
    """A configuration of Spark that writes an event log."""
    conf, events = scratch / "conf", scratch / "events"
    conf.mkdir()
    events.mkdir()
    path = os.pathsep.join([str(Path(__file__).resolve().parents[1]), *(p for p in sys.path if p)])
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    text = _CONF.format(
        events=events.as_uri(), driver=asked.driver, partitions=asked.partitions, path=path, cache=cache
    )
    (conf / "spark-defaults.conf").write_text(text)
    return {"SPARK_CONF_DIR": str(conf), "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable}


def stages(events: Path) -> dict[str, dict[str, float]]:
    """What Spark's event log says of each stage of ours: seconds of tasks, bytes shuffled, tasks."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: {"task_seconds": 0.0, "shuffled": 0, "tasks": 0})
    names: dict[int, str] = {}
    for log in events.iterdir():
        with log.open(encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                if event["Event"] == "SparkListenerJobStart":
                    told = (event.get("Properties") or {}).get("spark.job.description") or "other"
                    names |= dict.fromkeys(event["Stage IDs"], told.removeprefix("roughly: "))
                elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                    row, metrics = found[names.get(event["Stage ID"], "other")], event["Task Metrics"]
                    row["task_seconds"] += metrics["Executor Run Time"] / 1000
                    row["shuffled"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                    row["tasks"] += 1
    return dict(found)


def table(rows: list[dict[str, Any]], documents: int) -> str:
    """Runs as Markdown."""
    lines = []
    for row in rows:
        if row["failure"]:
            lines.append([row["run"], f"{row['seconds']:.0f}", "", "", "", row["failure"], ""])
            continue
        shuffled = row.get("shuffled")
        lines.append(
            [
                row["run"],
                f"{row['seconds']:.0f}",
                f"{row['peak'] / 2**30:.1f}",
                "" if shuffled is None else f"{shuffled / 1e6:.1f}",
                "" if shuffled is None else f"{shuffled / documents:.0f}",
                f"{row['recall']:.4f}",
                f"{row['removed']:,}",
            ]
        )
    return markdown(_ROWS, lines)


def stage_table(found: dict[str, dict[str, float]], documents: int) -> str:
    """Stages of a run as Markdown."""
    return markdown(
        _STAGES,
        [
            [
                name,
                f"{s['task_seconds']:.0f}",
                f"{s['shuffled'] / 1e6:.1f}",
                f"{s['shuffled'] / documents:.0f}",
                f"{s['tasks']}",
            ]
            for name, s in found.items()
        ],
    )


class _Scratch:
    """A folder for one run."""

    def __init__(self, work: Path | None) -> None:
        self._work = work

    def __enter__(self) -> Path:
        self._folder = Path(tempfile.mkdtemp(prefix="roughly-spark-", dir=self._work))
        return self._folder

    def __exit__(self, *problem: object) -> None:
        shutil.rmtree(self._folder)


if __name__ == "__main__":
    main()
