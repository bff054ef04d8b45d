"""Every method through the engine: its own rule decides, and nothing else does.

The rule is stated once more in plain Python: pairs that share a key, judged as the method says. The pairs that a run
writes must be these, whatever the threads, the batches, the order and packing of the input, killed and resumed or not.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import exact
import roughly
from roughly import lexicon, methods
from roughly.engines.local import LocalEngine
from roughly.errors import Interrupted, SettingsError
from roughly.features.sampling import Sampling
from roughly.features.sketch import Sketch, limits_of
from roughly.job.dedupe_api import run
from roughly.job.launcher import DedupeRequest
from roughly.lexicon.lexicon import Lexicon
from roughly.methods.secret import key_digest
from roughly.methods.super_shingles import SuperShingles
from roughly.settings import ReadOptions, Resources, Settings
from roughly.text.canonical import tokenise

OUTPUTS = ("documents.parquet", "pairs.parquet", "clusters.parquet")
ASKED: dict[str, dict[str, Any]] = {
    "identical": {"method": "identical"},
    "lexical": {"method": "lexical"},
    "minhash": {"method": "minhash"},
    "shingles": {"method": "shingles", "sketch": "mod:8", "threshold": 0.6, "common": 9},
    "shingles by length": {"method": "shingles", "sketch": "adaptive", "groups": [[400, 0.25], [900, 0.125]]},
    "shingles of fixed size": {"method": "shingles", "sketch": "min:50"},
    "super-shingles": {"method": "super-shingles", "super_size": 3},
    "super-shingles estimated": {"method": "super-shingles", "judge": "sketch", "short": "keep"},
    "mega-shingles": {"method": "mega-shingles"},
    "word-lsh": {"method": "word-lsh", "lsh_signatures": 20, "filter": "sw"},
    "syntactic": {"method": "syntactic", "filter": "sw,stem"},
    "imatch": {"method": "imatch", "filter": "IDF-L-10", "lexicons": 10},
    "rare-terms": {"method": "rare-terms", "bin": 5, "lexicon": "collection"},
    "term-vector": {"method": "term-vector", "dates": "none"},
    "term-vector with dates": {"method": "term-vector", "dates": 200, "shared": 30},
}
shingles = functools.cache(exact.shingles)
EVERY = pytest.mark.parametrize("name", ASKED)


@pytest.fixture(scope="module")
def rows(policies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some of the bundled documents, a copy, one that says little and two that say nothing."""
    few = [row for row in policies if row["source"] < "D"][:140]
    more = [("copy", few[0]["text"]), ("little", "Terms of service"), ("e1", " "), ("e2", "…")]
    return [*few, *({"id": name, "text": text} for name, text in more)]


def settings_of(name: str, **more: Any) -> Settings:
    return Settings.gather(ASKED[name], more)


def share(left: set[Any], right: set[Any], measure: str) -> float:
    both = len(left & right)
    if measure == "common":
        return both
    whole = len(left | right) if measure == "resemblance" else min(len(left), len(right))
    return both / whole if whole else 0.0


def estimate(sketch: Sketch, a: int, b: int, measure: str) -> float:
    """Of two sketches, below the smaller of their limits and, for MIN_s, among the s smallest of their union."""
    limit = min(int(limits_of(sketch)[a]), int(limits_of(sketch)[b]))
    left, right = (
        {int(v) for v in sketch.values[sketch.offsets[d] : sketch.offsets[d + 1]] if int(v) <= limit} for d in (a, b)
    )
    if sketch.most:
        least = set(sorted(left | right)[: sketch.most])
        left, right = left & least, right & least
    return share(left, right, measure)


def by_the_rule(method: methods.Method, rows: list[dict[str, Any]], shingle_size: int) -> set[tuple[str, str]]:
    """The pairs that the method calls duplicates, stated plainly."""
    ids, texts = [row["id"] for row in rows], pa.array([row["text"] for row in rows], pa.large_string())
    words = [tuple(t) for t in exact_tokens(texts)]
    equal = texts.to_pylist() if method.collapse == "identical" else words
    groups: dict[Any, list[int]] = defaultdict(list)
    for doc, content in enumerate(equal):
        groups[content].append(doc)
    found = {(a, b) for group in groups.values() for a, b in itertools.combinations(group, 2) if words[a]}
    if not method.equality:
        ranked = [min(group, key=lambda d: (-len(texts[d].as_py().encode()), ids[d])) for group in groups.values()]
        days = [row.get("date") and date.fromisoformat(row["date"][:10]).toordinal() for row in rows]
        for a, b in judged(method, texts, words, [doc for doc in ranked if words[doc]], shingle_size):
            if (most := method.judge().dates) is not None:
                one, other = days[a], days[b]
                if one is None or other is None or abs(one - other) > most:  # a document without a date is near to none
                    continue
            found |= {(x, y) for x in groups[equal[a]] for y in groups[equal[b]]}
    return {(min(ids[a], ids[b]), max(ids[a], ids[b])) for a, b in found}


def exact_tokens(texts: pa.Array) -> list[list[int]]:
    tokens = tokenise(texts)
    return [tokens.hashes[a:b].tolist() for a, b in itertools.pairwise(tokens.offsets.tolist())]


def judged(
    method: methods.Method, texts: pa.Array, words: list[tuple[int, ...]], docs: list[int], shingle_size: int
) -> list[tuple[int, int]]:
    tokens = method.filters.apply(texts) if method.filters else tokenise(texts)
    signature, judge = method.sign(tokens), method.judge()
    keys, sketch = signature.keys, signature.sketch
    assert keys is not None
    buckets: dict[Any, list[int]] = defaultdict(list)
    owned: dict[int, set[Any]] = {}
    for doc in docs:
        if keys.offsets is None:
            own = {(band, int(value)) for band, value in enumerate(keys.values[doc]) if value}
        else:
            own = {(0, int(value)) for value in keys.values[keys.offsets[doc] : keys.offsets[doc + 1]]}
        owned[doc] = own
        for key in own:
            buckets[key].append(doc)
    used = {key for key, members in buckets.items() if not method.common or len(members) <= method.common}
    for own in owned.values():  # a document of little but common keys is found by the rarest of these
        needed = math.ceil(judge.threshold * len(own) - 1e-9)
        rarest = sorted(own - used, key=lambda key: len(buckets[key]))
        used |= set(rarest[: max(0, len(rarest) - needed + 1)]) if judge.measure != "common" else set()
    candidates = {pair for key in used for pair in itertools.combinations(buckets[key], 2)}
    sets = {doc: shingles(texts[doc].as_py(), shingle_size) for doc in docs} if judge.on == "text" else {}
    found = []
    for a, b in sorted(candidates):
        longer = max(len(words[a]), len(words[b]))
        if judge.lengths is not None and abs(len(words[a]) - len(words[b])) > judge.lengths * longer:
            continue
        if judge.on == "text":
            score = share(set(sets[a]), set(sets[b]), judge.measure)
        elif judge.on == "sketch":
            assert isinstance(sketch, Sketch)
            score = estimate(sketch, a, b, judge.measure)
        else:
            score = 1
        if score >= judge.threshold:
            found.append((a, b))
    return found


def the_method(settings: Settings, rows: list[dict[str, Any]]) -> methods.Method:
    if not methods.needs_count(settings):
        return methods.make(settings)
    return methods.make(settings, lexicon.build(rows, filters=methods.counted_with(settings)))


def pairs_of(table: pa.Table) -> set[tuple[str, str]]:
    ids = zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True)
    return {(min(pair), max(pair)) for pair in ids}


@EVERY
def test_the_pairs_found_are_those_of_the_rule(name: str, rows: list[dict[str, Any]]) -> None:
    settings = settings_of(name, pairs="all")
    result = roughly.dedupe(rows, **{**ASKED[name], "pairs": "all"})
    told = pairs_of(result.pairs) - {("e1", "e2")}  # of documents without a word the witness is told
    expected = by_the_rule(the_method(settings, rows), rows, settings.shingle_size)
    assert told == expected and len(told) >= (1 if settings.method == "identical" else 10)
    kept = set(result.kept_ids)
    assert not any(left in kept and right in kept for left, right in told)
    for row in result.removed.to_pylist():
        assert row["kept_id"] in kept
        assert (min(row["doc_id"], row["kept_id"]), max(row["doc_id"], row["kept_id"])) in told | {("e1", "e2")}
    on = result.summary["judged"]["on"]
    assert result.summary["settings"]["method"] == settings.method
    measured = [row for row in result.removed.to_pylist() if row["resemblance"] is not None]
    exactly = [row for row in result.removed.to_pylist() if row["kind"] == "exact"]
    assert (len(measured) == len(exactly)) == (on in ("keys", "equality"))
    assert "little" in kept and (on == "text" or {row["kind"] for row in result.removed.to_pylist()} <= {"exact", None})


@EVERY
def test_verified_pairs_reach_the_threshold(name: str, rows: list[dict[str, Any]]) -> None:
    if settings_of(name).method in ("identical", "lexical"):
        pytest.skip("equality has nothing to verify")
    asked = {**ASKED[name], "pairs": "all", "verify": True, "threshold": 0.85}
    result, settings = roughly.dedupe(rows, **asked), Settings.gather(asked)
    expected = by_the_rule(the_method(settings, rows), rows, settings.shingle_size)
    assert pairs_of(result.pairs) - {("e1", "e2")} == expected
    sets = {row["id"]: shingles(row["text"], 5) for row in rows}
    for row in result.pairs.to_pylist():
        if row["left_id"] not in ("e1", "e2"):
            assert row["resemblance"] == exact.resemblance(sets[row["left_id"]], sets[row["right_id"]]) >= 0.85
    assert result.summary["judged"]["on"] == "text"
    assert set(result.removed["kind"].to_pylist()) - {"exact"}


def write(rows: list[dict[str, Any]], path: Path) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Killed(KeyboardInterrupt):
    """As if by Ctrl-C."""


@EVERY
def test_the_same_answer_however_it_runs(
    name: str, rows: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, shuffled = settings_of(name), random.Random(3).sample(rows, len(rows))
    whole = write(rows, tmp_path / "whole.jsonl")
    halves = [write(shuffled[:50], tmp_path / "b.jsonl"), write(shuffled[50:], tmp_path / "a.jsonl")]

    def answer(to: str, paths: list[Path], threads: int, batch: int | None, resume: bool | None = None) -> list[bytes]:
        output = tmp_path / to
        request = DedupeRequest(
            settings=settings, resources=Resources(threads=threads), output=output, resume=resume,
            reading=ReadOptions(batch_size=batch),
        )  # fmt: skip
        run(None, paths, request)
        return [(output / file).read_bytes() for file in OUTPUTS]

    once = answer("once", [whole], 1, None)
    assert answer("otherwise", halves, 2, 17) == once
    with monkeypatch.context() as patched:
        patched.setattr(LocalEngine, "_save", lambda engine, decision: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Interrupted):
            answer("resumed", [whole], 2, 40, False)
    assert answer("resumed", [whole], 2, 40, True) == once
    counts = [json.loads((tmp_path / to / "run.json").read_text())["counts"] for to in ("once", "resumed")]
    assert counts[0] == counts[1]
    stages = {s["name"]: s for s in json.loads((tmp_path / "resumed" / "run.json").read_text())["stages"]}
    assert stages["read"]["reused"]
    assert ("count" in stages) == (settings.options.get("lexicon") == "collection")
    assert "count" not in stages or stages["count"]["reused"]


def test_estimates_are_within_their_error(rows: list[dict[str, Any]]) -> None:
    result = roughly.dedupe(rows, method="shingles", sketch="mod:4", threshold=0.5, pairs="all")
    sets = {row["id"]: shingles(row["text"], 5) for row in rows}
    off = []
    for row in result.pairs.to_pylist():
        left, right = sets[row["left_id"]], sets[row["right_id"]]
        if row["kind"] == "exact" or not left:
            continue
        r = exact.resemblance(left, right)
        sampled = len(left | right) / 4
        off.append((row["resemblance"] - r) / max((r * (1 - r) * 0.75 / sampled) ** 0.5, 1 / sampled))
    assert len(off) > 50 and max(map(abs, off)) < 5 and np.sqrt(np.mean(np.square(off))) < 1.5


def test_what_the_method_could_not_sign_is_counted(rows: list[dict[str, Any]]) -> None:
    counts = roughly.dedupe(rows, method="imatch", min_terms=5).summary["counts"]
    assert counts["unsigned"] == 1  # the little one; those without a word are empty
    assert roughly.dedupe(rows, method="imatch", min_terms=5, unsigned="all-terms").summary["counts"]["unsigned"] == 0
    counts = roughly.dedupe(rows, method="super-shingles", sketch="mod:60", super_size=6).summary["counts"]
    method = SuperShingles(6, 5, Sampling("mod", 60))
    signature = method.sign(tokenise(pa.array([row["text"] for row in rows], pa.large_string())))
    short = signature.counts["short_documents"]
    assert counts["short_documents"] == short > 1
    assert roughly.dedupe(rows, **ASKED["shingles"]).summary["counts"]["common_keys"] > 0


def test_the_fingerprint_knows_what_files_hold_and_not_where_they_lie(
    rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    one, same, other = tmp_path / "one.lexicon", tmp_path / "same.lexicon", tmp_path / "other.lexicon"
    built = lexicon.build(rows, output=one)
    same.write_bytes(one.read_bytes())
    lexicon.build(rows[:50], output=other)
    secret, again = tmp_path / "secret", tmp_path / "again"
    secret.write_bytes(b"thirty-two bytes that nobody knows\n")
    again.write_bytes(secret.read_bytes())

    def run_json(**options: Any) -> dict[str, Any]:
        return roughly.dedupe(rows, method="imatch", lexicons=3, **options).summary

    first = run_json(lexicon=one, key_file=secret)
    assert run_json(lexicon=str(same), key_file=again)["fingerprint"] == first["fingerprint"]
    assert run_json(lexicon="collection", key_file=again)["fingerprint"] == first["fingerprint"]
    assert run_json(lexicon=Lexicon.open(one), key_file=again)["fingerprint"] == first["fingerprint"]
    assert run_json(lexicon=other, key_file=secret)["fingerprint"] != first["fingerprint"]
    assert run_json(lexicon=one)["fingerprint"] != first["fingerprint"]
    digest = key_digest(b"thirty-two bytes that nobody knows")
    assert first["contents"] == {"lexicon": built.fingerprint, "key": digest}
    assert first["settings"]["options"] == {"lexicon": str(one), "lexicons": 3}
    assert "secret" not in json.dumps(first) and "nobody" not in json.dumps(first)
    settings = Settings(method="imatch", options={"lexicon": one})
    with pytest.raises(SettingsError, match="depends on the content of lexicon"):
        settings.fingerprint()
    assert settings.fingerprint(methods.contents(settings)) == methods.fingerprint(settings)


def test_settings_with_options_round_trip() -> None:
    for name in ASKED:
        settings = settings_of(name)
        again = Settings.from_dict(json.loads(json.dumps(settings.to_dict())))
        assert again == settings and hash(again) == hash(settings)
        assert methods.fingerprint(again) == methods.fingerprint(settings)
    assert {spec.method_class.name for spec in methods.METHODS.values()} == set(methods.METHODS)


def test_defaults_of_the_table_are_those_of_the_methods() -> None:
    for name, spec in methods.METHODS.items():
        files = ("lexicon", "key_file")
        given = {option.name: option.default for option in spec.options if option.name not in files}
        assert methods.make(Settings(method=name, options=given)) == methods.make(Settings(method=name)), name


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--method imatch --bin 3 --sketch all", ["imatch has no option 'bin'", "imatch has no option 'sketch'"]),
        ("--method magic", ["method must be one of identical, lexical, minhash, shingles, super-shingles"]),
        ("--method shingles --sketch most", ["sketch must be one of all, mod:M, min:S, adaptive, not 'most'"]),
        ("--method shingles --groups 1:x --sketch adaptive", ["groups must be [most tokens, ratio]"]),
        ("--method imatch --dropped 7 --lexicon collection", ["dropped must be a number from 0 to 1, not 7.0"]),
        ("--method term-vector --dates soon", ["dates must be a whole number or `none`, not 'soon'"]),
        ("--method imatch --measure containment", ["the method imatch cannot measure containment"]),
        ("--method imatch --bands 3 --rows 3", ["--bands and --rows belong to the method minhash"]),
        ("--preset broder", ["unknown preset 'broder'; presets are broder-1997"]),
        ("--settings bad.toml", ["bad.toml: unknown setting 'treshold'"]),
        (
            "--settings worse.toml",
            ["worse.toml: threshold must be above 0", "worse.toml: common must be a whole number"],
        ),
    ],
)
def test_what_makes_no_sense_is_told(options: str, told: list[str], tmp_path: Path, roughly: Callable) -> None:
    write([{"id": "a", "text": "some words"}], tmp_path / "in.jsonl")
    (tmp_path / "bad.toml").write_text("treshold = 0.8\n", encoding="utf-8")
    worse = 'method = "shingles"\nthreshold = "high"\ncommon = "few"\n'
    (tmp_path / "worse.toml").write_text(worse, encoding="utf-8")
    done = roughly("dedupe", "in.jsonl", "-o", "out", *options.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    for words in told:
        assert words in done.stderr
    assert not (tmp_path / "out").exists()


def test_presets_files_and_what_is_given(rows: list[dict[str, Any]], tmp_path: Path, roughly: Callable) -> None:
    write(rows, tmp_path / "in.jsonl")
    (tmp_path / "s.toml").write_text('threshold = 0.7\nsketch = "mod:10"\n', encoding="utf-8")
    given = ["--preset", "broder-1997", "--settings", "s.toml", "--sketch", "mod:5", "--json"]
    done = roughly("dedupe", "in.jsonl", "-o", "out", *given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    settings = json.loads(done.stdout)["settings"]
    assert settings["method"] == "shingles" and settings["cluster"] == "components"  # the preset
    assert settings["threshold"] == 0.7  # the file before the preset
    assert settings["options"] == {
        "sketch": "mod:5",
        "common": 1000,
        "ignore_common": True,
    }  # what is given before the file
    for page in ("report.html", "report.json"):
        assert "estimated from sketches (mod:5)" in (tmp_path / "out" / page).read_text(encoding="utf-8")
    told = roughly("dedupe", "in.jsonl", "-o", "out2", "--method", "imatch", "--min-terms", 5, cwd=tmp_path)
    assert (
        "judged      by keys in common, not measured" in told.stdout and "unsigned    1 document without" in told.stdout
    )
    page = (tmp_path / "out2" / "report.html").read_text(encoding="utf-8")
    assert "Some pairs with a key in common" in page and "not measured: only equal documents" in page
    assert pq.read_table(tmp_path / "out2" / "pairs.parquet")["resemblance"].null_count > 0


def test_another_threshold_where_there_is_one(rows: list[dict[str, Any]]) -> None:
    estimated = roughly.dedupe(rows, method="shingles", threshold=0.6)
    fresh = roughly.dedupe(rows, method="shingles", threshold=0.8)
    assert estimated.rethreshold(0.8).documents.equals(fresh.documents)
    with pytest.raises(SettingsError, match="judges pairs by what they have in common"):
        roughly.dedupe(rows, method="imatch").rethreshold(0.9)
