"""The printed chance is the share of pairs that is found: for every length, and for methods that ignore documents."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import roughly
from commands import run_roughly
from roughly.features.sampling import Sampling
from roughly.features.sketch import estimate
from roughly.methods import METHODS
from roughly.methods.method import Method
from roughly.methods.shingles import Shingles
from roughly.methods.super_shingles import SuperShingles
from roughly.methods.verified import Verified
from roughly.text.canonical import tokenise

PAIRS = 1500


def found_share(method: Method, words: int, similarity: float) -> float:
    """The share of random pairs of this length and resemblance that the method finds; shingles of one word."""
    rng = random.Random(words)
    shared = round(2 * similarity * words / (1 + similarity))
    texts = []
    for _ in range(PAIRS):
        both = [f"w{rng.getrandbits(60)}" for _ in range(shared)]
        texts += [" ".join([*both, *(f"x{rng.getrandbits(60)}" for _ in range(words - shared))]) for _ in range(2)]
    signature = method.sign(tokenise(pa.array(texts)))
    assert signature.keys is not None and signature.keys.offsets is not None
    ends = signature.keys.offsets
    keys = [set(signature.keys.values[a:b].tolist()) for a, b in itertools.pairwise(ends.tolist())]
    found = np.array([bool(keys[2 * n] & keys[2 * n + 1]) for n in range(PAIRS)])
    if signature.sketch is not None:
        left = 2 * np.arange(PAIRS)
        scores = estimate(signature.sketch, left, left + 1).resemblance
        found &= np.nan_to_num(scores) >= method.judge().threshold - 1e-12
    return float(found.mean())


@pytest.mark.parametrize("words", [30, 120, 600])
@pytest.mark.parametrize(
    "method",
    [
        Shingles(0.5, shingle_size=1, sampling=Sampling("mod", 25)),
        Shingles(0.8, shingle_size=1, sampling=Sampling("min", 40)),
        SuperShingles(4, 1, Sampling("mod", 25), short="keep"),
        SuperShingles(3, 1, Sampling("mod", 8), short="sample"),
    ],
)
def test_the_chance_is_that_of_the_verdict(method: Method, words: int) -> None:
    similarity = 0.5 if method.name == "shingles" and method.judge().threshold == 0.5 else 0.8
    shared = round(2 * similarity * words / (1 + similarity))
    exact = shared / (2 * words - shared)
    expected = method.found_probability(exact, words)
    tolerance = 4 * (0.25 / PAIRS) ** 0.5 + 0.02
    assert found_share(method, words, similarity) == pytest.approx(expected, abs=tolerance)


def test_exact_estimates_are_right_and_verified_candidates_are_found() -> None:
    assert Shingles(0.5, sampling=Sampling("all")).found_probability(0.5, 300) == 1
    assert Shingles(0.5, sampling=Sampling("all")).found_probability(0.49, 300) == 0
    sampled = Shingles(0.5)
    verified = Verified(sampled, "resemblance", 0.5)
    assert verified.found_probability(0.5, 300) == sampled.candidate_probability_at(0.5, 300) > 0.99


def test_the_summary_says_the_chance_for_the_lengths_of_the_collection(tmp_path: Path) -> None:
    rng = random.Random(1)
    lengths = [40] * 30 + [100] * 30 + [400] * 40
    rows = [
        {"id": str(n), "text": " ".join(f"w{rng.getrandbits(40)}" for _ in range(k))} for n, k in enumerate(lengths)
    ]
    source = tmp_path / "d.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = run_roughly("dedupe", source, "-o", tmp_path / "dsc", "--preset", "broder-1997").stdout
    assert (
        "a pair at 0.5 is found with probability 0.48, 0.58 and 0.54 for documents of 40, 100 and 400 words" in told
    ), told
    told = run_roughly(
        "dedupe", source, "-o", tmp_path / "ss", "--preset", "broder-1997-super", "--short", "keep"
    ).stdout
    assert "1.0000" not in told and "documents too short for a super shingle" in told
    page = (tmp_path / "dsc" / "report.html").read_text()
    assert "Whether such a pair is found" in page and "quartiles of this collection" in page


def test_super_shingles_that_ignore_every_document_promise_nothing(tmp_path: Path) -> None:
    source = tmp_path / "short.jsonl"
    rows = [{"id": str(n), "text": " ".join(f"w{n}x{i}" for i in range(12))} for n in range(40)]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = run_roughly(
        "dedupe", source, "-o", tmp_path / "ss", "--preset", "broder-1997-super", "--short", "keep"
    ).stdout
    assert "is found with probability 0.00, 0.00 and 0.00 for documents of 12, 12 and 12 words" in told, told
    assert "0.0000 for 12" in (tmp_path / "ss" / "report.html").read_text()


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_says_its_chance_or_what_it_finds_instead(name: str) -> None:
    texts = [f"alpha beta gamma delta {'epsilon ' * n}zeta eta theta iota" for n in range(30)]
    run = roughly.dedupe(texts, method=name).summary
    assert ("points" in (run["s_curve"] or {})) != bool(run["judged"].get("finds"))


def test_random_lexicons_say_the_chance_by_terms_that_differ(tmp_path: Path) -> None:
    """Kołcz 2008, eq. 1, with K = 5 and p = 1/3: 1 − (2/3)⁵ and 1 − (8/9)⁵."""
    source = tmp_path / "d.jsonl"
    source.write_text(json.dumps({"id": "a", "text": "some words of a report"}) + "\n")
    expected = f"probability {1 - (2 / 3) ** 5:.3f} if 1 differ, {1 - (8 / 9) ** 5:.3f} if 2 differ, "
    told = run_roughly("dedupe", source, "-o", tmp_path / "out", "--method", "imatch", "--lexicons", "5").stdout
    assert expected in told, told
    assert expected in json.loads((tmp_path / "out" / "run.json").read_text())["judged"]["finds"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Which pairs are found" in page and expected in page
    planned = run_roughly("dedupe", source, "--plan", "--method", "imatch", "--min-terms", "3", "--lexicons", "5")
    assert "a pair is found with probability at most 0.868 if 1 differ" in planned.stdout


def test_a_plan_says_the_chance_for_the_lengths_of_its_sample(tmp_path: Path) -> None:
    source = tmp_path / "d.jsonl"
    source.write_text("".join(json.dumps({"id": n, "text": "some words " * n}) + "\n" for n in range(1, 60)))
    told = run_roughly("dedupe", source, "--plan", "--preset", "broder-1997").stdout
    assert "for documents of 30, 60 and 90 words" in told and "1.0000" not in told, told
