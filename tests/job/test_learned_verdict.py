"""A learned verdict: comparisons equal their definitions, runs keep its promise, and tune finds one worth having."""

from __future__ import annotations

import itertools
import json
import math
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import roughly
from invoices import invoices
from roughly import lexicon
from roughly.cli.app import app
from roughly.cluster.comparisons import RARE, WordsInMemory, compare_pairs, threads_within
from roughly.cluster.verdict_reasons import explain_verdict
from roughly.errors import SettingsError
from roughly.job.settings_file import read_settings
from roughly.settings import Settings
from roughly.signing.sign_files import sign
from roughly.text.canonical import tokenise, words
from roughly.tools.truth.api import truth
from roughly.verdict import COMPARISONS, FIELDS, Verdict

LEAST = 5
"""Documents that have the rarest words of the default lexicon."""
SMALL = "probability=0.5 prior=-6 words=5/0 numbers=4/0 rare_words_held=0/2"


@cache
def frequency(word: str) -> int:
    return lexicon.default().frequency(word)


def by_definition(left: str, right: str) -> list[float]:
    english = lexicon.default()

    def sets(text: str, size: int) -> set[tuple[str, ...]]:
        tokens = words(text)
        if len(tokens) < size:
            return {tuple(tokens)} if tokens else set()
        return {tuple(tokens[at : at + size]) for at in range(len(tokens) - size + 1)}

    def rare(text: str) -> set[str]:
        return {w for w in words(text) if frequency(w) < english.documents / RARE}

    def numbers(text: str) -> set[str]:
        return {w for w in words(text) if w.isascii() and w.isdigit() and len(w) <= 5}

    def resemblance(a: set, b: set) -> float:  # type: ignore[type-arg]
        return len(a & b) / len(a | b) if a | b else 1.0

    def held(a: set, b: set) -> float:  # type: ignore[type-arg]
        few = min(len(a), len(b))
        return 1.0 if not a | b else len(a & b) / few if few else 0.0

    weights = {
        w: round(1000 * math.log(english.documents / max(frequency(w), LEAST))) for w in words(f"{left} {right}")
    }

    def weighted(a: set, b: set) -> tuple[float, float]:  # type: ignore[type-arg]
        of_a, of_b, both = (sum(weights[w] for (w,) in some) for some in (a, b, a & b))
        few = min(of_a, of_b)
        return (both / (of_a + of_b - both), both / few if few else 0.0) if a | b else (1.0, 1.0)

    def run(here: list[str], there: set[tuple[str, ...]]) -> int:
        """The longest run of words whose shingles of five are all in the other document."""
        size = min(5, len(here))
        inside = [tuple(here[at : at + size]) in there for at in range(len(here) - size + 1)] if here else []
        longest = max((len(list(own)) for is_in, own in itertools.groupby(inside) if is_in), default=0)
        return longest + size - 1 if longest else 0

    one, two, five = ((sets(left, size), sets(right, size)) for size in (1, 2, 5))
    fewer, more = sorted((len(one[0]), len(one[1])))
    shorter = min(len(words(left)), len(words(right)))
    runs = run(words(left), five[1]), run(words(right), five[0])
    longest_run = min(runs) / shorter if shorter else float(not words(left) and not words(right))

    def first_places(text: str) -> dict[tuple[str, ...], int]:
        tokens = words(text)
        listed = [tuple(tokens[at : at + 5]) for at in range(max(len(tokens) - 4, min(len(tokens), 1)))]
        return {one: listed.index(one) for one in listed}

    lengths: dict[int, int] = {}  # of the longest rising subsequence that ends at each place
    for at in map(first_places(right).get, first_places(left)):
        if at is not None:
            lengths[at] = 1 + max((length for before, length in lengths.items() if before < at), default=0)
    ordered = max(lengths.values(), default=0)
    in_order = ordered / min(map(len, five)) if ordered else float(not any(five))
    found = {
        "words": resemblance(*one), "word_pairs": resemblance(*two), "shingles": resemblance(*five),
        "words_held": held(*one), "shingles_held": held(*five),
        "rare_words": resemblance(rare(left), rare(right)), "rare_words_held": held(rare(left), rare(right)),
        "numbers": resemblance(numbers(left), numbers(right)), "length": fewer / max(more, 1),
        "weighted_words": weighted(*one)[0], "weighted_words_held": weighted(*one)[1], "longest_run": longest_run,
        "in_order": in_order,
    }  # fmt: skip
    return [found.get(name, 0.0) for name in COMPARISONS]  # of fields nothing is known


def compared(texts: list[str], pairs: list[tuple[int, int]], threads: int = 1) -> np.ndarray:
    words = WordsInMemory(tokenise(pa.array(texts, pa.large_string())))
    done: list[int] = []
    found = compare_pairs(np.array(pairs, np.int64).reshape(-1, 2), words, threads, done.append)
    assert done == sorted(done) and done[-1:] == ([len(pairs)] if pairs else [])
    return found


def test_threads_take_no_more_memory_than_there_is() -> None:
    assert [threads_within(memory << 20, 16) for memory in (0, 90, 300, 100_000)] == [1, 1, 3, 16]


@pytest.mark.parametrize("threads", [1, 3, 40])
@pytest.mark.parametrize("often", [0, 8], ids=["without lone values", "with all values"])
def test_comparisons_are_what_they_say(often: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roughly.cluster.comparisons._OFTEN", often)
    monkeypatch.setattr("roughly.cluster.comparisons._PAIRS", 16)
    monkeypatch.setattr("roughly.cluster.comparisons._WORDS", 300)
    texts = [
        "The house of the 12 bishops, 1999: a Gothic house with 003 towers",
        "the house of the 13 bishops in 1999 a gothic house with 3 towers and zymurgy",
        "zymurgy 123456 transubstantiation", "", "one two", "7", "a b a b a b a b a b a", "b a b a b a c", "",
        "one two!",
    ]  # fmt: skip
    texts += [str(row["text"]) for row in invoices(4)]
    pairs = [(a, b) for a in range(len(texts)) for b in range(a)]
    found = compared(texts, pairs, threads)
    assert (found == compared(texts, pairs)).all() and compared(texts, [], threads).shape == (0, len(COMPARISONS))
    want = np.array([by_definition(texts[a], texts[b]) for a, b in pairs])
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-12)


def test_more_alike_is_never_less_likely_the_same() -> None:
    verdict = Verdict.parse(SMALL)
    stream = np.random.default_rng(1)
    low = stream.random((500, len(COMPARISONS)))
    high = low + (1 - low) * stream.random(low.shape)
    assert (verdict.probabilities(high) >= verdict.probabilities(low)).all()
    parts = verdict.parts(low).sum(axis=1) + verdict.prior
    np.testing.assert_allclose(verdict.probabilities(low), 1 / (1 + np.exp(-parts)))
    assert Verdict.parse(str(verdict)) == verdict


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("probability=0.5", "prior is missing"), ("prior=1 probability=2", "between 0 and 1"),
        ("prior=1 probability=0.5 words=-1/0", "0 or more"), ("prior=-1e308 probability=0.5", "prior must be between"),
        ("prior=1 probability=0.5 words=1/1e308", "at most 1000000"),
        ("prior=1 probability=0.5 colour=1/0", "unknown comparison 'colour', perhaps of another version[^\n]*$"),
        ("prior=x probability=0.5", "no number"), ("prior=nan probability=0.5", "no number"),
        ("prior=1 probability=0.5 words=1", "no number"), ("prior=1 prior=1 probability=0.5", "given once"),
    ],
)  # fmt: skip
def test_mistakes_in_a_verdict_are_refused(text: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        Settings(verdict=text)


def test_what_a_verdict_cannot_go_with_is_refused(tmp_path: Path) -> None:
    for more in ({"method": "imatch"}, {"shingle_unit": "character"}, {"measure": "containment"}, {"verdict": 3}):
        with pytest.raises(SettingsError, match="verdict"):
            Settings(**({"verdict": SMALL} | more))  # type: ignore[arg-type]
    assert "verdict" not in Settings().to_dict()
    settings = Settings(verdict=SMALL)
    assert Settings.from_dict(settings.to_dict()) == settings
    assert settings.fingerprint() != Settings().fingerprint()
    with pytest.raises(SettingsError, match="has to store texts"):
        roughly.Index.create(tmp_path / "a.db", settings, store="shingles")
    with pytest.raises(SettingsError, match="signatures hold no words"):
        sign([{"id": "a", "text": "b"}], output=tmp_path / "a.parquet", method="minhash", verdict=SMALL)


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_a_run_keeps_the_promise(cluster: str, tmp_path: Path) -> None:
    """Every pair that reaches the threshold and is accepted is found (the recall is near 1), and no other; every
    removed document has an accepted kept witness."""
    rows = invoices(40)
    texts = [str(row["text"]) for row in rows]
    ids = [str(row["id"]) for row in rows]
    verdict = Verdict.parse(SMALL)
    settings = {"threshold": 0.3, "shingle_size": 2, "recall": 0.99999, "verdict": SMALL, "cluster": cluster}
    result = roughly.dedupe(rows, pairs="all", threads=2, **settings)
    found = {frozenset((r["left_id"], r["right_id"])) for r in result.pairs.to_pylist()}
    pairs = [(a, b) for a in range(len(ids)) for b in range(a)]
    accepted = verdict.accepts(compared(texts, pairs))
    want = {
        frozenset((ids[a], ids[b]))
        for (a, b), is_same in zip(pairs, accepted, strict=True)
        if is_same and roughly.resemblance(texts[a], texts[b], shingle_size=2) >= 0.3
    }
    assert found == want and 10 < len(want) < len(pairs)
    documents = {row["doc_id"]: row for row in result.documents.to_pylist()}
    kept = {name for name, row in documents.items() if row["kept"]}
    assert all(frozenset((name, row["kept_id"])) in want for name, row in documents.items() if not row["kept"])
    assert all(row["kept_id"] in kept for row in documents.values())
    assert not any(pair <= kept for pair in want)
    fewer = roughly.dedupe(rows, threads=1, **settings)
    assert fewer.documents.equals(result.documents)
    if cluster == "components":
        for pair in want:
            left, right = pair
            assert documents[left]["cluster_id"] == documents[right]["cluster_id"]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_no_accepted_pair_resembles_less_than_the_weights_imply(size: int) -> None:
    """All pairs of texts over few words, and verdicts whose weights are mostly on what the resemblance bounds."""
    chance = random.Random(7)
    texts = ["", "a"] + [" ".join(chance.choices("abcdefgh"[: chance.randrange(2, 9)], k=n)) for n in range(2, 60)]
    pairs = [(a, b) for a in range(len(texts)) for b in range(a)]
    comparisons = compared(texts, pairs)
    own = {1: "words words_held length", 2: "word_pairs", 5: "shingles"}[size].split()
    resemblance, bounds = comparisons[:, list(COMPARISONS).index(own[0])], []
    for _ in range(60):
        weights = {name: chance.random() / 4 for name in COMPARISONS if name not in FIELDS} | {
            name: 5 * chance.random() for name in own
        }
        listed = " ".join(f"{name}={most / 2:.4g}/{most / 2:.4g}" for name, most in weights.items())
        verdict = Verdict.parse(f"probability=0.3 prior={-0.8 * sum(weights.values()):.4g} {listed}")
        accepted = verdict.accepts(comparisons)
        bounds.append(verdict.implied(size))
        assert (resemblance[accepted] >= bounds[-1]).all()
        assert resemblance[accepted].min() < bounds[-1] + 0.4, "and not much more than that follows"
    assert max(bounds) > 0.3 and Verdict.parse(SMALL).implied(5) == 0
    assert Verdict.parse("probability=0.5 prior=-5 words=10/0").implied(1) == 0.499
    assert Verdict.parse("probability=0.5 prior=-5 words=1/0").implied(1) == 1, "accepts nothing"


@pytest.mark.slow
@pytest.mark.corpora
def test_pairs_of_5000_documents_are_those_of_the_exact_join(corpora: Path) -> None:
    """Of all pairs that the verdict accepts among 5,000 documents, the run has the share that its recall promises, and
    no others; with a recall near 1 it has all."""
    some = pq.read_table(corpora / "newsgroups20.parquet", columns=["id", "text"]).slice(0, 5500)
    some = (
        roughly.dedupe(some, method="lexical").filter(some).slice(0, 5000)
    )  # pairs of equal documents are not written
    texts, place = some["text"].to_pylist(), {name: at for at, name in enumerate(some["id"].to_pylist())}
    near = truth(some, threshold=0.15, shingle_size=2).table
    pairs = [(place[a], place[b]) for a, b in zip(*(near[n].to_pylist() for n in near.column_names[:2]), strict=True)]
    verdict = "probability=0.5 prior=-6 words=5/0 shingles_held=0/3 rare_words_held=0/3"
    accepted = Verdict.parse(verdict).accepts(compared(texts, pairs))
    want = {frozenset(pair) for pair, is_same in zip(pairs, accepted, strict=True) if is_same}
    assert 100 < len(want) < len(pairs)
    for recall, least in ((0.95, 0.95), (0.999999, 1.0)):
        result = roughly.dedupe(
            some, pairs="all", threads=2, threshold=0.15, shingle_size=2, recall=recall, verdict=verdict
        )
        found = {frozenset((place[r["left_id"]], place[r["right_id"]])) for r in result.pairs.to_pylist()}
        assert found <= want and len(found) >= least * len(want)


@pytest.mark.slow
def test_tune_learns_what_resemblance_cannot_tell(tmp_path: Path) -> None:
    source, output = tmp_path / "bills.jsonl", tmp_path / "best.toml"
    source.write_text("".join(json.dumps(row) + "\n" for row in invoices(60)), encoding="utf-8")
    run = CliRunner().invoke
    arguments = ["tune", str(source), "--label-column", "bill", "--methods", "minhash", "-o", str(output)]
    done = run(app, [*arguments, "--learn", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["learned"]["unseen"]["f1"] > 0.97 > found["unseen"]["f1"] + 0.05
    assert found["settings"] == read_settings(output) == found["learned"]["settings"]
    assert "numbers" in found["learned"]["weights"]
    done = run(app, ["dedupe", str(source), "-o", str(tmp_path / "out"), "--settings", str(output)])
    assert done.exit_code == 0, done.output
    labels = tmp_path / "labels.csv"
    labels.write_text("id,cluster\n" + "".join(f"{r['id']},{r['bill']}\n" for r in invoices(60)), encoding="utf-8")
    measured = json.loads(run(app, ["evaluate", str(tmp_path / "out"), "--labels", str(labels), "--json"]).stdout)
    assert measured["pairs"]["f1"] == pytest.approx(found["learned"]["score"]["f1"], abs=0.02)
    text = run(app, [*arguments, "--learn", "--overwrite"]).stdout
    assert "prior" in text and "numbers: resemblance" in text and "learned verdict" in text


def test_results_are_grouped_as_a_run_does(tmp_path: Path) -> None:
    """From texts, from an index, and by the commands with a settings file."""
    rows = [{"doc_id": row["id"], "text": row["text"]} for row in invoices(12)]
    settings = Settings(threshold=0.3, shingle_size=2, recall=0.99999, verdict=SMALL, keep=("first",))
    listed = roughly.dedupe(rows, **{n: v for n, v in settings.to_dict().items() if n != "options"}).documents
    shown = {row["doc_id"]: row["kept_id"] for row in listed.to_pylist()}
    assert 12 <= len(set(shown.values())) < len(rows)

    def shown_of(groups: list[dict[str, Any]]) -> dict[str, str]:
        every = [(group["shown"], one) for group in groups for one in (group["shown"], *group["duplicates"])]
        return {one["doc_id"]: head["doc_id"] for head, one in every}

    assert shown_of(roughly.group_results(rows, settings=settings).to_dict()["groups"]) == shown
    best, source, run = tmp_path / "best.toml", tmp_path / "rows.jsonl", CliRunner().invoke
    best.write_text(
        f'method = "minhash"\nthreshold = 0.3\nshingle_size = 2\nrecall = 0.99999\nverdict = "{SMALL}"\n',
        encoding="utf-8",
    )
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = run(app, ["group", str(source), "--settings", str(best), "--json"])
    assert shown_of(json.loads(done.stdout)["groups"]) == shown
    place = str(tmp_path / "a.db")
    assert run(app, ["index", "create", place, "--settings", str(best)]).exit_code == 0
    assert run(app, ["index", "add", place, str(source)]).exit_code == 0
    assert shown_of(json.loads(run(app, ["group", str(source), "--index", place, "--json"]).stdout)["groups"]) == shown
    with roughly.Index.open(place) as index:
        assert index.fingerprint != roughly.Index.create(tmp_path / "b.db", Settings(threshold=0.3)).fingerprint
        matches = {row["doc_id"]: {m.doc_id for m in index.query(row, limit=None)} for row in rows}
    assert all(head in matches[name] for name, head in shown.items() if head != name)
    with pytest.raises(SettingsError, match="settings of its own"):
        run(app, ["group", str(source), "--index", place, "--settings", str(best)], catch_exceptions=False)


def test_compare_shows_the_reasons(tmp_path: Path) -> None:
    rows = invoices(3)
    for name, at in (("a", 0), ("b", 1), ("c", 2)):
        (tmp_path / f"{name}.txt").write_text(str(rows[at]["text"]), encoding="utf-8")
    best = tmp_path / "best.toml"
    best.write_text(f'method = "minhash"\nthreshold = 0.2\nshingle_size = 2\nverdict = "{SMALL}"\n', encoding="utf-8")
    run, answers = CliRunner().invoke, {}
    for other in ("b", "c"):
        files = [str(tmp_path / "a.txt"), str(tmp_path / f"{other}.txt"), "--settings", str(best)]
        found = json.loads(run(app, ["compare", *files, "--json"]).stdout)["verdict"]
        assert found["log_odds"] == pytest.approx(found["prior"] + sum(one["adds"] for one in found["reasons"]))
        assert found["probability"] == pytest.approx(1 / (1 + np.exp(-found["log_odds"])))
        answers[other] = found["same"]
        text = run(app, ["compare", *files]).stdout
        assert "prior" in text and ("the same" if found["same"] else "different") in text
    assert answers == {"b": True, "c": False}
    best.write_text('method = "minhash"\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="tune --learn"):
        run(app, ["compare", *files], catch_exceptions=False)


@pytest.mark.parametrize("pairs", ["evidence", "all"])
def test_pairs_have_their_reasons(pairs: str, tmp_path: Path) -> None:
    """Those of `compare`, also for documents that are equal to another; equal documents have none."""
    rows = invoices(12)
    rows += [row | {"id": f"again {row['id']}"} for row in rows[:6]]
    texts = {row["id"]: str(row["text"]) for row in rows}
    source, best, out, run = tmp_path / "a.jsonl", tmp_path / "best.toml", tmp_path / "out", CliRunner().invoke
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = Settings(threshold=0.3, shingle_size=2, verdict=SMALL)
    best.write_text(f'method = "minhash"\nthreshold = 0.3\nshingle_size = 2\nverdict = "{SMALL}"\n', encoding="utf-8")
    done = run(app, ["dedupe", str(source), "-o", str(out), "--settings", str(best), "--pairs", pairs])
    assert done.exit_code == 0, done.output
    shown = [
        json.loads(line) for line in run(app, ["show", str(out), "pairs", "--format", "jsonl"]).stdout.splitlines()
    ]
    assert any(row["left_id"].startswith("again") and row["resemblance"] < 1 for row in shown)
    for row in shown:
        names = [name for name in row if name.startswith("adds_")]
        assert names == ["adds_words", "adds_numbers", "adds_rare_words_held"]
        if row["kind"] == "exact":
            assert {row[name] for name in ("probability", *names)} == {None}
            continue
        reasons = explain_verdict(texts[row["left_id"]], texts[row["right_id"]], settings)
        assert row["probability"] == pytest.approx(reasons.probability) and reasons.same
        assert {f"adds_{one.comparison}": np.float32(one.adds) for one in reasons.reasons} == {n: row[n] for n in names}
    plain = roughly.dedupe(rows, threshold=0.3)
    assert "probability" not in plain.pairs.column_names


def test_pairs_with_an_archive_have_no_reasons(tmp_path: Path) -> None:
    rows = invoices(4)
    settings = Settings(threshold=0.3, shingle_size=2, verdict=SMALL)
    with roughly.Index.create(tmp_path / "archive.db", settings) as index:
        index.add([{"doc_id": f"old {row['id']}", "text": row["text"]} for row in rows[:2]])
    result = roughly.dedupe(rows[1:], against=tmp_path / "archive.db", threshold=0.3, shingle_size=2, verdict=SMALL)
    found = {row["left_id"]: row["probability"] for row in result.pairs.to_pylist()}
    assert found.pop("000-1") is None and found and all(value > 0.5 for value in found.values())


def test_too_few_labels_for_a_verdict_are_noted(tmp_path: Path) -> None:
    rows = invoices(8)
    for row in rows[6:]:
        row["bill"] = None
    source = tmp_path / "bills.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = ["tune", str(source), "--label-column", "bill", "--methods", "minhash", "--learn", "--json"]
    found = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert found["learned"] is None
    assert any("3 true sets" in warning for warning in found["warnings"])
