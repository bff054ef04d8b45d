"""The road of `pipeline.run` on Apache Spark.

    parts ─ sign (our readers and kernels, on the workers) ─ rank ─ collapse equal documents
          ─ group keys ─ which buckets hang together ─ read candidates again ─ resolve, share by share ─ verdicts

Every arrow is a frame on the workers' disks. The driver sees counts, one number a partition and the samples of the
report; never the documents, the pairs or the clusters.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from roughly import model
from roughly.engines.local import verdicts as sql
from roughly.engines.local.summary import Summary
from roughly.engines.spark import buckets as grouping
from roughly.engines.spark import linked, ranking, reading, verdicts
from roughly.engines.spark.frame_store import FrameStore
from roughly.engines.spark.resolving import ResolveRules, resolving
from roughly.engines.spark.schemas import COUNTS, DECIDED, DOCUMENT, REJECT, SHARE, to_spark
from roughly.errors import DuplicateIds
from roughly.meter import Meter, Stage
from roughly.methods import Judge, Method
from roughly.pipeline import check_pairs
from roughly.settings import Settings
from roughly.signing.text_batch import example_signature
from roughly.sources.part import Part

SHARE_ENTRIES = 4_000_000
SHARE_TOKENS = 256 << 20
"""Entries of buckets, and bytes of tokens, that a task of resolution gets, about."""
_ATTEMPT = ".attempt-"


class SparkEngine:
    """One run on a cluster."""

    def __init__(
        self, spark: Any, parts: Sequence[Part], method: Method, settings: Settings, meter: Meter, *, work: Path,
        task_memory: int, one_task: int = linked.ONE_TASK,
    ) -> None:  # fmt: skip
        self.spark, self.parts, self.method, self.settings, self.meter = spark, parts, method, settings, meter
        self.store = FrameStore(spark, work)
        self.task_memory, self.one_task = task_memory, one_task
        self.counts: dict[str, int] = {}
        self.documents = self.rejected = 0
        self._prefix = f"roughly_{id(self):x}_"
        self._parts = reading.packed(parts, spark)
        self._views: dict[str, Any] = {}

    @contextmanager
    def stage(self, name: str, total: int = 0, unit: str = "") -> Iterator[Stage]:
        """A stage of the run, which Spark's own pages show by its name."""
        self.spark.sparkContext.setJobDescription(f"roughly: {name}")
        try:
            with self.meter.stage(name, total, unit) as stage:
                yield stage
        finally:
            self.spark.sparkContext.setJobDescription(None)

    # ------------------------------------------------------------------ the road

    def run(self) -> None:
        """Take all documents along the road; the views then hold the verdicts."""
        with self.stage("read", sum(part.size or 0 for part in self.parts), "bytes") as stage:
            self._read()
            stage.bytes = stage.total
        with self.stage("rank"):
            self._rank()
        self._decide_nothing()
        if not self.method.equality and self.documents:
            self._compare()
        with self.stage("cluster"):
            self._view("verdicts", self.store.keep(self.sql(sql.VERDICTS), "verdicts"))
            if self.settings.pairs == "all":
                count = self.sql(verdicts.COUNT_ALL_PAIRS).collect()[0][0]
                check_pairs(int(count or 0), self.settings.pairs_limit)

    def _read(self) -> None:
        method = self.spark.sparkContext.broadcast(self.method)
        frame = reading.read(self.spark, self.parts, self._parts, reading.signing(method, self.settings))
        self.signed = self.store.keep(frame, "signed")
        seen = {row["what"]: row["count"] for row in self.signed.groupBy("what").count().collect()}
        self.documents, self.rejected = seen.get(DOCUMENT, 0), seen.get(REJECT, 0)
        if COUNTS in seen:
            self._count_notes()
        self._settle_ids()

    def _count_notes(self) -> None:
        """What the method counted, summed over the chunks."""
        from pyspark.sql import functions as f

        notes = self.signed.where(f.col("what") == COUNTS)
        told = notes.select(f.explode(f.from_json("note", "map<string,bigint>")).alias("name", "count"))
        sums = told.groupBy("name").agg(f.sum("count").alias("total")).collect()
        self.counts |= {row["name"]: int(row["total"]) for row in sums}

    def _settle_ids(self) -> None:
        """Refuse ids that are claimed twice, or number them."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        facts = self.signed.where(f.col("what") == DOCUMENT).drop("keys", "asks", "sketch", "limit", "note", "what")
        twice = facts.groupBy("doc_id").agg(f.count("*").alias("n"), f.min("doc").alias("first")).where("n > 1")
        worst = twice.orderBy("first").limit(1).collect()
        if not worst:
            self._view("facts", facts)
            return
        if self.settings.on_duplicate_id != "number":
            raise DuplicateIds(self._name_twins(facts, worst[0]["doc_id"], twice.count()))
        again = facts.join(twice.select("doc_id"), "doc_id").select("doc", "doc_id")
        place = f.row_number().over(Window.partitionBy("doc_id").orderBy("doc"))
        again = again.select("doc", "doc_id", place.alias("n")).where("n > 1")
        renamed = self.store.keep(again.select("doc", f.concat_ws("#", "doc_id", "n").alias("new_id")), "renamed")
        facts = facts.join(renamed, "doc", "left").withColumn("doc_id", f.coalesce("new_id", "doc_id")).drop("new_id")
        if facts.groupBy("doc_id").count().where("count > 1").limit(1).collect():
            raise DuplicateIds("numbering duplicate ids (a, a#2, …) meets ids of that form; rename them in the input")
        self._view("facts", facts)

    def _name_twins(self, facts: Any, name: str, count: int) -> str:
        from pyspark.sql import functions as f

        rows = facts.where(f.col("doc_id") == name).orderBy("doc").limit(2).select("part", "row").collect()
        places = [f"{self.parts[r['part']].name} {self.parts[r['part']].locate(r['row'])}" for r in rows]
        more = f"; {count:,} ids are claimed more than once" if count > 1 else ""
        return (
            f"two documents have the id {name!r}: {places[0]} and {places[1]}{more}. "
            "Name another column with --id-column, or number them with --on-duplicate-id number"
        )

    def _rank(self) -> None:
        settings = self.settings
        numbered = ranking.numbered(self._views["facts"], settings.keep, settings.measure, self.method.collapse)
        stored = self.store.keep(numbered, "numbered")
        self._view("ranked", self.store.keep(ranking.ranked(stored), "ranked"))

    def _decide_nothing(self) -> None:
        """What is told of documents that share no key."""
        empty = self.spark.createDataFrame([], to_spark(DECIDED))
        self._take_decision(empty)

    def _compare(self) -> None:
        judge = self._judge()
        with self.stage("group"):
            buckets = self._group()
        with self.stage("link"):
            labels = self._label(buckets)
        with self.stage("fetch"):
            documents = self._contents(labels, judge)
        with self.stage("verify"):
            self._resolve(buckets, labels, documents, judge)

    # ------------------------------------------------------------------ candidates

    def _judge(self) -> Judge:
        """The method's judge; where no document has a date, a window of dates does not apply."""
        judge = self.method.judge()
        if judge.dates is not None and not self._views["facts"].where("when_published IS NOT NULL").limit(1).collect():
            return dataclasses.replace(judge, dates=None)
        return judge

    def _group(self) -> Any:
        from pyspark.sql import functions as f

        buckets = grouping.entries(self.signed, self._views["ranked"], self._banded(), self.method.common)
        buckets = self.store.keep(buckets, "buckets")
        if self.method.common:
            self.counts["common_keys"] = buckets.where("common").count()
        buckets = buckets.where("NOT common")
        sums = buckets.agg(
            f.count("*"),
            f.countDistinct("rank"),
            f.coalesce(
                f.sum(f.when(f.col("rank") == f.col("best"), f.expr("CAST(size AS DOUBLE) * (size - 1) / 2"))),
                f.lit(0.0),
            ),
        ).collect()[0]
        self.entries, self.counts["candidate_documents"] = int(sums[0]), int(sums[1])
        if self.settings.pairs == "all":
            count = int(sums[1])
            check_pairs(int(min(sums[2], count * (count - 1) / 2)), self.settings.pairs_limit)
        return buckets

    def _banded(self) -> bool:
        """Whether keys count within their band."""
        keys = example_signature(self.method).keys
        return keys is not None and keys.banded

    def _label(self, buckets: Any) -> Any:
        """(rank, root) of every candidate document: the best one that a chain of buckets leads to."""
        from pyspark.sql import functions as f

        roots = linked.roots(grouping.edges(buckets), self.store.keep, self.one_task)
        leads = roots.select(f.col("b").alias("rank"), f.col("b").alias("root")).distinct()
        return self.store.keep(roots.select(f.col("a").alias("rank"), f.col("b").alias("root")).union(leads), "labels")

    def _contents(self, labels: Any, judge: Judge) -> Any:
        """What the candidates are judged on, as documents of SHARE."""
        from pyspark.sql import functions as f

        facts = self._views["ranked"].select("doc", "part", "chunk", "row", "rank", "tokens", "day")
        wanted = labels.join(facts, "rank")
        if judge.on == "text":
            shares = [-(-(part.size or 0) // reading.SHARE_BYTES) for part in self.parts]
            count = max(2 * self.spark.sparkContext.defaultParallelism, sum(max(1, n) for n in shares))
            split = f.floor(f.col("chunk") / 16)
            wanted = wanted.select("part", "chunk", "row", "rank", "root", "tokens", "day")
            wanted = wanted.repartition(min(count, 100_000), "part", split).sortWithinPartitions("part", "row")
            found = self.store.keep(reading.fetch(wanted, self._parts, self.settings.main_text), "contents")
            return found.withColumn("limit", f.lit(-1).cast("bigint"))
        if judge.on == "sketch":
            sketches = self.signed.where(f.col("what") == DOCUMENT).select("doc", "sketch", "limit")
            return wanted.join(sketches, "doc").withColumnRenamed("sketch", "content")
        return wanted.withColumn("content", f.lit(None).cast("binary")).withColumn("limit", f.lit(-1).cast("bigint"))

    def _resolve(self, buckets: Any, labels: Any, documents: Any, judge: Judge) -> None:
        from pyspark.sql import functions as f

        names = SHARE.names
        nothing = {"band": f.lit(-1), "key": f.lit(0), "asks": f.lit(False)}
        rows = documents.select(*(nothing[n].cast(_type(n)).alias(n) if n in nothing else f.col(n) for n in names))
        nothing = {n: f.lit(None) for n in ("tokens", "day", "limit", "content")}
        there = buckets.select("band", "key", "rank", "asks").join(labels, "rank")
        rows = rows.union(
            there.select(*(nothing[n].cast(_type(n)).alias(n) if n in nothing else f.col(n) for n in names))
        )
        complete, most = self._sketch_facts(documents, judge)
        asking = not self._banded()
        rules = ResolveRules(judge, self.settings, asking, self.task_memory, complete, most)
        tokens = int(self._views["ranked"].agg(f.coalesce(f.sum("tokens"), f.lit(0))).collect()[0][0])
        tokens = tokens * self.counts["candidate_documents"] // max(1, self.documents)
        least = self.spark.sparkContext.defaultParallelism
        shares = max(least, -(-self.entries // SHARE_ENTRIES), -(-8 * tokens // SHARE_TOKENS))
        rows = rows.repartition(shares, "root").sortWithinPartitions("band", "key", "rank")
        decision = self.store.keep(rows.mapInArrow(resolving(rules), to_spark(DECIDED)), "decision")
        self._take_decision(decision)
        sums = decision.agg(f.sum("compared"), f.sum("crowded"), f.count_if(f.col("table") == "links")).collect()[0]
        self.counts |= {
            "candidate_pairs": int(sums[0] or 0),
            "verified_pairs": int(sums[2] or 0),
            "crowded_buckets": int(sums[1] or 0),
        }

    def _sketch_facts(self, documents: Any, judge: Judge) -> tuple[bool, int]:
        """Whether all sketches have one limit, and `most`: facts of the collection, not of a share."""
        from pyspark.sql import functions as f

        if judge.on != "sketch":
            return True, 0
        sketch = example_signature(self.method).sketch
        most = 0 if sketch is None else sketch.most
        low, high = documents.agg(f.min("limit"), f.max("limit")).collect()[0]
        return most == 0 and low == high, most

    def _take_decision(self, decision: Any) -> None:
        from pyspark.sql import functions as f

        scores = ("resemblance", "containment", "contained_in")
        pairs = decision.select("table", "left_rank", "right_rank", *scores, "kind")
        for name in ("links", "near"):
            self._view(name, pairs.where(f.col("table") == name).drop("table"))
        first = f.col("left_rank").alias("rank")
        decided = pairs.where(f.col("table") == "decided")
        self._view("decided", decided.select(first, f.col("right_rank").alias("witness"), *scores, "kind"))
        clustered = pairs.where(f.col("table") == "clustered")
        self._view("clustered", clustered.select(first, f.col("right_rank").alias("cluster")))

    # ------------------------------------------------------------------ results

    def _view(self, name: str, frame: Any) -> None:
        self._views[name] = frame
        frame.createOrReplaceTempView(self._prefix + name)

    def sql(self, text: str) -> Any:
        """The frame of a query over the run's views."""
        return self.spark.sql(verdicts.named(text, self._prefix))

    def write(self, folder: Path) -> None:
        """documents.parquet, pairs.parquet and clusters.parquet: folders of Parquet files, sorted as a whole."""
        pairs = sql.ALL_PAIRS if self.settings.pairs == "all" else sql.EVIDENCE
        for name, query, schema in (
            ("documents", sql.DOCUMENTS, model.VERDICTS),
            ("pairs", pairs, model.PAIRS),
            ("clusters", verdicts.CLUSTERS, model.CLUSTERS),
        ):
            frame = self.sql(query)
            frame = frame.select(*(frame[f.name].cast(_spark_type(f.type)).alias(f.name) for f in schema))
            frame.write.option("compression", "zstd").parquet((folder / f"{name}.parquet").absolute().as_uri())

    def write_rejects(self, folder: Path) -> None:
        """quarantine.jsonl: a folder of JSON lines, in the order of the input."""
        from pyspark.sql import functions as f

        rejects = self.signed.where(f.col("what") == REJECT).orderBy("part", "chunk", "row").select("note")
        rejects.write.text((folder / "quarantine.jsonl").absolute().as_uri())

    def copy_kept(self, folder: Path) -> None:
        """kept/: every part with what stays of it, in its own format, a task a part."""
        folder.mkdir()
        kept = self._views["verdicts"].where("kept").select("part", "row")
        every = self.spark.createDataFrame([(n, -1) for n in range(len(self.parts))], "part int, row bigint")
        tasks = max(1, min(len(self.parts), 10_000))
        rows = kept.union(every).repartition(tasks, "part").sortWithinPartitions("part", "row")
        rows.mapInArrow(_copying(self._parts, str(folder.absolute())), "copied bigint").agg({"copied": "sum"}).collect()
        for left in folder.glob(f"{_ATTEMPT}*"):  # of a worker that was killed
            shutil.rmtree(left, ignore_errors=True)

    def summary(self) -> Summary:
        """What was found, counted."""

        def rows(query: str) -> list[dict[str, Any]]:
            return [row.asDict() for row in self.sql(query).collect()]

        return verdicts.summarise(rows, self.method.judge().measure)

    def close(self) -> None:
        """Let the session forget the run."""
        for name in self._views:
            self.spark.catalog.dropTempView(self._prefix + name)
        self._parts.destroy()


def _copying(packed_parts: Any, folder: str) -> Any:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, table in reading.by_part(batches):
            part = reading.opened(packed_parts, number)
            rows = table["row"].to_numpy()[1:]
            keep = np.zeros(int(rows[-1]) + 1 if len(rows) else 0, np.bool_)
            keep[rows] = True
            # a folder of this attempt's own: another one may be copying the same part
            mine = Path(folder) / f"{_ATTEMPT}{number}-{os.getpid()}-{os.urandom(4).hex()}"
            mine.mkdir()
            try:
                copied = part.copy(keep, mine)
                _publish(mine, Path(folder))
            finally:
                shutil.rmtree(mine, ignore_errors=True)
            yield pa.RecordBatch.from_arrays([pa.array([copied], pa.int64())], names=["copied"])

    return run


def _publish(mine: Path, folder: Path) -> None:
    """Put the files of an attempt in their places, each in one step; a second attempt's are the same bytes."""
    for path in sorted(mine.rglob("*")):
        target = folder / path.relative_to(mine)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)


def _type(name: str) -> Any:
    return to_spark(SHARE)[name].dataType


def _spark_type(kind: pa.DataType) -> Any:
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(kind)


def rejects_of(folder: Path) -> list[dict[str, Any]]:
    """The rejected records of a run."""
    lines = [
        line for path in sorted(folder.glob("quarantine.jsonl/part-*")) for line in path.read_text("utf-8").splitlines()
    ]
    return [json.loads(line) for line in lines]
