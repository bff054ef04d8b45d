"""The engine on Apache Spark: each stage of the plan is work on the workers, and ends with a stored frame.

    parts ─ sign (our readers and kernels, on the workers) ─ rank ─ collapse equal documents
          ─ group keys ─ connect buckets ─ read candidates again ─ resolve, share by share ─ verdicts

Every arrow is a frame on the workers' disks. The relational steps are those of every engine (`engines.relational`). The
driver sees counts, one number per partition and the samples of the report; never the documents, the pairs or the
clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roughly.cluster.common_keys import COMMON_COUNTS, CommonLimit
from roughly.engines.relational import statements
from roughly.engines.relational.base_engine import RelationalEngine, ignore
from roughly.engines.spark import buckets as grouping
from roughly.engines.spark import copying, linked, ranking, reading
from roughly.engines.spark.dialect import to_spark as translated
from roughly.engines.spark.frame_store import FrameStore
from roughly.engines.spark.resolving import ResolveRules, resolving
from roughly.engines.spark.schemas import COUNTS, DOCUMENT, NO_FACTS, REJECT, SHARE, decided_rows, to_spark
from roughly.engines.workspace import Workspace
from roughly.meter import Meter, Stage
from roughly.methods import Judge, Method
from roughly.model import CARRIED, decision_schemas
from roughly.settings import Resources, Settings
from roughly.signing.text_batch import example_signature
from roughly.sources.part import Part, is_untouched
from roughly.text.filters import Filters

SHARE_ENTRIES = 4_000_000
SHARE_TOKENS = 256 << 20
"""Approximate number of bucket entries, and bytes of tokens, per task of resolution."""
_FOR_WORKERS = ("chunk", "day")
"""Facts in addition to `model.CARRIED` that tasks need: where a document is read again, and when it was published."""


class SparkEngine(RelationalEngine):
    """One run on a cluster. `resources.memory` is what the Python worker of one task may take."""

    def __init__(
        self, parts: Sequence[Part], settings: Settings, resources: Resources, workspace: Workspace, meter: Meter, *,
        spark: Any, one_task: int = linked.ONE_TASK,
    ) -> None:  # fmt: skip
        super().__init__(parts, settings, meter)
        self.resources, self.spark, self.one_task = resources, spark, one_task
        self.store = FrameStore(spark, workspace.folder)
        self._prefix = f"roughly_{id(self):x}_"
        self._parts = reading.packed(parts, spark)
        self._views: dict[str, Any] = {}
        self._has_bands, self._most, self._is_resumed = False, 0, False

    @contextmanager
    def stage(self, name: str, total: int = 0, unit: str = "") -> Iterator[Stage]:
        """A stage of the run, which Spark's own pages show by its name."""
        self.spark.sparkContext.setJobDescription(f"roughly: {name}")
        try:
            with self.meter.stage(name, total, unit) as stage:
                yield stage
        finally:
            self.spark.sparkContext.setJobDescription(None)

    def describe(self) -> dict[str, Any]:
        """The version of Spark."""
        return {"engine": {"spark": self.spark.version, "master": self.spark.sparkContext.master}}

    # ------------------------------------------------------------------ tables

    def frame(self, sql: str) -> Any:
        """The frame of a query over the run's tables."""
        return self.spark.sql(translated(sql, statements.TABLES, self._prefix))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a query that returns few."""
        return [row.asDict() for row in self.frame(sql).collect()]

    def view(self, name: str, sql: str) -> None:
        """Make the result of a query visible under a name."""
        self._show(name, self.frame(sql))

    def keep(self, name: str, sql: str) -> None:
        """Store the result of a query, visible under a name."""
        self._show(name, self.store.keep(self.frame(sql), name))

    def _show(self, name: str, frame: Any) -> None:
        self._views[name] = frame
        frame.createOrReplaceTempView(self._prefix + name)

    def write_tables(self, queries: Mapping[str, str], folder: Path) -> None:
        """Write the result of each query as a folder of Parquet files, sorted as a whole."""
        for name, sql in queries.items():
            frame, fields = self.frame(sql), to_spark(self.written_table(name).schema).fields
            frame = frame.select(*(frame[field.name].cast(field.dataType) for field in fields))
            frame.write.option("compression", "zstd").parquet((folder / f"{name}.parquet").absolute().as_uri())

    # ------------------------------------------------------------------ reading

    def build_lexicon(self, path: Path, filters: Filters) -> None:
        """Count the documents that contain each term, on the workers, and write the lexicon of the collection."""
        from roughly.engines.spark.lexicon_count import count_collection

        with self.stage("count"):
            count_collection(
                self.spark, self.parts, path, filters=filters, page=self.settings.page_text,
                memory=self.resources.memory,
            )  # fmt: skip

    def read_and_sign(self, method: Method, stage: Stage) -> None:
        """Read all parts on the workers: one frame of facts, keys, sketches and rejects."""
        stage.reused = self._is_resumed = self.store.has("signed")
        sent = self.spark.sparkContext.broadcast(method)
        frame = reading.read(self.spark, self.parts, self._parts, reading.signing(sent, self.settings))
        self.signed = self.store.keep(frame, "signed")
        counts = {row["what"]: row["count"] for row in self.signed.groupBy("what").count().collect()}
        self.documents, self.rejected = counts.get(DOCUMENT, 0), counts.get(REJECT, 0)
        if COUNTS in counts:
            self._add_counts()
        self._has_bands, self._most = self._shape(method)
        self._show("read_facts", self.signed.where(f"what = {DOCUMENT}").drop(*NO_FACTS))
        stage.bytes = stage.total

    def _add_counts(self) -> None:
        """What the method counted, summed over the chunks."""
        from pyspark.sql import functions as f

        notes = self.signed.where(f.col("what") == COUNTS)
        counts = notes.select(f.explode(f.from_json("note", "map<string,bigint>")).alias("name", "count"))
        sums = counts.groupBy("name").agg(f.sum("count").alias("total")).collect()
        self.counts |= {row["name"]: int(row["total"]) for row in sums}

    @staticmethod
    def _shape(method: Method) -> tuple[bool, int]:
        """Whether the method's keys belong to a band, and `most` of its sketches: the same for any text."""
        signature = example_signature(method)
        keys, sketch = signature.keys, signature.sketch
        return keys is not None and keys.banded, 0 if sketch is None else sketch.most

    # ------------------------------------------------------------------ candidates

    def rank(self, order: str, collapse: str) -> None:
        """Number the documents, best first, without a step on a single worker."""
        hi, lo = statements.digest_columns(collapse)
        columns = ", ".join((*CARRIED, *_FOR_WORKERS))
        listed = self.frame(f"SELECT {columns}, {hi} AS hi, {lo} AS lo FROM facts ORDER BY {order}")
        stored = self.store.keep(ranking.placed(listed), "numbered")
        self._show("numbered", ranking.numbered(stored))
        self.keep("ranked", statements.ranked(more=_FOR_WORKERS))

    def is_resolved(self) -> bool:
        """Nothing to do: frames of an interrupted run are reused one by one."""
        return False

    def group(self, common: CommonLimit, once: bool) -> None:
        """Find the documents that share a key; the workers merge buckets with the same members."""
        from pyspark.sql import functions as f

        del once  # see `resolving`
        buckets = grouping.entries(self.signed, self._views["ranked"], self._has_bands, common)
        buckets = self.store.keep(buckets, "buckets")
        if common.most:
            left_out = buckets.where("common").count()
            mostly = buckets.where("mostly_common").select("rank").distinct().count()
            self.counts |= dict(zip(COMMON_COUNTS, (left_out, mostly), strict=True))
        self._grouped, self._common = buckets, common
        self._buckets = buckets.where("NOT common")
        pairs = f.when(f.col("rank") == f.col("best"), f.expr("CAST(size AS DOUBLE) * (size - 1) / 2"))
        sums = self._buckets.agg(f.count("*"), f.countDistinct("rank"), f.coalesce(f.sum(pairs), f.lit(0.0)))
        entries, documents, pair_count = sums.collect()[0]
        self._entries, self._pairs = int(entries), float(pair_count)
        self.counts["candidate_documents"] = int(documents)

    def pair_bound(self) -> int:
        """Upper bound of the number of pairs that share a key: counted once per bucket, and at most all pairs."""
        documents = self.counts["candidate_documents"]
        return int(min(self._pairs, documents * (documents - 1) / 2))

    def load_contents(self, judge: Judge) -> None:
        """Label the candidates by component, and load what they are judged on, as documents of SHARE."""
        with self.stage("link"):
            self._labels = self._label()
        with self.stage("fetch"):
            self._contents = self._load(judge)

    def _label(self) -> Any:
        """(rank, root) of every candidate document; the root is the best document that a chain of buckets leads to."""
        from pyspark.sql import functions as f

        roots = linked.roots(grouping.edges(self._buckets), self.store.keep, self.one_task)
        leads = roots.select(f.col("b").alias("rank"), f.col("b").alias("root")).distinct()
        return self.store.keep(roots.select(f.col("a").alias("rank"), f.col("b").alias("root")).union(leads), "labels")

    def _load(self, judge: Judge) -> Any:
        from pyspark.sql import functions as f

        facts = self._views["ranked"].select("doc", "part", "chunk", "row", "rank", "tokens", "day")
        wanted = self._labels.join(facts, "rank")
        if judge.on == "text":
            shares = [-(-(part.size or 0) // reading.SHARE_BYTES) for part in self.parts]
            count = max(2 * self.spark.sparkContext.defaultParallelism, sum(max(1, n) for n in shares))
            split = f.floor(f.col("chunk") / 16)
            wanted = wanted.select("part", "chunk", "row", "rank", "root", "tokens", "day")
            wanted = wanted.repartition(min(count, 100_000), "part", split).sortWithinPartitions("part", "row")
            found = self.store.keep(reading.fetch(wanted, self._parts, self.settings), "contents")
            return found.withColumn("limit", f.lit(-1).cast("bigint"))
        if judge.on == "sketch":
            sketches = self.signed.where(f.col("what") == DOCUMENT).select("doc", "sketch", "limit")
            found = wanted.join(sketches, "doc").withColumnRenamed("sketch", "content")
            return grouping.without_common(found, self._grouped, self._common) if judge.ignore_common else found
        return wanted.withColumn("content", f.lit(None).cast("binary")).withColumn("limit", f.lit(-1).cast("bigint"))

    # ------------------------------------------------------------------ resolution

    def resolve(self, judge: Judge, settings: Settings, advance: Callable[[int], None] = ignore) -> None:
        """Compare candidates: connected documents are on one worker."""
        from pyspark.sql import functions as f

        del advance  # Spark's own pages show the progress
        complete = self._same_limits(judge)
        rules = ResolveRules(
            self.applicable(judge), settings, not self._has_bands, self.resources.memory, complete, self._most,
            self.reasons,
        )  # fmt: skip
        rows = self._shares().repartition(self._share_count(), "root").sortWithinPartitions("band", "key", "rank")
        decision = self.store.keep(rows.mapInArrow(resolving(rules), to_spark(decided_rows(self.reasons))), "decision")
        self._show_decision(decision)
        totals = [f.sum(name) for name in ("compared", "hot", "equivalent")]
        sums = decision.agg(*totals, f.count_if(f.col("table") == "links")).collect()[0]
        self.counts |= {
            "candidate_pairs": int(sums[0] or 0),
            "verified_pairs": int(sums[3] or 0),
            "crowded_buckets": int(sums[1] or 0),
            "shingle_equivalent": int(sums[2] or 0),
        }

    def _shares(self) -> Any:
        """Rows of SHARE: all candidates (band −1), and the members of buckets."""
        from pyspark.sql import functions as f

        def chosen(frame: Any, constants: dict[str, Any]) -> Any:
            return frame.select(
                *(
                    (f.lit(constants[field.name]) if field.name in constants else f.col(field.name))
                    .cast(field.dataType)
                    .alias(field.name)
                    for field in to_spark(SHARE).fields
                )
            )

        unread = {} if "fields" in self._contents.columns else {"fields": None}
        documents = chosen(self._contents, {"band": -1, "key": 0, "probes": False, **unread})
        members = self._buckets.select("band", "key", "rank", "probes").join(self._labels, "rank")
        return documents.union(chosen(members, dict.fromkeys(("tokens", "day", "limit", "content", "fields"))))

    def _share_count(self) -> int:
        """The number of tasks of resolution."""
        tokens = self.value("SELECT coalesce(sum(tokens), 0) AS n FROM ranked")
        tokens = tokens * self.counts["candidate_documents"] // max(1, self.documents)
        least = int(self.spark.sparkContext.defaultParallelism)
        return max(least, -(-self._entries // SHARE_ENTRIES), -(-8 * tokens // SHARE_TOKENS))

    def _same_limits(self, judge: Judge) -> bool:
        """Whether all sketches have one limit: a fact of the collection, not of a share."""
        from pyspark.sql import functions as f

        if judge.on != "sketch":
            return True
        low, high = self._contents.agg(f.min("limit"), f.max("limit")).collect()[0]
        return self._most == 0 and bool(low == high)

    def _show_decision(self, decision: Any) -> None:
        """The tables of `model.DECISION`, whose first two columns are ranks."""
        for name, schema in decision_schemas(self.reasons).items():
            first, second, *rest = schema.names
            rows = decision.where(decision["table"] == name)
            ranks = decision["left_rank"].alias(first), decision["right_rank"].alias(second)
            self._show(name, rows.select(*ranks, *rest))

    def load_decision(self) -> None:
        """If nothing was compared, the decisions are empty."""
        if "decided" not in self._views:
            self._show_decision(self.spark.createDataFrame([], to_spark(decided_rows(self.reasons))))

    # ------------------------------------------------------------------ results

    def write_rejects(self, path: Path) -> None:
        """quarantine.jsonl: a folder of JSON lines, in the order of the input."""
        rejects = self.signed.where(f"what = {REJECT}").orderBy("part", "chunk", "row").select("note")
        rejects.write.text(path.absolute().as_uri())

    def copy_kept(self, folder: Path, advance: Callable[[int], None]) -> None:
        """Copy the kept records of every part, one task per part; end the run if they are not what was read."""
        copying.copy_kept(self.frame(statements.KEPT_ROWS), self.parts, self._parts, folder)
        touched = [str(at) for at, part in enumerate(self.parts) if self._is_resumed or not is_untouched(part)]
        if touched:
            rows = self.frame(statements.DIGESTS_OF_KEPT.format(parts=", ".join(touched)))
            copying.check_copied(rows, self._parts)
        advance(sum(part.size or 0 for part in self.parts))

    def close(self, *, at_once: bool = False) -> None:
        """Remove the run's views from the session."""
        del at_once  # there are no files
        for name in self._views:
            self.spark.catalog.dropTempView(self._prefix + name)
        self._parts.destroy()
