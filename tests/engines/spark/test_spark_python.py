"""The Python of the workers: the one that runs, on this machine; checked by the first task, on a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import roughly
from roughly.engines.spark.start import is_local

pytest.importorskip("pyspark", reason="the engine spark is not installed: pip install 'roughly[spark]'")
SOURCE = str(Path(roughly.__path__[0]).parent)
BARE = {name: value for name, value in os.environ.items() if name not in ("PYSPARK_PYTHON", "PYTHONPATH")}
"""A shell in which nobody has named a Python."""
RUN = f"import sys; sys.path.insert(0, {SOURCE!r}); from roughly.cli import run; run()"
CHECKED = f"""
import sys
sys.path.insert(0, {SOURCE!r})
from pyspark.sql import SparkSession
from roughly.engines.spark.start import check_workers
from roughly.errors import SettingsError
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
for named in sys.argv[1:]:
    spark.sparkContext.pythonExec, spark.sparkContext.environment["PYTHONPATH"] = named.split("|")
    try:
        check_workers(spark)
        print("fine")
    except SettingsError as problem:
        print(problem)
spark.stop()
"""


def python(program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Output goes to files: Spark's processes may keep pipes open after the session has ended."""
    with (cwd / "printed").open("w") as printed, (cwd / "problems").open("w") as problems:
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env=BARE, cwd=cwd, stdout=printed, stderr=problems, timeout=300, check=False,
        )  # fmt: skip
    said = [(cwd / name).read_text() for name in ("printed", "problems")]
    return subprocess.CompletedProcess(done.args, done.returncode, *said)


def test_a_local_master_takes_the_python_that_runs(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"id": str(i), "text": "the same"}) + "\n" for i in range(3)))
    done = python(RUN, "dedupe", "x.jsonl", "-o", "out", "--engine", "spark", "--master", "local[1]", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "3 in, 1 kept" in done.stdout


def test_the_first_task_says_what_the_workers_lack(tmp_path: Path) -> None:
    other = tmp_path / "other" / "roughly"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "version.py").write_text('__version__ = "0.0.1"\n')
    bare = getattr(sys, "_base_executable", sys.executable)
    asked = [f"{bare}|", f"{bare}|{other.parent}", "no-such-python|", f"{sys.executable}|{SOURCE}"]
    done = python(CHECKED, *asked, cwd=tmp_path)
    missing, differs, none, fine = done.stdout.splitlines()
    assert "has no package roughly; install roughly" in missing, done.stderr[-2000:]
    assert f"has roughly 0.0.1, and the driver {roughly.__version__}" in differs
    assert none.startswith("the workers cannot run Python tasks") and "PYSPARK_PYTHON" in none
    assert fine == "fine"


def test_which_masters_are_local() -> None:
    assert [is_local(one) for one in ("local", "local[4]", "local[*]")] == [True] * 3
    assert [is_local(one) for one in ("spark://h:7077", "yarn", "local-cluster[2,1,1024]")] == [False] * 3
