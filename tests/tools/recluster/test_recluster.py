"""Stored sketches: read back as they were, clustered as the sets say, and refused where they do not fit."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import roughly
from commands import run_roughly
from roughly.cli.app import app
from roughly.errors import DuplicateIds, InputError, InputMissing, MemoryTooSmall, OutputExists, SettingsError
from roughly.features import sketch_store
from roughly.features.sampling import Sampling
from roughly.features.shingle_sets import shingle_sets
from roughly.features.sketch import joined, limits_of
from roughly.features.sketch_store import FILE, SketchFacts, read_facts, sketch_batches
from roughly.lexicon.format import FORM
from roughly.text.canonical import tokenise
from roughly.tools.recluster.clustering import Clustering

Records = list[dict[str, str]]
SKETCHES = ["all", "mod:8", "min:50", "adaptive"]


def sets_of(records: Records, size: int) -> list[set[int]]:
    found = shingle_sets(tokenise(pa.array([record["text"] for record in records])), size)
    return [set(found.values[a:b].tolist()) for a, b in itertools.pairwise(found.offsets)]


def greedy(records: Records, size: int, measure: str, threshold: float) -> dict[str, bool]:
    """Who stays, by comparing everything exactly in order of rank."""
    sets = dict(zip((record["id"] for record in records), sets_of(records, size), strict=True))
    lengths = {record["id"]: len(record["text"].split()) for record in records}
    kept: list[str] = []
    verdict = {}
    for doc_id in sorted(sets, key=lambda name: (-lengths[name], name)):
        mine = sets[doc_id]
        wholes = ((sets[k], mine if measure == "containment" else mine | sets[k]) for k in kept)
        verdict[doc_id] = not any(
            mine & other and len(mine & other) / len(whole) >= threshold for other, whole in wholes
        )
        if verdict[doc_id]:
            kept.append(doc_id)
    return verdict


@pytest.mark.parametrize("sketch", SKETCHES)
def test_sketches_come_back_as_they_were_made(file: Path, records: Records, tmp_path: Path, sketch: str) -> None:
    done = roughly.sketch(file, output=tmp_path / "s", sketch=sketch, shingle_size=4)
    facts = read_facts(tmp_path / "s")
    ids, counts, sketches = zip(*sketch_batches(tmp_path / "s" / FILE, facts), strict=True)
    stored = joined(list(sketches))
    tokens = tokenise(pa.array([record["text"] for record in records]))
    made = Sampling.parse(sketch).apply(tokens, 4)
    assert pa.concat_arrays(ids).to_pylist() == [record["id"] for record in records]
    assert np.concatenate(counts).tolist() == np.diff(tokens.offsets).tolist()
    assert stored.values.tolist() == made.values.tolist()
    assert stored.offsets.tolist() == made.offsets.tolist()
    assert limits_of(stored).tolist() == limits_of(made).tolist()
    assert stored.most == made.most
    assert facts == SketchFacts(Sampling.parse(sketch), 4)
    assert (done.documents, done.values, done.rejects) == (len(records), len(made.values), [])
    summary = json.loads((tmp_path / "s" / "run.json").read_text(encoding="utf-8"))
    assert summary["fingerprint"] == facts.fingerprint()


@pytest.mark.parametrize("measure", ["resemblance", "containment"])
@pytest.mark.parametrize("threshold", [0.3, 0.8, 1.0])
def test_unsampled_sketches_give_the_exact_stars(
    file: Path, records: Records, tmp_path: Path, measure: str, threshold: float
) -> None:
    roughly.sketch(file, output=tmp_path / "s", sketch="all", shingle_size=4)
    found = roughly.recluster(tmp_path / "s", threshold=threshold, measure=measure)
    verdict = greedy(records, 4, measure, threshold)
    assert dict(zip(found.documents["doc_id"].to_pylist(), found.documents["kept"].to_pylist(), strict=True)) == verdict
    sets = dict(zip((record["id"] for record in records), sets_of(records, 4), strict=True))
    for row in found.removed.to_pylist():
        mine, other = sets[row["doc_id"]], sets[row["kept_id"]]
        assert verdict[row["kept_id"]]
        assert row["resemblance"] == len(mine & other) / len(mine | other)
        assert row["containment"] == len(mine & other) / len(mine)
        assert row["contained_in"] == len(mine & other) / len(other)
        assert row[measure] >= threshold
        assert row["resemblance_error"] == 0


@pytest.mark.parametrize("sketch", ["mod:4", "min:60", "adaptive"])
def test_sampled_sketches_with_the_texts_are_exact(file: Path, tmp_path: Path, sketch: str) -> None:
    """Every pair that reaches 0.5 shares a sampled shingle here, so the verdicts are those of the full sets."""
    roughly.sketch(file, output=tmp_path / "s", sketch=sketch, shingle_size=4)
    roughly.sketch(file, output=tmp_path / "all", sketch="all", shingle_size=4)
    verified = roughly.recluster(tmp_path / "s", threshold=0.5, texts=file)
    assert verified.documents.equals(roughly.recluster(tmp_path / "all", threshold=0.5).documents)


@pytest.mark.parametrize("sketch", ["mod:4", "min:60", "adaptive"])
def test_estimates_lie_around_the_exact_scores(file: Path, records: Records, tmp_path: Path, sketch: str) -> None:
    roughly.sketch(file, output=tmp_path / "s", sketch=sketch, shingle_size=4)
    found = roughly.recluster(tmp_path / "s", threshold=0.4, pairs="all")
    sets = dict(zip((record["id"] for record in records), sets_of(records, 4), strict=True))
    off, error = [], []
    for row in found.pairs.to_pylist():
        left, right = sets[row["left_id"]], sets[row["right_id"]]
        off.append(row["resemblance"] - len(left & right) / len(left | right))
        error.append(row["resemblance_error"])
    assert len(off) > 30
    assert np.abs(off).mean() < 0.08
    assert np.mean(np.abs(off) <= 3 * np.array(error) + 0.05) > 0.9


def test_components_hold_chains_and_stars_do_not(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(140)]
    chain = [{"id": str(i), "text": " ".join(words[10 * i : 10 * i + 100])} for i in range(5)]
    roughly.sketch(chain, output=tmp_path / "s", sketch="all", shingle_size=1)
    star = roughly.recluster(tmp_path / "s", threshold=0.8)
    linked = roughly.recluster(tmp_path / "s", threshold=0.8, cluster="components")
    assert star.clusters == {"0": ["0", "1"], "2": ["2", "3"]}
    assert linked.clusters == {"0": ["0", "1", "2", "3", "4"]}
    assert linked.kept_ids == star.kept_ids == ["0", "2", "4"]


def test_common_values_form_no_pairs_and_are_counted(tmp_path: Path) -> None:
    documents = [{"id": str(i), "text": f"one two three four own{i} mine{i}"} for i in range(6)]
    roughly.sketch(documents, output=tmp_path / "s", sketch="all", shingle_size=1)
    found = roughly.recluster(tmp_path / "s", threshold=0.7, common=5)
    assert (found.counts["common"], found.counts["mostly_common"], found.counts["compared"]) == (4, 0, 0)
    assert roughly.recluster(tmp_path / "s", threshold=0.7, common=6).counts["compared"] > 0


def test_documents_of_little_but_common_values_are_found_by_the_rarest(tmp_path: Path) -> None:
    documents = [{"id": str(i), "text": f"one two three four own{i} mine{i}"} for i in range(6)]
    roughly.sketch(documents, output=tmp_path / "s", sketch="all", shingle_size=1)
    found = roughly.recluster(tmp_path / "s", threshold=0.4, common=5)  # four of six are common, and three are needed
    assert (found.counts["common"], found.counts["mostly_common"], found.counts["removed"]) == (2, 6, 5)


def test_copies_do_not_make_their_own_shingles_common(tmp_path: Path) -> None:
    documents = [{"id": str(i), "text": "the same words in every one of them"} for i in range(9)]
    documents.append({"id": "other", "text": "the same words in every one of these"})
    roughly.sketch(documents, output=tmp_path / "s", sketch="all", shingle_size=1)
    found = roughly.recluster(tmp_path / "s", threshold=0.7, common=2)
    assert found.kept_ids == ["0"]
    assert found.counts["equivalent"] == 8


def test_documents_without_a_sampled_shingle_stay_and_are_counted(tmp_path: Path) -> None:
    documents = [{"id": "a", "text": "x y"}, {"id": "b", "text": "x y"}, {"id": "c", "text": ""}]
    roughly.sketch(documents, output=tmp_path / "s", sketch="mod:2000000000")
    found = roughly.recluster(tmp_path / "s")
    assert (found.kept_ids, found.counts["empty"]) == (["a", "b", "c"], 3)
    assert found.documents["resemblance"].to_pylist() == [1, 1, 1]


@pytest.mark.parametrize("sketch", SKETCHES)
def test_order_threads_and_batches_do_not_matter(records: Records, tmp_path: Path, sketch: str) -> None:
    roughly.sketch(records, output=tmp_path / "a", sketch=sketch, threads=1)
    roughly.sketch(list(reversed(records)), output=tmp_path / "b", sketch=sketch, threads=3, batch_size=7)
    for measure, cluster in itertools.product(["resemblance", "containment"], ["star", "components"]):
        options: dict[str, Any] = {"threshold": 0.5, "measure": measure, "cluster": cluster}
        one, two = roughly.recluster(tmp_path / "a", **options), roughly.recluster(tmp_path / "b", **options)
        assert one.documents.equals(two.documents)
        assert one.pairs.equals(two.pairs)
        assert one.counts == two.counts


def test_the_form_is_that_of_lexicons() -> None:
    assert sketch_store.FORM == FORM


def test_what_does_not_fit_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match="make them with `roughly sketch` or `roughly sign`"):
        roughly.recluster(tmp_path / "nowhere")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match="holds neither sketches nor signatures"):
        roughly.recluster(tmp_path / "other.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        roughly.recluster(tmp_path / "broken.parquet")
    roughly.sketch(file, output=tmp_path / "s")
    with pytest.raises(OutputExists):
        roughly.sketch(file, output=tmp_path / "s")
    table = pq.read_table(tmp_path / "s" / "sketches.parquet")
    told = json.loads(table.schema.metadata[b"roughly.sketches"])
    for change, words in (({"shingle_size": 3}, "fingerprint does not fit"), ({"version": 9}, "another version")):
        pq.write_table(
            table.replace_schema_metadata({"roughly.sketches": json.dumps(told | change)}), tmp_path / "changed.parquet"
        )
        with pytest.raises(InputError, match=words):
            roughly.recluster(tmp_path / "changed.parquet")
    with pytest.raises(InputError, match="are stored but have no text"):
        roughly.recluster(tmp_path / "s", texts=["something else"])
    with pytest.raises(SettingsError) as told_all:
        roughly.recluster(tmp_path / "s", threshold=0, measure="size", cluster="none", common=1, pairs="few")
    assert len(told_all.value.problems) == 5
    with pytest.raises(SettingsError, match="either data or paths"):
        roughly.sketch(output=tmp_path / "t")
    with pytest.raises(SettingsError, match="shingle_size must be"):
        roughly.sketch(file, output=tmp_path / "t", shingle_size=0)
    assert not (tmp_path / "t").exists()


def test_ids_that_stand_twice_are_refused(tmp_path: Path) -> None:
    roughly.sketch([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], output=tmp_path / "s")
    with pytest.raises(DuplicateIds, match="'a' for one"):
        roughly.recluster(tmp_path / "s")


def test_the_command(file: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    done = run(app, ["sketch", str(file), "-o", str(tmp_path / "s"), "--sketch", "mod:8", "--shingle-size", "4"])
    assert done.exit_code == 0, done.output
    sampled = pq.read_table(tmp_path / "s" / "sketches.parquet")["values"].to_pylist()
    assert f"documents   120; of {sum(not values for values in sampled)} no shingle was sampled" in done.stdout
    assert "sampled (mod:8)" in done.stdout
    again = run(app, ["sketch", str(file), "-o", str(tmp_path / "s"), "--overwrite", "--json"])
    assert json.loads(again.stdout)["settings"]["sketch"] == "mod:25"
    bad = run(app, ["sketch", str(file), "-o", str(tmp_path / "t"), "--sketch", "often"])
    assert isinstance(bad.exception, SettingsError)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "1", "text": "fine"}\nnot json\n', encoding="utf-8")
    assert run(app, ["sketch", str(broken), "-o", str(tmp_path / "u"), "--quiet"]).exit_code == 3


def test_the_command_that_clusters(file: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    roughly.sketch(file, output=tmp_path / "s", sketch="mod:4", shingle_size=4)
    found = roughly.recluster(tmp_path / "s", threshold=0.6, measure="containment", cluster="components")
    options = ["--threshold", "0.6", "--measure", "containment", "--cluster", "components"]
    done = run(app, ["cluster", str(tmp_path / "s"), *options, "-o", str(tmp_path / "c.parquet")])
    assert done.exit_code == 0, done.output
    assert f"kept        {found.counts['kept']}" in done.stdout and "scores: estimated" in done.stdout
    assert found.documents.equals(pq.read_table(tmp_path / "c.parquet"))
    told = json.loads(run(app, ["cluster", str(tmp_path / "s"), *options, "--json", "--text", str(file)]).stdout)
    exact = roughly.recluster(tmp_path / "s", threshold=0.6, measure="containment", cluster="components", texts=file)
    assert told["scores"] == exact.scores == "exact" and told["members"] == exact.clusters
    wrong = run(app, ["cluster", str(tmp_path / "s"), "--measure", "size"])
    assert isinstance(wrong.exception, SettingsError)


def test_several_folders_are_one_collection(records: Records, tmp_path: Path) -> None:
    roughly.sketch(records, output=tmp_path / "whole", shingle_size=4)
    roughly.sketch(records[:50], output=tmp_path / "a", shingle_size=4)
    roughly.sketch(records[50:], output=tmp_path / "b", shingle_size=4)
    both = roughly.recluster([tmp_path / "b", tmp_path / "a"])
    assert both.documents.equals(roughly.recluster(tmp_path / "whole").documents)
    roughly.sketch(records[50:], output=tmp_path / "c", shingle_size=5)
    with pytest.raises(InputError, match="made with other settings"):
        roughly.recluster([tmp_path / "a", tmp_path / "c"])


def test_all_pairs_include_those_of_equivalent_documents(tmp_path: Path) -> None:
    """x, y and z have one set of words; near shares most of them."""
    texts = {"x": "one two three four five", "y": "five four three two one", "z": "one two two three four five five"}
    texts |= {"near": "one two three four six", "far": "something else entirely"}
    documents = [{"id": name, "text": text} for name, text in texts.items()]
    expected = {("x", "y"), ("x", "z"), ("y", "z"), ("near", "x"), ("near", "y"), ("near", "z")}
    roughly.sketch(documents, output=tmp_path / "s", sketch="all", shingle_size=1)
    for found in (
        roughly.recluster(tmp_path / "s", threshold=0.6, pairs="all"),
        roughly.cluster_features(list(texts), [text.split() for text in texts.values()], threshold=0.6, pairs="all"),
    ):
        rows = found.pairs.to_pylist()
        assert {tuple(sorted((r["left_id"], r["right_id"]))) for r in rows} == expected
        assert found.counts["pairs"] == 6 and found.counts["equivalent"] == 2
        assert {r["resemblance"] for r in rows} == {1.0, 4 / 6}


def test_dedupe_counts_shingle_equivalent_documents(tmp_path: Path) -> None:
    texts = ["a b c a b c a b c", "a b c a b c a b c a b c", "a b c a b c a b c", "x y z x y w"]
    (tmp_path / "d.jsonl").write_text(
        "".join(json.dumps({"id": str(n), "text": t}) + "\n" for n, t in enumerate(texts))
    )
    told = CliRunner().invoke(app, ["dedupe", str(tmp_path / "d.jsonl"), "-o", str(tmp_path / "out")])
    assert "1 shingle-equivalent: the same shingles, other words or order" in told.stdout
    counts = json.loads((tmp_path / "out" / "run.json").read_text())["counts"]
    assert (counts["identical"], counts["lexical"], counts["shingle_equivalent"], counts["removed"]) == (1, 0, 1, 2)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"shingle_size": 1, "recall": 0.999}, 1),
        ({"shingle_size": 1, "method": "shingles", "sketch": "all"}, 1),
        ({"method": "word-lsh"}, 0),  # equal sets of words are no equal shingles
        ({"method": "syntactic"}, 0),
    ],
    ids=["minhash", "shingles", "word-lsh", "syntactic"],
)
def test_equivalent_documents_count_where_both_are_removed_too(options: dict[str, Any], expected: int) -> None:
    """Broder 1997, §5.2: one fingerprint per set of shingles, whether or not the kept document has that set."""
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    first, turned = " ".join(words[:8]), " ".join(words[7::-1])
    texts = [" ".join(words), first, turned, turned, turned.upper(), "something else"]
    found = roughly.dedupe(texts, threshold=0.7, **options)
    counts = found.summary["counts"]
    assert (counts["identical"], counts["lexical"], counts["shingle_equivalent"]) == (1, 1, expected)
    if expected:
        assert counts["removed"] == 4


def test_values_beyond_memory_are_in_a_file_and_clusters_are_the_same(tmp_path: Path) -> None:
    """Sketches, their texts and features that `memory` does not hold; 160 MB is the process itself."""
    lists = [[f"{number // 3}x{place}" for place in range(number % 3, 100)] for number in range(600)]
    texts = [{"id": str(number), "text": " ".join(own)} for number, own in enumerate(lists)]
    table = pa.table({"id": [str(number) for number in range(600)], "features": lists})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    roughly.sketch(texts, output=tmp_path / "few", shingle_size=1, sketch="mod:2")
    roughly.sketch(texts, output=tmp_path / "min", shingle_size=2, sketch="min:50")
    runs: list[Callable[[str], Clustering]] = [
        lambda memory: roughly.cluster_features(range(600), lists, memory=memory, temp=tmp_path),
        lambda memory: roughly.cluster_features(tmp_path / "a.parquet", memory=memory, cluster="components"),
        lambda memory: roughly.cluster_features(tmp_path / "a.jsonl", memory=memory, sketch="adaptive"),
        lambda memory: roughly.recluster(tmp_path / "few", memory=memory, pairs="all"),
        lambda memory: roughly.recluster(tmp_path / "min", memory=memory, measure="containment", threshold=0.9),
        lambda memory: roughly.recluster(tmp_path / "few", texts=texts, memory=memory, shingle_size=3),
    ]
    for run in runs:
        with_room, without = run("1GB"), run("161MB")
        assert with_room.counts == without.counts and with_room.counts["kept"] in (200, 600)
        for name in ("documents", "pairs"):
            assert getattr(with_room, name).to_arrow().equals(getattr(without, name).to_arrow())


def test_what_does_not_fit_into_memory_is_refused_with_the_figure(tmp_path: Path) -> None:
    with pytest.raises(MemoryTooSmall, match="2,000 documents are clustered in memory, which takes up to 162MB"):
        roughly.cluster_features(range(2000), [[number] for number in range(2000)], memory="161MB")
    lines = (json.dumps({"id": str(number), "text": f"{number} words"}) + "\n" for number in range(1000))
    (tmp_path / "t.jsonl").write_text("".join(lines))
    assert run_roughly("sign", tmp_path / "t.jsonl", "-o", tmp_path / "s.parquet").returncode == 0
    with pytest.raises(MemoryTooSmall, match=r"values are clustered in memory, .* raise it, or use `roughly dedupe`"):
        roughly.recluster(tmp_path / "s.parquet", memory="160MB")
    refused = run_roughly("cluster", tmp_path / "s.parquet", "--memory", "100MB")
    assert refused.returncode == 1 and "--memory is 100MB" in refused.stderr
