"""A cluster of several processes for the tests, and the two engines side by side."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from roughly import model
from roughly.job.dedupe_api import run
from roughly.job.launcher import DedupeRequest
from roughly.job.on_spark import SparkLauncher, SparkResult
from roughly.settings import ReadOptions, Resources, Settings

TABLES = {name: table.schema for name, table in model.WRITTEN.items()}
FIRST = {"documents": ["doc_id"], "pairs": ["left_id", "right_id"], "clusters": ["cluster_id"], "known": ["doc_id"]}
SEES = os.pathsep.join(path for path in sys.path if path)
"""Where the workers find what this process has."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark warns about pandas, which is not used, and leaves sockets to the garbage collector."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for message in ("PySpark does not yet fully support pandas", "unclosed", "Exception ignored"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{message}"))


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Spark on two executors, each a process of its own with a core and Python workers."""
    pytest.importorskip("pyspark", reason="the engine spark is not installed: pip install 'roughly[spark]'")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("roughly tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "1g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.executorEnv.PYTHONPATH": SEES,
        "spark.executorEnv.XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
        # tests are many small queries: compiling each of them would take longer than running it
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.locality.wait": "0s",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def sorted_table(folder: Path, name: str) -> pa.Table:
    """A table of a run of either engine, in the columns and types of the model, sorted. Pairs of a learned verdict have
    more columns."""
    table = pq.read_table(folder / f"{name}.parquet")
    more = [table.schema.field(column) for column in table.column_names[len(TABLES[name]) :]]
    table = table.cast(pa.schema([*TABLES[name], *more]))
    return table.sort_by([(column, "ascending") for column in FIRST[name]]).combine_chunks()


def kept_files(folder: Path) -> dict[str, bytes]:
    """Every file that a run kept of its input."""
    kept = folder / "kept"
    return {str(p.relative_to(kept)): p.read_bytes() for p in sorted(kept.rglob("*")) if p.is_file()}


def same_answer(local: Path, spark: Path) -> None:
    """Both runs wrote the same tables and kept the same bytes."""
    for name in TABLES:
        ours, theirs = sorted_table(local, name), sorted_table(spark, name)
        assert ours.num_rows == theirs.num_rows, name
        for column in ours.column_names:
            assert ours[column].equals(theirs[column]), f"{name}.{column}"
    assert kept_files(local) == kept_files(spark)


@pytest.fixture
def both(spark: Any, tmp_path: Path) -> Callable[..., tuple[dict[str, Any], SparkResult]]:
    """Run both engines on the same files with the same settings; the answers must be the same."""

    def compare(
        paths: list[Path], asked: dict[str, Any], *, partitions: int = 3, batch: int | None = None, **engine: Any
    ) -> tuple[dict[str, Any], SparkResult]:
        settings, reading = Settings.gather(asked), ReadOptions(batch_size=batch)

        def request(name: str, resources: Resources) -> DedupeRequest:
            return DedupeRequest(
                settings=settings, reading=reading, resources=resources, output=tmp_path / name, overwrite=True
            )

        ours = run(None, paths, request("local", Resources(threads=1)))
        spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        theirs = run(None, paths, request("spark", Resources(memory=1 << 30)), SparkLauncher(spark, **engine))
        same_answer(ours.folder, theirs.folder)
        counts = theirs.summary["counts"]
        ignored = (
            {"candidate_pairs"} if counts.get("crowded_buckets") else set()
        )  # walked again, component by component
        assert {k: v for k, v in counts.items() if k not in ignored} == {
            k: v for k, v in ours.summary["counts"].items() if k not in ignored
        }
        return ours.summary, theirs

    return compare
