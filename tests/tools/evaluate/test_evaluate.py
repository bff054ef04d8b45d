"""`roughly evaluate`: every form of labels, on a run whose figures are worked out by hand; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import roughly
from commands import run_roughly
from roughly.errors import InputError, InputMissing, SettingsError

WORDS = [f"w{i}" for i in range(200)]
TEXTS = {
    "a1": " ".join(WORDS[:60]), "a2": " ".join(WORDS[:60]), "a3": " ".join([*WORDS[:58], "x", "y"]),
    "b1": " ".join(WORDS[60:120]), "b2": " ".join([*WORDS[60:119], "z"]),
    "c1": " ".join(WORDS[120:170]), "d1": " ".join(WORDS[170:200]), "e1": " ".join(WORDS[100:160]),
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clusters {a1, a2, a3}, {b1, b2} and three documents on their own."""
    out = tmp_path_factory.mktemp("run") / "out"
    roughly.dedupe(pa.table({"id": list(TEXTS), "text": list(TEXTS.values())}), output=out, threshold=0.8)
    return out


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_clusters(run: Path, tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", "id,cluster\na1,A\na2,A\na3,A\nb1,B\nc1,B\n")
    found = roughly.evaluate(run, labels)
    figures = found.figures
    assert (figures.pairs.found, figures.pairs.true, figures.pairs.both) == (4, 4, 3)
    assert (figures.of_documents.found, figures.of_documents.true, figures.of_documents.both) == (5, 5, 3)
    assert figures.clusters is not None and (figures.clusters.sets, figures.clusters.whole) == (2, 1)
    assert figures.clusters.clusters_per_set == 1.5 and figures.clusters.purity == 4 / 5
    assert figures.removal is not None and (figures.removal.right, figures.removal.wrong) == (2, 1)
    assert figures.documents == 8 and figures.ignored == 0 and found.labelled == 5 and found.unknown == []
    some = roughly.evaluate(run, labels, unlisted="ignore").figures
    assert some.documents == 5 and (some.pairs.found, some.pairs.true, some.pairs.both) == (3, 4, 3)
    pq.write_table(pa.table({"doc_id": ["a1", "a2"], "cluster_id": ["A", "A"]}), tmp_path / "l.parquet")
    assert roughly.evaluate(run, tmp_path / "l.parquet").figures.pairs.both == 1


def test_pairs(run: Path, tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", "id_a,id_b,resemblance\na1,a2,1.0\na3,a1,0.93\nc1,e1,0.55\nb1,b1,1\n")
    found = roughly.evaluate(run, labels)
    assert found.unlisted == "different"
    assert (found.figures.pairs.found, found.figures.pairs.true, found.figures.pairs.both) == (4, 3, 2)
    assert [(b.true, b.found) for b in found.figures.bins] == [(1, 0), (0, 0), (0, 0), (0, 0), (2, 2)]
    judged = write(tmp_path / "j.csv", "left_id,right_id,same\na1,a2,yes\nb1,b2,No\nc1,e1,same\nd1,e1,different\n")
    verdicts = roughly.evaluate(run, judged)
    assert verdicts.unlisted == "ignore"
    assert (verdicts.figures.pairs.found, verdicts.figures.pairs.true, verdicts.figures.pairs.both) == (2, 2, 1)
    assert verdicts.figures.clusters is None and verdicts.figures.removal is None


def test_found_as_pairs(run: Path, tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", "id,cluster\na1,A\na2,A\na3,A\n")
    listed = roughly.evaluate(run, labels, by="pairs").figures
    clustered = roughly.evaluate(run, labels).figures
    assert listed.pairs.found < clustered.pairs.found == 4  # a2 and a3 are not compared with each other
    truth = tmp_path / "truth.parquet"
    roughly.truth(pa.table({"id": list(TEXTS), "text": list(TEXTS.values())}), threshold=0.8, output=truth)
    perfect = roughly.evaluate(truth, truth, by="pairs").figures
    assert perfect.pairs.f1 == 1.0 and perfect.pairs.true == 4
    by_sets = roughly.evaluate(truth, labels, by="pairs", unlisted="ignore", ignore_unknown=True).figures
    assert by_sets.pairs.precision == 1.0 and by_sets.pairs.recall == 1.0
    with pytest.raises(InputError, match="lists pairs and no clusters; measure them with by='pairs'"):
        roughly.evaluate(truth, labels)


def test_truth_as_labels_gives_a_perfect_run(run: Path, tmp_path: Path) -> None:
    labels = tmp_path / "truth.parquet"
    roughly.truth(pa.table({"id": list(TEXTS), "text": list(TEXTS.values())}), threshold=0.8, output=labels)
    figures = roughly.evaluate(run, labels).figures
    assert figures.pairs.f1 == figures.of_documents.f1 == 1.0
    assert figures.clusters is not None and figures.clusters.adjusted_rand == 1.0
    assert figures.removal is not None and figures.removal.utility == 3.0
    assert all(i is None or (i.low, i.high) == (1.0, 1.0) for i in figures.intervals.values())


def test_labels_that_name_strangers(run: Path, tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", "id,cluster\na1,A\na2,A\n" + "".join(f"zz{i},A\n" for i in range(7)))
    with pytest.raises(InputError, match=r"names 7 documents that .*: 'zz0', .* and 2 more; check the ids"):
        roughly.evaluate(run, labels)
    found = roughly.evaluate(run, labels, ignore_unknown=True)
    assert found.unknown == [f"zz{i}" for i in range(7)] and found.figures.pairs.true == 1
    strangers = write(tmp_path / "s.csv", "id,cluster\nx,A\n")
    with pytest.raises(InputError, match="names no document of"):
        roughly.evaluate(run, strangers, ignore_unknown=True)


def test_what_is_refused(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match="does not exist"):
        roughly.evaluate(run, tmp_path / "none.csv")
    with pytest.raises(InputMissing, match="is not a run"):
        roughly.evaluate(tmp_path, write(tmp_path / "l.csv", "id,cluster\na1,A\n"))
    with pytest.raises(InputError, match="which are no labels"):
        roughly.evaluate(run, write(tmp_path / "n.csv", "name,colour\na1,red\n"))
    with pytest.raises(InputError, match="1 document is in more than one row, 'a1' for one"):
        roughly.evaluate(run, write(tmp_path / "t.csv", "id,cluster\na1,A\na1,B\n"))
    with pytest.raises(InputError, match="1 row is 'perhaps', neither of same"):
        roughly.evaluate(run, write(tmp_path / "p.csv", "left_id,right_id,same\na1,a2,perhaps\n"))
    with pytest.raises(InputError, match="has no column 'judge'"):
        roughly.evaluate(run, write(tmp_path / "q.csv", "left_id,right_id\na1,a2\n"), same_column="judge")
    with pytest.raises(SettingsError, match="by must be one of clusters, pairs"):
        roughly.evaluate(run, tmp_path / "l.csv", by="votes")
    named = write(tmp_path / "o.csv", "page,topic\na1,A\na2,A\n")
    assert roughly.evaluate(run, named, label_columns=["page", "topic"]).figures.pairs.true == 1


def test_the_command(run: Path, tmp_path: Path) -> None:
    labels = write(tmp_path / "l.csv", "id,cluster\na1,A\na2,A\nq,A\n")
    command = ["evaluate", run, "--labels", labels]
    refused = run_roughly(*command)
    assert refused.returncode == 1 and "names 1 document " in refused.stderr and "'q'" in refused.stderr
    done = run_roughly(*command, "--ignore-unknown", "--json")
    assert done.returncode == 3 and json.loads(done.stdout)["unknown"] == ["q"]
    told = run_roughly(*command, "--ignore-unknown")
    assert "adjusted Rand" in told.stdout and "utility" in told.stdout


@pytest.mark.corpora
@pytest.mark.slow
def test_cross_posts_are_found(corpora: Path, tmp_path: Path) -> None:
    """newsgroups20: messages with one Message-ID are copies, and `dedupe` brings nearly all of them together."""
    out = tmp_path / "out"
    roughly.dedupe(paths=[corpora / "newsgroups20.parquet"], output=out, threshold=0.8)
    found = roughly.evaluate(out, corpora / "newsgroups20_clusters.csv")
    assert found.labelled == 1056 and (found.figures.of_documents.recall or 0) > 0.95
    interval = found.figures.intervals["pairs.precision"]
    assert interval is not None and interval.low < (found.figures.pairs.precision or 0) < interval.high
