"""Judging: pairs are drawn alike every time, verdicts outlive a kill, and figures are as worked out by hand."""

from __future__ import annotations

import csv
import itertools
import json
import os
import pty
import random
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import roughly
from roughly.cli.app import app
from roughly.errors import InputError, InputMissing, OutputExists, SettingsError
from roughly.settings import Resources
from roughly.text.canonical import tokenise
from roughly.tools.judge.api import JudgedRun, draw_pairs, open_verdicts, pair_texts
from roughly.tools.judge.implied_threshold import fit_logistic, implied_threshold
from roughly.tools.judge.judge_report import make_report, write_csv
from roughly.tools.judge.judge_session import JudgeSession
from roughly.tools.judge.near_misses import near_misses
from roughly.tools.judge.request import DrawRequest
from roughly.tools.judge.statistics import agreements, consensus, kappa_of, precision_of, wilson
from roughly.tools.judge.strata import Candidate, Drawing, Stratum
from roughly.tools.judge.verdict_file import Drawn, DrawnPair, VerdictFile

ONE = Resources(threads=1)
HOSTILE = "\x1b[2J\x1b]0;owned\x07 \u202eevil\u202c"


def write_documents(path: Path, families: int = 40, seed: int = 1) -> list[dict[str, str]]:
    """Families of three with ever more words changed, so that resemblances lie around 0.8."""
    chance = random.Random(seed)
    rows = []
    for number in range(families):
        base = [f"w{chance.randrange(5000)}" for _ in range(120)]
        for copy in range(3):
            own = list(base)
            for _ in range(copy * chance.choice([0, 1, 2, 3])):
                own[chance.randrange(120)] = f"x{chance.randrange(5000)}"
            rows.append({"id": f"d{number:02}-{copy}", "text": f"{' '.join(own)} {HOSTILE if copy == 1 else ''}"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return rows


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judge")
    write_documents(folder / "documents.jsonl")
    roughly.dedupe(folder / "documents.jsonl", output=folder / "out", threads=1)
    return folder / "out"


@pytest.fixture
def verdicts(finished: Path, tmp_path: Path) -> VerdictFile:
    return draw_pairs(JudgedRun.open(finished), tmp_path / "v.jsonl", DrawRequest(pairs=30), resources=ONE)


def made(
    path: Path,
    scores: list[float],
    strata: list[int] | None = None,
    sizes: tuple[float, ...] = (1.0,),
    found: bool = True,
) -> VerdictFile:
    """Verdicts on pairs of these scores, in strata of these sizes."""
    listed = [
        DrawnPair(f"l{n}", f"r{n}", s, 0 if strata is None else strata[n], (0, 0), (0, 1), "", "")
        for n, s in enumerate(scores)
    ]
    many = [Stratum(f"s{n}", 0.0, 1.0, found, size, 1) for n, size in enumerate(sizes)]
    drawn = Drawn(
        run="r", measure="resemblance", threshold=0.8, shingle_size=5, main_text=False, seed=0, inputs=["x"],
        reading={}, strata=many, pairs=listed,
    )  # fmt: skip
    return VerdictFile.create(path, drawn)


def test_strata_divide_the_draw_equally_and_in_any_order() -> None:
    chance = random.Random(3)
    pairs = [Candidate(f"a{n}", f"b{n}", round(chance.uniform(0.6, 1.0), 3), False) for n in range(3000)]
    pairs = [replace(p, found=(p.score or 0) >= 0.8) for p in pairs] + [Candidate("e", "f", 1.0, True)]

    def drawn(listed: list[Candidate], seed: int = 0) -> tuple[list[Stratum], list[tuple[int, Candidate]]]:
        drawing = Drawing(0.8, 60, seed)
        for pair in listed:
            drawing.add(pair)
        return drawing.finish(near_weight=4.0)

    strata, shown = drawn(pairs)
    assert drawn(pairs[::-1]) == (strata, shown)
    assert drawn(pairs, 1)[1] != shown
    assert len(shown) == len(set(shown)) == 60 == sum(s.drawn for s in strata)
    assert [(s.low, s.found) for s in strata if s.low < 0.8] == [
        (0.6, False),
        (0.65, False),
        (0.7, False),
        (0.75, False),
    ]
    below = [s.drawn for s in strata if not s.found]
    above = [s.drawn for s in strata if s.found and s.name != "exactly 1"]
    assert max(below) - min(below) <= 1 and min(below) >= 3
    assert max(above) - min(above) <= 1 and min(above) > max(below)  # all of one size
    assert next(s for s in strata if s.name == "exactly 1").pairs == sum(p.score == 1.0 for p in pairs)
    for number, pair in shown:
        own = strata[number]
        assert own.found == pair.found
        assert pair.score is not None and (own.low - 1e-9 <= pair.score < own.high + 1e-9)
    for number, own in enumerate(strata):
        inside = sum(own.found == p.found and own.low <= (p.score or 0) < own.high for p in pairs)
        if own.name != "exactly 1":
            assert own.pairs == inside * (1.0 if own.found else 4.0), number
    everything = Drawing(0.8, 10**5, 0)
    for pair in pairs:
        everything.add(pair)
    assert len(everything.finish()[1]) == len(pairs)


def test_near_misses_are_the_pairs_below_the_threshold(tmp_path: Path) -> None:
    rows = write_documents(tmp_path / "d.jsonl", 30)
    ids, texts = [row["id"] for row in rows], [row["text"] for row in rows]
    got = near_misses(
        ids, tokenise(pa.array(texts, pa.large_string())), measure="resemblance", threshold=0.9, shingle_size=5,
        resources=ONE,
    )  # fmt: skip
    brute = {}
    for a, b in itertools.combinations(range(len(ids)), 2):
        resemblance = roughly.resemblance(texts[a], texts[b])
        if 0.7 <= resemblance < 0.9:
            brute[frozenset((ids[a], ids[b]))] = resemblance
    found = {frozenset((one.left_id, one.right_id)): one.score for one in got}
    assert len(brute) > 5 and found.keys() <= brute.keys() and len(found) >= 0.9 * len(brute)
    assert all(found[pair] == pytest.approx(brute[pair]) for pair in found)


def test_the_pairs_drawn_are_of_the_run_and_near_it(verdicts: VerdictFile, finished: Path, tmp_path: Path) -> None:
    documents = roughly.Result(finished).documents.to_pylist()
    went = {(row["doc_id"], row["kept_id"]): row["resemblance"] for row in documents if not row["kept"]}
    kept = {row["doc_id"] for row in documents if row["kept"]}
    below = 0
    for pair in verdicts.drawn.pairs:
        if verdicts.drawn.strata[pair.stratum].found:
            assert went[pair.left_id, pair.right_id] == pytest.approx(pair.score)
        else:
            below += 1
            assert {pair.left_id, pair.right_id} <= kept
            assert 0.6 <= pair.score < 0.8
    assert 0 < below < len(verdicts.drawn.pairs)
    assert sum(s.pairs for s in verdicts.drawn.strata if s.found) == len(went)
    again = draw_pairs(
        JudgedRun.open(finished), tmp_path / "again.jsonl", DrawRequest(pairs=30), resources=Resources(threads=3)
    )
    assert again.drawn == verdicts.drawn
    only = draw_pairs(
        JudgedRun.open(finished), tmp_path / "only.jsonl", DrawRequest(pairs=30, found_only=True), resources=ONE
    )
    assert all(stratum.found for stratum in only.drawn.strata)
    texts = pair_texts(verdicts, [0, 3])
    assert set(texts) == {0, 3} and all(text.startswith("w") for pair in texts.values() for text in pair)


def test_pairs_of_documents_without_words_are_not_drawn(tmp_path: Path) -> None:
    documents = write_documents(tmp_path / "documents.jsonl")
    with (tmp_path / "documents.jsonl").open("a") as stream:
        stream.writelines(json.dumps({"id": f"empty-{n}", "text": "…"}) + "\n" for n in range(60))
    roughly.dedupe(tmp_path / "documents.jsonl", output=tmp_path / "out", threads=1)
    request = DrawRequest(pairs=60)
    drawn = draw_pairs(JudgedRun.open(tmp_path / "out"), tmp_path / "v.jsonl", request, resources=ONE).drawn
    assert drawn.pairs and documents
    assert not [pair for pair in drawn.pairs if pair.left_id.startswith("empty")]


def test_runs_judged_by_keys_have_pairs_without_scores(tmp_path: Path) -> None:
    rows = write_documents(tmp_path / "d.jsonl", 20)
    roughly.dedupe(tmp_path / "d.jsonl", output=tmp_path / "out", method="mega-shingles", mega_samples=4, threads=1)
    found = draw_pairs(JudgedRun.open(tmp_path / "out"), tmp_path / "v.jsonl", DrawRequest(pairs=20), resources=ONE)
    assert "unmeasured" in {stratum.name for stratum in found.drawn.strata}
    text = {row["id"]: row["text"] for row in rows}
    for pair in found.drawn.pairs:
        assert pair.score == pytest.approx(roughly.resemblance(text[pair.left_id], text[pair.right_id]))


def test_verdicts_are_read_back_and_a_torn_line_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    one = made(path, [0.5, 0.6, 0.7])
    one.record("ann", 0, "same")
    one.record("bob", 1, "different")
    one.record("ann", 0, None)
    one.record("ann", 2, "skip")
    again = VerdictFile.open(path)
    assert (again.drawn, again.said) == (one.drawn, {"ann": {2: "skip"}, "bob": {1: "different"}})
    whole = path.read_bytes()
    for cut in range(1, 30):
        path.write_bytes(whole[:-cut])
        torn = VerdictFile.open(path)
        assert torn.said == {"ann": {}, "bob": {1: "different"}}
        torn.record("ann", 1, "same")
        assert VerdictFile.open(path).said == {"ann": {1: "same"}, "bob": {1: "different"}}
    with pytest.raises(OutputExists):
        made(path, [0.5])
    path.write_bytes(whole + b'{"judge":"x","pair":9,"verdict":"same"}\n')
    with pytest.raises(InputError, match="line 6"):
        VerdictFile.open(path)
    path.write_bytes(whole + b"nonsense\n")
    with pytest.raises(InputError, match="line 6"):
        VerdictFile.open(path)
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a file of verdicts"):
        VerdictFile.open(path)
    with pytest.raises(InputMissing):
        VerdictFile.open(tmp_path / "none.jsonl")
    for judge, verdict in (("", "same"), ("a\nb", "same"), ("ann", "perhaps")):
        with pytest.raises(SettingsError):
            one.record(judge, 0, verdict)


def test_two_judges_may_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    made(path, [0.5] * 40)
    code = (
        "import sys\nfrom pathlib import Path\nfrom roughly.tools.judge.verdict_file import VerdictFile\n"
        "v = VerdictFile.open(Path(sys.argv[1]))\n[v.record(sys.argv[2], n, 'same') for n in range(40)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), judge]) for judge in ("ann", "bob")]
    assert [one.wait() for one in running] == [0, 0]
    assert VerdictFile.open(path).said == {judge: dict.fromkeys(range(40), "same") for judge in ("ann", "bob")} | {}


def test_a_judge_goes_on_after_a_kill(verdicts: VerdictFile, finished: Path) -> None:
    """Killed while it waits for the fourth key: three verdicts are there, and the next is asked for."""
    command = [sys.executable, "-m", "roughly", "judge", str(finished), "--verdicts", str(verdicts.path)]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    assert running.stdin is not None and running.stdout is not None
    for number in range(1, 5):
        for line in running.stdout:
            if line.startswith("the same?"):
                break
        if number < 4:
            running.stdin.write("s\n")
            running.stdin.flush()
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    running.stdin.close()
    running.stdout.close()
    assert list(VerdictFile.open(verdicts.path).said["judge"].values()) == ["same"] * 3
    done = subprocess.run(command, input="d\nq\n", capture_output=True, text=True, check=True)
    assert "4 of 30 pairs judged by judge: 26 left" in done.stdout


def test_on_a_terminal_a_key_is_a_verdict(verdicts: VerdictFile, finished: Path) -> None:
    """Without a line end after it, as typed."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "roughly", "judge", str(finished), "--verdicts", str(verdicts.path)]
    running = subprocess.Popen([*command, "--judge", "ann"], stdin=theirs, stdout=subprocess.PIPE, text=True, bufsize=1)
    os.close(theirs)
    assert running.stdout is not None
    limit = threading.Timer(120, running.kill)  # never wait for a key that was lost
    limit.start()
    for key in "sdukq":
        for line in running.stdout:
            if line.startswith("the same?"):
                break
        os.write(ours, key.encode())
    rest = running.stdout.read()
    assert running.wait() == 0
    limit.cancel()
    running.stdout.close()
    os.close(ours)
    assert "2 of 30 pairs judged by ann: 28 left" in rest
    assert list(VerdictFile.open(verdicts.path).said["ann"].values()) == ["same", "skip"]


def test_a_session_asks_undoes_and_arbitrates(tmp_path: Path) -> None:
    found = made(tmp_path / "v.jsonl", [0.5, 0.6, 0.7])
    ann = JudgeSession(found, "ann")
    assert not ann.undo()
    for verdict in ("same", "same", "different"):
        ann.say(verdict)
    assert (ann.next(), ann.done) == (None, 3)
    assert ann.undo() and ann.next() == 2
    ann.say("same")
    bob = JudgeSession(found, "bob")
    assert bob.next() == 0
    for verdict in ("same", "different", "skip"):
        bob.say(verdict)
    cleo = JudgeSession(found, "cleo", disputed=True)
    assert cleo.asked == [1]
    assert consensus(found) == {0: True, 1: None, 2: True}
    cleo.say("different")
    assert consensus(found) == {0: True, 1: False, 2: True}
    assert [(one.first, one.second) for one in agreements(found)] == [("ann", "bob")]


def test_agreement_is_as_worked_out_by_hand(tmp_path: Path) -> None:
    # Cohen's own kind of table: 20 both same, 15 both different, 5 and 10 apart: p = 0.7, e = 0.5, kappa = 0.4
    assert kappa_of(50, 20, 15, 25) == pytest.approx(0.4)
    assert kappa_of(10, 10, 0, 10) is None
    assert kappa_of(0, 0, 0, 0) is None
    found = made(tmp_path / "v.jsonl", [0.5] * 50)
    for n in range(50):
        found.record("ann", n, "same" if n < 25 else "different")
        found.record("bob", n, "same" if n < 20 or 25 <= n < 35 else "different")
    [one] = agreements(found)
    assert (one.pairs, one.same, one.different, one.share) == (50, 20, 15, 0.7)
    assert one.kappa == pytest.approx(0.4)


def test_precision_is_weighted_by_stratum_with_wilsons_interval(tmp_path: Path) -> None:
    interval = wilson(0.5, 10)
    assert (interval.low, interval.high) == pytest.approx((0.2366, 0.7634), abs=1e-4)  # Wilson 1927
    certain = wilson(1.0, 10)
    assert (certain.low, certain.high) == pytest.approx((0.7225, 1.0), abs=1e-4)
    found = made(tmp_path / "v.jsonl", [0.8] * 10 + [0.9] * 10, [0] * 10 + [1] * 10, (100.0, 900.0))
    assert precision_of(found) is None
    for n in range(20):
        found.record("ann", n, "different" if n < 5 else "same")
    got = precision_of(found)
    assert got is not None
    assert got.value == pytest.approx(0.1 * 0.5 + 0.9 * 1.0)
    assert got.effective == pytest.approx(1 / (0.01 / 10 + 0.81 / 10))
    assert got.interval == wilson(got.value, got.effective)
    assert (got.judged, got.covered) == (20, 1.0)
    for n in range(10, 20):
        found.record("ann", n, None)
    assert precision_of(found).covered == pytest.approx(0.1)  # type: ignore[union-attr]


def test_the_interval_of_precision_holds_the_truth(tmp_path: Path) -> None:
    chance = np.random.default_rng(7)
    held = 0
    sizes, shares = (200.0, 500.0, 300.0), (0.6, 0.9, 0.98)
    truth = sum(n * p for n, p in zip(sizes, shares, strict=True)) / 1000
    found = made(tmp_path / "v.jsonl", [0.8] * 90, [n // 30 for n in range(90)], sizes)
    for _ in range(300):
        said = {n: "same" if chance.random() < shares[n // 30] else "different" for n in range(90)}
        found.said = {"ann": said}
        interval = precision_of(found).interval  # type: ignore[union-attr]
        held += interval.low <= truth <= interval.high
    assert held >= 0.93 * 300


def test_the_threshold_implied_is_where_verdicts_turn(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    scores = chance.uniform(0.6, 1.0, 200).round(4).tolist()
    found = made(tmp_path / "a.jsonl", scores)
    likely = 1 / (1 + np.exp(-40 * (np.array(scores) - 0.77)))
    found.said = {"ann": {n: "same" if chance.random() < p else "different" for n, p in enumerate(likely)}}
    even = implied_threshold(found)
    assert even.value == pytest.approx(0.77, abs=0.02)
    assert even.interval is not None and even.interval.low < 0.77 < even.interval.high
    assert even.interval.high - even.interval.low < 0.08
    assert implied_threshold(found) == even  # the same draws every time


def test_the_threshold_for_a_precision_has_it(tmp_path: Path) -> None:
    """On average over many sets of verdicts; the interval holds the true one as often as it says."""
    grid = np.linspace(0.6, 1.0, 4001)
    held = np.cumsum((1 / (1 + np.exp(-40 * (grid - 0.77))))[::-1]) / np.arange(1, 4002)
    truth = grid[::-1][np.flatnonzero(held >= 0.95)[-1]]
    means, inside = [], 0
    for seed in range(20):
        chance = np.random.default_rng(seed)
        scores = chance.uniform(0.6, 1.0, 200).round(4)
        found = made(tmp_path / f"{seed}.jsonl", scores.tolist())
        likely = 1 / (1 + np.exp(-40 * (scores - 0.77)))
        found.said = {"ann": {n: "same" if chance.random() < p else "different" for n, p in enumerate(likely)}}
        target = implied_threshold(found, 0.95)
        assert target.value is not None and target.interval is not None
        means.append(likely[scores >= target.value].mean())
        inside += target.interval.low <= truth <= target.interval.high
    assert np.mean(means) == pytest.approx(0.95, abs=0.01)
    assert inside >= 16


def test_verdicts_that_imply_nothing_say_why(tmp_path: Path) -> None:
    found = made(tmp_path / "a.jsonl", [0.7, 0.75, 0.85, 0.9])
    assert implied_threshold(found).reason == "nothing is judged yet"
    found.said = {"ann": dict.fromkeys(range(4), "same")}
    assert "below 0.700" in implied_threshold(found).reason
    found.said = {"ann": dict.fromkeys(range(4), "different")}
    assert "above 0.900" in implied_threshold(found).reason
    found.said = {"ann": {0: "same", 1: "same", 2: "different", 3: "different"}}
    assert "do not rise" in implied_threshold(found).reason
    found.said = {"ann": {0: "different", 1: "different", 2: "same", 3: "same"}}  # parted without exception
    even = implied_threshold(found)
    assert even.value == pytest.approx(0.8, abs=0.01)


def test_the_curve_is_the_peak_of_its_likelihood() -> None:
    chance = np.random.default_rng(1)
    z = chance.normal(size=(3, 80))
    same = (chance.random((3, 80)) < 1 / (1 + np.exp(-(0.5 + 2 * z)))).astype(float)
    a, b = fit_logistic(z, same)

    def height(a: float, b: float, row: int) -> float:
        p = 1 / (1 + np.exp(-(a + b * z[row])))
        return float(np.log(np.where(same[row] > 0, p, 1 - p)).sum() - (a * a + b * b) / 200)

    for row in range(3):
        top = height(a[row], b[row], row)
        for da, db in itertools.product((-0.01, 0, 0.01), repeat=2):
            assert height(a[row] + da, b[row] + db, row) <= top + 1e-12


def test_the_command_from_a_pipe(finished: Path, tmp_path: Path) -> None:
    path, run = tmp_path / "v.jsonl", CliRunner().invoke
    arguments = ["judge", str(finished), "--verdicts", str(path)]
    done = run(app, [*arguments, "--judge", "ann", "--pairs", "12"], input="s\n\nx\nd\nu\nk\nm\nq\n")
    assert done.exit_code == 0, done.output
    assert "12 pairs drawn" in done.stderr and "no such key 'x'" in done.stderr
    assert "2 of 12 pairs judged by ann: 10 left" in done.stdout
    for sign in ("\x1b", "\x07", "\u202e"):
        assert sign not in done.stdout
    assert "‹U+001B›" in done.stdout and "‹U+202E›" in done.stdout
    assert "resemblance 0" not in done.stdout  # scores would sway
    done = run(app, [*arguments, "--judge", "ann", "--scores"], input="same\ndifferent\n" * 20)
    assert "12 of 12 pairs judged by ann: all done" in done.stdout and "resemblance 0" in done.stdout
    done = run(app, [*arguments, "--judge", "bob"], input="s\n" * 20)
    assert "12 of 12 pairs judged by bob" in done.stdout
    told = run(app, [*arguments, "--report"])
    assert "agreement   ann and bob" in told.stdout and "precision   " in told.stdout
    assert "threshold   " in told.stdout
    found = json.loads(run(app, [*arguments, "--json"]).stdout)
    assert found == make_report(VerdictFile.open(path)).to_dict()
    assert found["judged"] == {"ann": 11, "bob": 12} and found["skipped"]["ann"] == 1
    table = tmp_path / "labels.csv"
    assert run(app, [*arguments, "--csv", str(table)]).exit_code == 0
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(same is not None for same in consensus(VerdictFile.open(path)).values())
    assert list(rows[0]) == ["left_id", "right_id", "same", "weight", "score", "stratum", "ann", "bob"]
    assert all(float(row["weight"]) > 0 for row in rows)
    with pytest.raises(OutputExists):
        write_csv(VerdictFile.open(path), table)
    documents = str(finished.parent / "documents.jsonl")
    tuned = run(app, ["tune", documents, "--labels", str(table), "--methods", "minhash,lexical", "--json"])
    assert tuned.exit_code in (0, 3), tuned.output
    assert json.loads(tuned.stdout)["truth"] == "pairs"


def test_inputs_that_are_gone_or_changed_are_told(tmp_path: Path) -> None:
    source, run = tmp_path / "d.jsonl", tmp_path / "out"
    rows = write_documents(source, 12)
    roughly.dedupe(source, output=run, threads=1)
    opened = JudgedRun.open(run)
    found = draw_pairs(opened, opened.verdicts, DrawRequest(pairs=8), resources=ONE)
    assert opened.verdicts == tmp_path / "out.verdicts.jsonl"
    moved = source.rename(tmp_path / "elsewhere.jsonl")
    with pytest.raises(InputMissing, match="--input"):
        pair_texts(found, [0])
    with pytest.raises(InputMissing, match="--input"):
        draw_pairs(opened, tmp_path / "other.jsonl", DrawRequest(), resources=ONE)
    assert len(pair_texts(found, range(8), [str(moved)])) == 8
    for row in rows:
        row["text"] += " changed"
    moved.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(InputError, match="has changed since"):
        pair_texts(found, [0], [str(moved)])
    moved.write_text('{"id": "a", "text": "other"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="has changed since"):
        pair_texts(found, [0], [str(moved)])
    with pytest.raises(InputError, match="--id-column"):
        draw_pairs(opened, tmp_path / "other.jsonl", DrawRequest(), inputs=[str(moved)], resources=ONE)
    with pytest.raises(InputMissing, match="is not a run"):
        JudgedRun.open(tmp_path / "nothing")
    other = tmp_path / "run2"
    write_documents(source, 12)
    roughly.dedupe(source, output=other, threshold=0.9, threads=1)
    with pytest.raises(InputError, match="another run"):
        open_verdicts(JudgedRun.open(other), found.path)


def test_documents_with_numbered_ids_are_found_again(tmp_path: Path) -> None:
    source = tmp_path / "d.jsonl"
    rows = write_documents(source, 6)
    for row in rows:
        row["id"] = row["id"].split("-")[0]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    roughly.dedupe(source, output=tmp_path / "out", on_duplicate_id="number", threads=1)
    found = draw_pairs(JudgedRun.open(tmp_path / "out"), tmp_path / "v.jsonl", DrawRequest(pairs=8), resources=ONE)
    assert any("#" in name for pair in found.drawn.pairs for name in (pair.left_id, pair.right_id))
    for pair in found.drawn.pairs:
        for name, place in ((pair.left_id, pair.left_place), (pair.right_id, pair.right_place)):
            stem, _, number = name.partition("#")
            assert [n for n, row in enumerate(rows) if row["id"] == stem][int(number or 1) - 1] == place[1]


def test_a_run_without_pairs_has_nothing_to_judge(tmp_path: Path) -> None:
    source = tmp_path / "d.jsonl"
    source.write_text('{"text": "one thing"}\n{"text": "quite another"}\n', encoding="utf-8")
    roughly.dedupe(source, output=tmp_path / "out", threads=1)
    with pytest.raises(InputError, match="nothing to judge"):
        draw_pairs(JudgedRun.open(tmp_path / "out"), tmp_path / "v.jsonl", DrawRequest(), resources=ONE)
