"""A learned verdict that compares titles, hosts, sources and dates too: one text may be a duplicate or not."""

from __future__ import annotations

import json
import random
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import roughly
from notices import ALL, HOST, SETTINGS, WEEK, notices
from roughly.cli.app import app
from roughly.cluster.comparisons import WordsInMemory, compare_pairs
from roughly.cluster.fields import Fields
from roughly.cluster.verdict_reasons import explain_verdict
from roughly.dates import days_of
from roughly.errors import InputError
from roughly.settings import Settings
from roughly.text.canonical import tokenise, words
from roughly.verdict import COMPARISONS, FIELDS, Verdict


def by_definition(left: dict[str, Any], right: dict[str, Any]) -> dict[str, float]:
    hosts = [(row["url"] or "//").split("//")[1].split("/")[0].split(":")[0].lower() for row in (left, right)]
    sources = [(row["source"] or "").strip() for row in (left, right)]
    titles = [set(words(row["title"] or "")) for row in (left, right)]
    dates = [row["date"] and date.fromisoformat(row["date"]) for row in (left, right)]
    return {
        "title": len(titles[0] & titles[1]) / len(titles[0] | titles[1]) if all(titles) else 0.0,
        "same_host": float(all(hosts) and hosts[0] == hosts[1]),
        "other_host": float(all(hosts) and hosts[0] != hosts[1]),
        "same_source": float(all(sources) and sources[0] == sources[1]),
        "other_source": float(all(sources) and sources[0] != sources[1]),
        "days": 1 / (1 + abs((dates[0] - dates[1]).days) / 30) if all(dates) else 0.0,
    }


def fields_of(rows: list[dict[str, Any]]) -> Fields:
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in ("title", "url", "source")})
    return Fields.of(set(FIELDS.values()), table, days_of([row["date"] for row in rows]))


def compared(rows: list[dict[str, Any]], pairs: list[tuple[int, int]]) -> np.ndarray:
    tokens = tokenise(pa.array([row["text"] for row in rows], pa.large_string()))
    return compare_pairs(np.array(pairs, np.int64), WordsInMemory(tokens, fields_of(rows)))


def every_pair(count: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(count) for b in range(a)]


def test_fields_are_compared_as_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roughly.cluster.comparisons._PAIRS", 50)
    rows = notices(30)
    pairs = every_pair(len(rows))
    want = [list(by_definition(rows[a], rows[b]).values()) for a, b in pairs]
    found = compared(rows, pairs)
    np.testing.assert_allclose(found[:, -len(FIELDS) :], want, rtol=0, atol=1e-12)
    assert list(COMPARISONS)[-len(FIELDS) :] == list(FIELDS) and np.array(want).mean(axis=0).min() > 0
    tokens = tokenise(pa.array([row["text"] for row in rows], pa.large_string()))
    plain = compare_pairs(np.array(pairs, np.int64), WordsInMemory(tokens))
    assert (plain[:, : -len(FIELDS)] == found[:, : -len(FIELDS)]).all() and not plain[:, -len(FIELDS) :].any()


def test_fields_survive_being_packed_taken_and_joined() -> None:
    fields = fields_of(notices(20))
    first, rest = fields.take(np.arange(3, 9)), fields.take(np.arange(9, 20))
    for one in (Fields.unpacked(*fields.take(np.arange(3, 20)).packed()), Fields.joined([first, rest])):
        want = fields.take(np.arange(3, 20))
        assert (one.known == want.known).all() and (one.titles.values == want.titles.values).all()
        assert (one.titles.offsets == want.titles.offsets).all()
    digests = np.zeros((20, 2), np.uint64)
    mixed = {tuple(row) for row in fields.mixed(digests).tolist()}
    assert len(mixed) == len({(tuple(k), tuple(sorted(words(r["title"] or "")))) for k, r in zip(
        fields.known.tolist(), notices(20), strict=True)})  # fmt: skip


@pytest.mark.parametrize("verdict", [WEEK, HOST, ALL])
@pytest.mark.parametrize("cluster", ["star", "components"])
def test_a_run_finds_what_the_verdict_accepts(verdict: str, cluster: str) -> None:
    """Of all pairs; equal texts whose fields are equal too are one document."""
    rows = notices(80)
    pairs = every_pair(len(rows))
    accepted = Verdict.parse(verdict).accepts(compared(rows, pairs))
    columns = [{"url": 0, "source": 1, "date": 2}[name] for name in Verdict.parse(verdict).fields - {"title"}]
    fields = fields_of(rows)

    def fingerprint(number: int) -> tuple[Any, ...]:
        title = sorted(set(words(rows[number]["title"] or ""))) if "title" in verdict else []
        return rows[number]["text"], *fields.known[number, columns].tolist(), *title

    want = {
        frozenset((rows[a]["id"], rows[b]["id"]))
        for (a, b), same in zip(pairs, accepted, strict=True)
        if fingerprint(a) == fingerprint(b)
        or (same and roughly.resemblance(rows[a]["text"], rows[b]["text"], shingle_size=1) >= 0.5)
    }
    result = roughly.dedupe(rows, pairs="all", threads=2, verdict=verdict, cluster=cluster, **SETTINGS)
    found = result.pairs.to_pylist()
    assert {frozenset((row["left_id"], row["right_id"])) for row in found} == want
    apart = [(a, b) for a, b in pairs if rows[a]["text"] == rows[b]["text"]]
    assert any(frozenset((rows[a]["id"], rows[b]["id"])) not in want for a, b in apart), "equal texts stay apart"
    adds = {f"adds_{name}" for name in Verdict.parse(verdict).names}
    assert adds == {name for name in found[0] if name.startswith("adds_")}
    documents = {row["doc_id"]: row for row in result.documents.to_pylist()}
    assert all(row["kept"] or frozenset((name, row["kept_id"])) in want for name, row in documents.items())
    kept = {name for name, row in documents.items() if row["kept"]}
    assert 10 < len(kept) < len(rows) and not any(pair <= kept for pair in want)
    shuffled = random.Random(1).sample(rows, len(rows))
    again = roughly.dedupe(shuffled, threads=1, verdict=verdict, cluster=cluster, **SETTINGS)
    assert again.documents.equals(roughly.dedupe(rows, verdict=verdict, cluster=cluster, **SETTINGS).documents)


def test_a_template_is_a_duplicate_within_a_week_or_on_its_host() -> None:
    dated = [
        {"id": day, "text": "the library is closed today", "date": f"2024-03-{day}", "url": f"http://{host}.example/"}
        for day, host in (("01", "a"), ("07", "b"), ("20", "a"))
    ]

    def kept(verdict: str) -> list[str]:
        found = roughly.dedupe(dated, verdict=verdict, **SETTINGS).documents.to_pylist()
        return [row["doc_id"] for row in found if row["kept"]]

    assert kept(WEEK) == ["01", "20"] and kept(HOST) == ["01", "07"]
    assert kept("probability=0.5 prior=-7 words=8/0") == ["01"], "without fields equal texts are one document"


@pytest.mark.parametrize(
    ("verdict", "dropped", "message"),
    [
        (WEEK, "date", "compares days, and no document has a date that can be read; name the column with date_column"),
        (HOST, "url", "compares same_host, and no document has a url"),
        (ALL, "title", "compares title, and no document has a title"),
    ],
)
def test_what_no_document_has_is_refused(verdict: str, dropped: str, message: str, tmp_path: Path) -> None:
    rows = [{name: value for name, value in row.items() if name != dropped} for row in notices(10)]
    with pytest.raises(InputError, match=message):
        roughly.dedupe(rows, verdict=verdict, **SETTINGS)
    source, settings = tmp_path / "a.jsonl", tmp_path / "a.toml"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings.write_text(f'threshold = 0.5\nverdict = "{verdict}"\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["dedupe", str(source), "-o", str(tmp_path / "out"), "--settings", str(settings)])
    assert done.exit_code and f"--{dropped}-column" in str(done.exception)


def test_the_weights_of_fields_leave_the_implied_resemblance_a_lower_bound() -> None:
    rows = notices(60)
    comparisons = compared(rows, every_pair(len(rows)))
    verdict = Verdict.parse("probability=0.5 prior=-9 words=6/0 title=1/1 same_host=1/0 days=1/0")
    accepted = verdict.accepts(comparisons)
    assert 0.8 < verdict.implied(1) <= comparisons[accepted, 0].min() and accepted.sum() > 10
    assert verdict.implied(5) == 0


def test_a_date_that_is_not_read_is_unknown() -> None:
    rows = [{"id": n, "text": "one two three four", "date": d} for n, d in enumerate(["soon", "2024-01-01", "soon"])]
    found = roughly.dedupe(rows, verdict="probability=0.5 prior=-7 words=6/0 days=2/0", **SETTINGS).documents
    assert [row["kept_id"] for row in found.to_pylist()] == ["0", "1", "0"], "both unknown and equal: one document"
    with pytest.raises(InputError, match="no document has a date"):
        roughly.dedupe([row | {"date": "soon"} for row in rows], verdict=WEEK, **SETTINGS)


def test_the_reasons_of_a_pair_are_those_of_the_run(tmp_path: Path) -> None:
    rows = notices(30)
    settings = Settings.gather(SETTINGS, {"verdict": ALL})
    by_id = {row["id"]: row for row in rows}
    pairs = [
        row
        for row in roughly.dedupe(rows, pairs="all", verdict=ALL, **SETTINGS).pairs.to_pylist()
        if row["probability"] is not None
    ]
    for pair in pairs:
        left, right = by_id[pair["left_id"]], by_id[pair["right_id"]]
        reasons = explain_verdict(left["text"], right["text"], settings, (left, right))
        assert reasons.probability == pytest.approx(pair["probability"]) and reasons.same
        assert all(pair[f"adds_{one.comparison}"] == pytest.approx(one.adds, abs=1e-5) for one in reasons.reasons)
    assert len(pairs) > 10 and "unknown" not in reasons.to_dict()


def test_two_files_have_no_fields(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'threshold = 0.5\nverdict = "{ALL}"\n', encoding="utf-8")
    for name in "ab":
        (tmp_path / name).write_text("the library is closed today", encoding="utf-8")
    given = ["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--settings", str(tmp_path / "a.toml")]
    shown = CliRunner().invoke(app, given).stdout
    assert "have no title, address, source or date: 0 for title, same_host, other_source, days" in shown
    found = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)["verdict"]
    assert found["unknown"] == ["title", "same_host", "other_source", "days"]
    assert {one["value"] for one in found["reasons"] if one["comparison"] in FIELDS} == {0}


def test_equal_texts_on_other_days_are_not_called_other_words() -> None:
    rows = [{"text": "the same old story about a bridge", "date": day} for day in ("2024-01-01", "2024-01-03")]
    found = roughly.dedupe(rows, threshold=0.3, verdict="probability=0.5 prior=-4 shingles=4/0 days=6/0")
    counts = found.summary["counts"]
    assert counts["removed"] == 1 and counts["shingle_equivalent"] == 0
