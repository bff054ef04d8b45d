"""Judging a run with a learned verdict: pairs are drawn by probability, and the loop judge → tune --learn → dedupe."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import roughly
from invoices import invoices
from notices import ALL, SETTINGS, notices
from roughly.cli.app import app
from roughly.cluster.verdict_reasons import explain_verdict
from roughly.errors import InputError
from roughly.settings import Settings
from roughly.tools.judge.api import JudgedRun, draw_pairs
from roughly.tools.judge.judge_session import JudgeSession
from roughly.tools.judge.request import DrawRequest
from roughly.tools.judge.verdict_file import VerdictFile

VERDICT = "probability=0.5 prior=-5 words=4/0 numbers=3/0"
ASKED = {"threshold": 0.2, "shingle_size": 2, "verdict": VERDICT}


def written(folder: Path, count: int) -> tuple[Path, dict[str, str]]:
    rows = invoices(count)
    source = folder / "bills.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return source, {str(row["id"]): str(row["bill"]) for row in rows}


def judged(out: Path, bills: dict[str, str], pairs: int) -> VerdictFile:
    """A judge who knows the bills."""
    run = JudgedRun.open(out)
    session = JudgeSession(draw_pairs(run, run.verdicts, DrawRequest(pairs=pairs)), "rule")
    while (number := session.next()) is not None:
        pair = session.verdicts.drawn.pairs[number]
        session.say("same" if bills[pair.left_id] == bills[pair.right_id] else "different")
    return session.verdicts


def test_pairs_are_drawn_by_probability_uncertain_ones_first(tmp_path: Path) -> None:
    source, bills = written(tmp_path, 30)
    result = roughly.dedupe(source, output=tmp_path / "out", **ASKED)
    drawn = judged(tmp_path / "out", bills, 40).drawn
    assert (drawn.measure, drawn.threshold) == ("probability", 0.5)
    texts = {str(row["id"]): str(row["text"]) for row in invoices(30)}
    removed = {row["left_id"]: row["right_id"] for row in result.pairs.to_pylist() if row["witness"]}
    for pair in drawn.pairs:
        reasons = explain_verdict(texts[pair.left_id], texts[pair.right_id], Settings(**ASKED))  # type: ignore[arg-type]
        assert pair.score == pytest.approx(reasons.probability) and reasons.resemblance >= 0.2
        assert drawn.strata[pair.stratum].found == reasons.same == (removed.get(pair.left_id) == pair.right_id)
    near = [abs(pair.score - 0.5) <= 0.2 for pair in drawn.pairs]
    shown = {drawn.strata[pair.stratum] for pair, is_near in zip(drawn.pairs, near, strict=True) if is_near}
    share = sum(stratum.pairs for stratum in shown) / sum(stratum.pairs for stratum in drawn.strata)
    assert near == sorted(near, reverse=True) and 40 > near.count(True) > 2 * 40 * share > 0
    run = CliRunner().invoke
    assert run(app, ["judge", str(tmp_path / "out"), "--csv", str(tmp_path / "labels.csv")]).exit_code == 0
    with (tmp_path / "labels.csv").open(encoding="utf-8") as stream:
        weights = [float(row["weight"]) for row in csv.DictReader(stream)]
    assert sum(weights) == pytest.approx(sum(stratum.pairs for stratum in drawn.strata), rel=1e-4)
    assert "probability " in run(app, ["judge", str(tmp_path / "out"), "--report"]).stdout


def test_equal_texts_with_other_dates_are_near_misses(tmp_path: Path) -> None:
    rows = notices(60)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = Settings.gather(SETTINGS, {"verdict": ALL})
    roughly.dedupe(tmp_path / "a.jsonl", output=tmp_path / "out", **SETTINGS, verdict=ALL)
    run = JudgedRun.open(tmp_path / "out")
    drawn = draw_pairs(run, run.verdicts, DrawRequest(pairs=60)).drawn
    by_id = {row["id"]: row for row in rows}
    equal = 0
    for pair in drawn.pairs:
        both = by_id[pair.left_id], by_id[pair.right_id]
        reasons = explain_verdict(both[0]["text"], both[1]["text"], settings, both)
        if drawn.strata[pair.stratum].low == 1.0:
            continue  # equal in all: one document from the start
        assert pair.score == pytest.approx(reasons.probability)
        assert drawn.strata[pair.stratum].found == reasons.same
        equal += both[0]["text"] == both[1]["text"] and not reasons.same
    assert equal > 3


def test_a_run_without_probabilities_is_refused(tmp_path: Path) -> None:
    source, _ = written(tmp_path, 3)
    roughly.dedupe(source, output=tmp_path / "out", **ASKED)
    path = tmp_path / "out" / "pairs.parquet"
    pq.write_table(pq.read_table(path).drop_columns("probability"), path)
    with pytest.raises(InputError, match="run dedupe again"):
        draw_pairs(JudgedRun.open(tmp_path / "out"), tmp_path / "v.jsonl", DrawRequest(pairs=3))


@pytest.mark.slow
def test_the_loop_learns_what_the_judge_knows(tmp_path: Path) -> None:
    """100 judged pairs are enough for a verdict that is right on nearly all pairs of the next run."""
    source, bills = written(tmp_path, 60)
    out, labels, best, again = (tmp_path / name for name in ("out", "labels.csv", "best.toml", "again"))

    def run(*arguments: object) -> None:
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        assert done.exit_code == 0, done.output

    run("dedupe", source, "-o", out, "--threshold", 0.5, "--shingle-size", 2)
    before = judged(out, bills, 100)
    run("judge", out, "--csv", labels)
    run("tune", source, "--labels", labels, "--methods", "minhash", "--learn", "-o", best)
    run("dedupe", source, "-o", again, "--settings", best)
    after = judged(again, bills, 100)

    def right(verdicts: VerdictFile) -> float:
        pairs = verdicts.drawn.pairs
        return sum(
            verdicts.drawn.strata[p.stratum].found == (bills[p.left_id] == bills[p.right_id]) for p in pairs
        ) / len(pairs)

    assert right(before) < 0.8 and right(after) > 0.95
