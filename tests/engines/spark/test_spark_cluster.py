"""A real cluster: a standalone master and two workers, one of which is killed while a run is under way."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import roughly
from conftest import SEES, same_answer


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """(the master's URL, the processes of two workers)."""
    pyspark = pytest.importorskip("pyspark", reason="the engine spark is not installed: pip install 'roughly[spark]'")
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ, "PYTHONPATH": SEES, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1", "SPARK_WORKER_DIR": str(tmp_path / "work"), "SPARK_DAEMON_MEMORY": "256m",
    }  # fmt: skip
    started: list[subprocess.Popen[str]] = []

    def launch(name: str, *args: str) -> tuple[subprocess.Popen[str], Path]:
        log = tmp_path / f"{name}.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *args], env=environment, stdout=stream, stderr=stream, text=True,
                start_new_session=True,
            )  # fmt: skip
        started.append(process)
        return process, log

    try:
        _, log = launch(
            "master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
        )
        url = wait_for(log, r"Starting Spark master at (spark://\S+)")
        workers = []
        for number in (1, 2):
            worker, log = launch(
                f"worker-{number}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
                "-c", "1", "-m", "1g", url,
            )  # fmt: skip
            wait_for(log, r"(Successfully registered) with master")
            workers.append(worker)
        yield url, workers
    finally:
        for process in started:
            end(process.pid)
            process.wait()


def wait_for(log: Path, pattern: str, seconds: float = 90) -> str:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := re.search(pattern, log.read_text(encoding="utf-8", errors="replace")):
            return found[1]
        time.sleep(0.2)
    raise AssertionError(f"{pattern} did not come up: {log.read_text(encoding='utf-8')[-2000:]}")


def end(pid: int) -> None:
    """Kill a process that the test started, and its children, at once."""
    try:
        process = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return
    for one in [*process.children(recursive=True), process]:
        try:
            one.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue


def is_executor(process: psutil.Process) -> bool:
    try:
        return "CoarseGrainedExecutorBackend" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # it has ended meanwhile, or is a zombie
        return False


def documents(path: Path) -> Path:
    rng = random.Random(8)
    vocabulary = ["".join(rng.choices("abcdefghij", k=5)) for _ in range(3000)]
    rows: list[dict[str, Any]] = []
    for number in range(600):
        text = rng.choices(vocabulary, k=120)
        if rows and rng.random() < 0.5:
            text = rng.choice(rows)["text"].split()
            text[rng.randrange(len(text))] = "changed"
        rows.append({"id": f"d{number}", "text": " ".join(text)})
    path.mkdir()
    for part in range(6):
        lines = "".join(json.dumps(row) + "\n" for row in rows[part::6])
        (path / f"{part}.jsonl").write_text(lines, encoding="utf-8")
    return path


LATER = pytest.mark.skipif(
    not os.environ.get("ROUGHLY_SPARK_MATRIX"),
    reason="one kill is tried in every run of the tests; ROUGHLY_SPARK_MATRIX=1 tries the others too",
)


@pytest.mark.parametrize("after", ["signed", *(pytest.param(n, marks=LATER) for n in ("ranked", "labels", "decision"))])
def test_a_worker_killed_while_a_run_is_under_way(
    after: str, cluster: tuple[str, list[subprocess.Popen[str]]], tmp_path: Path
) -> None:
    """It is killed, with its executor and its shuffle files, when the frame `after` is there and the run goes on."""
    url, workers = cluster
    source, output = documents(tmp_path / "source"), tmp_path / "out"
    local = roughly.dedupe(source, output=tmp_path / "local", cluster="components")
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(
        "spark.ui.enabled false\nspark.sql.shuffle.partitions 4\nspark.driver.memory 1g\nspark.executor.memory 1g\n"
        "spark.driver.host 127.0.0.1\nspark.driver.bindAddress 127.0.0.1\nspark.speculation true\n"
        "spark.sql.codegen.wholeStage false\nspark.sql.codegen.factoryMode NO_CODEGEN\nspark.locality.wait 0s\n"
        "spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1\n",
        encoding="utf-8",
    )
    with (tmp_path / "run.log").open("w") as log:
        run = subprocess.Popen(
            [sys.executable, "-m", "roughly", "dedupe", str(source), "-o", str(output), "--engine", "spark", "--master",
             url, "--cluster", "components", "--memory", "1GB", "--quiet"],
            env={**os.environ, "PYTHONPATH": SEES, "SPARK_CONF_DIR": str(conf), "PYSPARK_PYTHON": sys.executable},
            stdout=log, stderr=log,
        )  # fmt: skip
    try:
        until = time.monotonic() + 240
        while not (tmp_path / "out.partial" / "work" / after / "_SUCCESS").exists():
            assert run.poll() is None and time.monotonic() < until, (tmp_path / "run.log").read_text()[-3000:]
            time.sleep(0.05)
        assert any(map(is_executor, psutil.Process(workers[0].pid).children(recursive=True)))
        end(workers[0].pid)
        assert run.poll() is None and not output.exists()
        assert run.wait(240) == 0, (tmp_path / "run.log").read_text()[-3000:]
    finally:
        end(run.pid)
    same_answer(local.folder, output)
    assert not (tmp_path / "out.partial").exists()
