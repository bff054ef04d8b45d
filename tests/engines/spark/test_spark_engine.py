"""What is Spark's own: frames in and out, components in rounds, crowds, and what is refused."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

import every_format
import roughly
from conftest import same_answer
from date_texts import dated_documents, documents_for_rules, some_dates, timestamps_of_run, with_timestamps
from roughly import dates, keep_rules
from roughly.cluster import hot_buckets
from roughly.engines.spark import linked, reading
from roughly.engines.spark.cost import CollectionSize, recommend, stages
from roughly.engines.spark.engine import SparkEngine
from roughly.engines.spark.frame_store import FrameStore
from roughly.errors import DuplicateIds, InputError, Interrupted, SettingsError
from roughly.job.dedupe_api import run
from roughly.job.launcher import DedupeRequest
from roughly.job.on_spark import SparkLauncher
from roughly.keep_rules import KeepRule, SortKey
from roughly.kernels import grouping
from roughly.settings import ReadOptions, Resources, Settings

Both = Callable[..., Any]


def words(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    return ["".join(rng.choices("abcdefghij", k=6)) for _ in range(count)]


def write(rows: list[dict[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("one_task", [0, 10**6])
def test_components_are_those_of_scipy(spark: Any, tmp_path: Path, one_task: int) -> None:
    rng = np.random.default_rng(3)
    chain = np.column_stack((np.arange(1, 60), np.arange(0, 59)))  # the longest way to the least node
    pairs = np.concatenate((chain, 100 + rng.integers(0, 300, (170, 2)), [[999, 900], [998, 900]]))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]])[:, ::-1], axis=0)
    frame = spark.createDataFrame([tuple(map(int, pair)) for pair in pairs], "a bigint, b bigint")
    found = {row["a"]: row["b"] for row in linked.roots(frame, FrameStore(spark, tmp_path).keep, one_task).collect()}
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(1000, 1000))
    _, label = connected_components(graph, directed=False)
    least = {int(c): int(np.flatnonzero(label == c)[0]) for c in np.unique(label)}
    assert found == {d: least[int(label[d])] for d in np.unique(pairs).tolist() if least[int(label[d])] != d}


def test_crowds_are_dissolved_as_they_are_on_one_machine(
    both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two crowds of different pages with boilerplate of their own, and some near-copies among them."""
    assert hot_buckets.HOT == 200
    rows = []
    for crowd in range(2):
        common = words(crowd, 150)
        for page in range(320):
            own = words(1000 * (crowd + 1) + page, 60)
            rows.append({"id": f"{crowd}-{page}", "text": " ".join(common + own)})
            if page % 40 == 0:
                rows.append({"id": f"{crowd}-{page}-copy", "text": " ".join([*common, *own[:-1], "end"])})
    path = write(rows, tmp_path / "pages.jsonl")
    summary, _ = both([path], {"threshold": 0.8, "bands": 12, "rows": 1})
    assert summary["counts"]["crowded_buckets"] > 1 and summary["counts"]["removed"] == 16


def test_frames_in_and_out(spark: Any, tmp_path: Path) -> None:
    text = " ".join(words(1, 80))
    rows = [("a", text, 1), ("b", text + " more", 2), ("c", " ".join(words(2, 80)), 3)]
    frame = spark.createDataFrame(rows, "id string, text string, votes int").repartition(3)
    result = roughly.dedupe(frame, spark=spark, memory="1GB")
    assert [row["id"] for row in result.kept_rows.orderBy("id").collect()] == ["b", "c"]
    assert result.kept_rows.where("id = 'c'").collect()[0]["votes"] == 3
    assert [tuple(row) for row in result.filter(frame).orderBy("id").collect()] == rows[1:]
    assert result.kept_ids == [row["doc_id"] for row in result.kept.to_list()] == ["b", "c"]
    assert len(result.kept) == 2 and result.rejected.to_list() == [] and "2 kept" in repr(result)
    assert result.removed.to_pandas()["kept_id"].tolist() == result.removed.to_polars()["kept_id"].to_list() == ["b"]
    assert [tuple(row) for row in result.pairs.select("left_id", "right_id", "witness").collect()] == [("a", "b", True)]
    assert result.removed.count() == 1 and result.clusters.collect()[0]["size"] == 2
    assert result.summary["engine"]["spark"] == spark.version
    local = roughly.dedupe([{"id": i, "text": t} for i, t, _ in rows])
    assert [tuple(row) for row in result.documents.collect()] == [
        tuple(row.values()) for row in local.documents.to_pylist()
    ]
    with pytest.raises(InputError, match="its documents need ids"):
        roughly.dedupe(frame.drop("id"), spark=spark)
    with pytest.raises(InputError, match="reads paths or a Spark DataFrame"):
        roughly.dedupe(["a text"], spark=spark)


def test_errors_of_workers_are_our_own(spark: Any, tmp_path: Path) -> None:
    path = write(
        [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}, {"id": "a", "text": "three"}], tmp_path / "x.jsonl"
    )
    with pytest.raises(DuplicateIds, match=r"'a': .*line 1 and .*line 3") as told:
        roughly.dedupe(path, spark=spark)
    with pytest.raises(DuplicateIds) as locally:
        roughly.dedupe(path)
    assert str(told.value) == str(locally.value)
    parts = reading.packed(reading_parts(path), spark)
    path.write_text("changed while it was read\n", encoding="utf-8")

    def parsing(part: Any, number: int, index: int, chunk: Any) -> Any:
        part.parse(chunk)
        yield from ()

    from roughly.engines.spark.start import plain_errors

    with pytest.raises(InputError, match="changed while it was being read"), plain_errors():
        reading.read(spark, [part_of(path)], parts, parsing).count()


def test_an_edit_before_the_copy_that_keeps_size_and_time_is_noticed(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = (every_format.texts("delta", "bravo", word) for word in ("alpha", "gamma"))
    path = every_format.write("jsonl", tmp_path, before)
    original = SparkEngine.copy_kept

    def edit(self: SparkEngine, *given: Any) -> None:
        every_format.rewrite("jsonl", tmp_path, after)
        original(self, *given)

    monkeypatch.setattr(SparkEngine, "copy_kept", edit)
    with pytest.raises(InputError, match=r"line 3: changed while the run was reading it"):
        roughly.dedupe(path, output=tmp_path / "out", spark=spark)


def reading_parts(path: Path) -> list[Any]:
    return [part_of(path)]


def part_of(path: Path) -> Any:
    from roughly.settings import ReadOptions
    from roughly.sources import open_parts

    return open_parts([str(path)], ReadOptions(text_column="text", id_column="id"), path.parent)[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"engine": "sparks"}, "engine must be one of local, spark"),
        ({"master": "local[2]"}, "a master belongs to the engine spark"),
    ],
)
def test_what_makes_no_sense(options: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        roughly.dedupe(["a"], **options)


@pytest.mark.parametrize(
    ("missing", "told"), [("pyspark", r"pip install 'roughly\[spark\]'"), ("java", "needs Java 17")]
)
def test_what_is_missing_is_named(missing: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if missing == "pyspark":
        monkeypatch.setitem(sys.modules, "pyspark", None)
    else:
        pytest.importorskip("pyspark", reason="the engine spark is not installed: pip install 'roughly[spark]'")
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SettingsError, match=told):
        roughly.dedupe(write([{"id": "a", "text": "b"}], tmp_path / "a.jsonl"), engine="spark", master="local[1]")


def test_the_order_of_keys_is_that_of_buckets() -> None:
    keys = np.random.default_rng(1).integers(0, 2**64, 500, np.uint64)
    keys[:2] = 0, 1
    told = reading.in_order_of_buckets(keys)
    assert told[0] == reading.NO_KEY
    spread = [int(grouping.spread(key)) for key in keys]
    assert np.argsort(told).tolist() == np.argsort(np.array(spread, np.uint64)).tolist()


def test_timestamps_are_those_of_one_machine(both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dates in every form, and in none; half of the documents are read with a format, and half without."""
    rows = [{"id": str(n), "text": f"text {n}", "date": date} for n, date in enumerate(some_dates(8, 700))]
    with_timestamps(monkeypatch)
    for form, some in ((None, rows[:350]), ("%d/%m/%Y", rows[350:])):
        path = write(some, tmp_path / "in.jsonl")
        ours, theirs = both([path], {"method": "identical", "date_format": form})
        found = timestamps_of_run(theirs.folder)
        assert found == {row["id"]: dates.timestamp_of(row["date"], form) for row in some}
        assert found == timestamps_of_run(theirs.folder.parent / "local")
        assert theirs.summary["dates"] == ours["dates"] and ours["dates"]["unread"] > 30 < ours["dates"]["read"]


def test_every_keep_rule_keeps_the_same(spark: Any, tmp_path: Path) -> None:
    rows = documents_for_rules(7, groups=8)
    for n, row in enumerate(rows):  # equal words and unequal bytes: no pair has to be verified
        row["text"] = row["text"].rpartition(" ")[0] + "!" * (5 * n % 7)
    path = write(rows, tmp_path / "in.jsonl")
    kept = {}
    for rule in keep_rules.rule_names():
        kept[rule] = set(roughly.dedupe(path, keep=rule, method="lexical").kept_ids)
        theirs = roughly.dedupe(path, keep=rule, method="lexical", spark=spark, memory="1GB")
        table = pq.read_table(theirs.folder / "documents.parquet", columns=["doc_id", "kept"]).to_pylist()
        assert {row["doc_id"] for row in table if row["kept"]} == kept[rule], rule
    assert len({frozenset(ids) for ids in kept.values()}) == len(kept)  # no two rules keep the same


def test_texts_of_several_columns(spark: Any, tmp_path: Path) -> None:
    rows = [
        {"id": f"{n}-{copy}", "title": " ".join(words(n, 12)) if n else None, "text": " ".join(words(99 + n, 9))}
        for n in range(20)
        for copy in range(2)
    ]
    for n, row in enumerate(rows[::2]):
        row["text"] = f"other{n} {row['text']}"
    path = write(rows, tmp_path / "in.jsonl")
    wanted = set(roughly.dedupe(path, threshold=0.4, text_column="title,text").kept_ids)
    frame = spark.createDataFrame([tuple(row.values()) for row in rows], "id string, title string, text string")
    for data in (path, frame):
        theirs = roughly.dedupe(data, threshold=0.4, text_column="title,text", spark=spark, memory="1GB")
        table = pq.read_table(theirs.folder / "documents.parquet", columns=["doc_id", "kept"]).to_pylist()
        assert {row["doc_id"] for row in table if row["kept"]} == wanted
    assert 15 < len(wanted) < 30


def test_dates_and_a_new_keep_rule(both: Both, tmp_path: Path) -> None:
    path = write(dated_documents(5), tmp_path / "in.jsonl")
    keep_rules.register(KeepRule("recent", (SortKey("published", descending=True), SortKey("bytes")), "for a test"))
    try:
        asked = {"keep": "source:it's>b,recent", "method": "term-vector", "shared": 12, "min_terms": 5, "dates": 9}
        ours, theirs = both([path], asked)
    finally:
        del keep_rules.RULES["recent"]
    assert theirs.summary["dates"] == ours["dates"] and ours["dates"]["unread"] > 3
    assert ours["counts"]["removed"] > 5


def test_the_cost_model() -> None:
    small = CollectionSize(documents=1e6, tokens=4e8, keys=20, share=0.3)
    moved = {stage.name: stage.shuffled for stage in stages(small)}
    twice = {stage.name: stage.shuffled for stage in stages(CollectionSize(2e6, 8e8, 20, 0.3))}
    assert all(twice[name] == pytest.approx(2 * moved[name], rel=1e-6) for name in moved)
    assert moved["verify"] > 0.3 * 4 * 4e8
    plan = recommend(small, core_seconds=100_000)
    assert plan["executors"] > 1 and plan["seconds"] <= 3600
    nothing = {stage.name: stage.shuffled for stage in stages(CollectionSize(1e6, 4e8, 0, 0.0, "keys"))}
    assert nothing["group"] == nothing["verify"] == 0


def test_the_plan_of_a_cluster(tmp_path: Path) -> None:
    rows = [{"id": str(i), "text": " ".join(words(i // 2, 60))} for i in range(200)]
    path = write(rows, tmp_path / "docs.jsonl")
    command = [sys.executable, "-m", "roughly", "dedupe", str(path), "--engine", "spark", "--plan"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in ("stage ", "group", "verify", "shuffled ", "executors "):
        assert name in told
    plan = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert plan["executors"] == 1 and next(stage["name"] for stage in plan["stages"]) == "read"
    assert plan["documents"] == 200 and plan["keys_a_document"] > 1


def test_the_tables_of_the_page_are_those_of_the_model() -> None:
    import importlib.util

    path = Path(__file__).resolve().parents[3] / "docs" / "make_spark.py"
    spec = importlib.util.spec_from_file_location("make_spark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.page() == module.PAGE.read_text(encoding="utf-8"), "python docs/make_spark.py"


def near_copies(count: int = 40) -> list[dict[str, Any]]:
    """Documents of which every second is nearly the one before."""
    rows = []
    for number in range(count):
        text = " ".join(words(number // 2, 60))
        rows.append({"id": f"d{number}", "text": text + (" again" if number % 2 else ""), "title": f"Page {number}"})
    return rows


def test_a_run_that_was_stopped_goes_on(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(near_copies(), tmp_path / "pages.jsonl")
    local = roughly.dedupe(path, output=tmp_path / "local")

    def request(resume: bool) -> DedupeRequest:
        resources = Resources(memory=1 << 30)
        return DedupeRequest(
            settings=Settings(), resources=resources, reading=ReadOptions(), output=tmp_path / "out", resume=resume
        )

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(Interrupted, match="continue with --resume"):
        patched.setattr(SparkEngine, "resolve", stop)
        run(None, [path], request(False), SparkLauncher(spark))
    with monkeypatch.context() as patched:
        patched.setattr(reading, "signing", lambda *_: stop)  # nothing is read again
        found = run(None, [path], request(True), SparkLauncher(spark))
    same_answer(local.folder, found.folder)
    assert found.summary["counts"] == local.summary["counts"]
    assert found.summary["stages"][0]["reused"] and not (tmp_path / "out.partial").exists()


def test_index_and_archive_are_those_of_one_machine(spark: Any, tmp_path: Path) -> None:
    rows = near_copies()
    path = write(rows, tmp_path / "pages.jsonl")
    found = roughly.dedupe(path, output=tmp_path / "out", index=tmp_path / "archive.db", spark=spark, memory="1GB")
    with roughly.Index.open(tmp_path / "archive.db") as index:
        assert index.stats().documents == found.summary["counts"]["documents"] == 40
    new = [{**row, "id": f"new-{row['id']}"} for row in rows[:6]] + [{"id": "z", "text": " ".join(words(999, 60))}]
    path = write(new, tmp_path / "new.jsonl")
    ours = roughly.dedupe(path, output=tmp_path / "ours", against=tmp_path / "archive.db")
    theirs = roughly.dedupe(path, output=tmp_path / "theirs", against=tmp_path / "archive.db", spark=spark)
    assert ours.summary["against"] == theirs.summary["against"] and ours.summary["against"]["removed"] == 6
    for name in ("documents", "pairs"):
        tables = [pq.read_table(result.folder / f"{name}.parquet") for result in (ours, theirs)]
        assert tables[0].equals(tables[1]), name
