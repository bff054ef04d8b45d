"""Dates and keep rules from end to end: what a run keeps, what it says of dates, and that an index agrees."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

import roughly
from commands import run_roughly
from date_texts import (
    ALL,
    DATE_FORMATS,
    FORMS,
    dated_documents,
    documents_for_rules,
    kept_of_pairs,
    some_dates,
    timestamps_of_run,
    with_timestamps,
)
from roughly import Index, Settings, dates, keep_rules, measures
from roughly.engines.local.run_browser import MONTHS, Browsing
from roughly.index.matching import rank_order
from roughly.index.storage.schema import DOCUMENTS
from roughly.keep_rules import KeepRule, SortKey
from roughly.verify import kinds

Row = dict[str, Any]


def groups_of(rows: list[Row]) -> dict[str, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row["doc_id"].split("-")[1]].append(row)
    return groups


def pairs_of(table: Any) -> set[tuple[str, str]]:
    return {(row["left_id"], row["right_id"]) for row in table.to_pylist()}


@pytest.mark.parametrize("rule", ["newest", "oldest"])
def test_the_newest_or_the_oldest_is_kept_whatever_the_form(rule: str) -> None:
    rows = dated_documents(1)
    assert {row["date"] for row in rows} == set(ALL)
    kept = set(roughly.dedupe(rows, keep=rule).kept_ids)
    sign = -1 if rule == "newest" else 1

    def order(row: Row) -> tuple[bool, int, str]:
        timestamp = dates.timestamp_of(row["date"])
        return timestamp is None, sign * (timestamp or 0), row["doc_id"]

    assert kept == {min(group, key=order)["doc_id"] for group in groups_of(rows).values()}


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "minhash", "measure": "containment", "threshold": 0.7, "keep": "newest"},
        {"method": "minhash", "measure": "containment", "threshold": 0.7, "keep": "oldest,last"},
        {"method": "term-vector", "dates": 400, "shared": 12, "min_terms": 5, "keep": "newest"},
    ],
    ids=str,
)
def test_an_index_judges_dates_as_a_run_does(asked: Row, tmp_path: Path) -> None:
    rows = dated_documents(2)
    result = roughly.dedupe(rows, pairs="all", **asked)
    expected = pairs_of(result.pairs)
    assert expected
    with Index.create(tmp_path / "a.db", Settings.gather(asked)) as index:
        index.add(rows, at_once=50)
        found = pairs_of(index.pairs())
    assert found == expected
    assert kept_of_pairs(found, [row["doc_id"] for row in rows]) == set(result.kept_ids)


@pytest.mark.parametrize("rule", keep_rules.rule_names())
def test_every_keep_rule_keeps_the_same_in_an_index(rule: str, tmp_path: Path) -> None:
    rows = documents_for_rules(6, groups=10)
    asked = {"measure": "containment", "threshold": 0.7, "keep": rule}
    kept = set(roughly.dedupe(rows, **asked).kept_ids)
    assert len(kept) == len(groups_of(rows))
    with Index.create(tmp_path / "a.db", Settings.gather(asked)) as index:
        index.add(rows, at_once=11)
        assert kept_of_pairs(pairs_of(index.pairs()), [row["doc_id"] for row in rows]) == kept


DATES = st.one_of(
    st.none(),
    st.sampled_from(ALL),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30),
    st.from_regex(
        r"[12]\d{3}-[01]\d-[0-3]\d[T ][012]\d:[0-5]\d:[0-6]\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?", fullmatch=True
    ),
    st.from_regex(r"\A[0-3]?\d[/.-][01]?\d[/.-]([12]\d)?\d\d\Z"),
    st.from_regex(r"\A\d{4,19}\Z"),
)


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.lists(DATES, max_size=40), st.sampled_from(DATE_FORMATS))
def test_a_run_and_an_index_read_the_same_timestamps(seed: int, more: list[str | None], form: str | None) -> None:
    found = [*some_dates(seed, 90), *more]
    rows = [{"doc_id": str(n), "text": f"text {n}", "date": date} for n, date in enumerate(found)]
    asked = {"method": "identical", "date_format": form}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        with_timestamps(patched)
        roughly.dedupe(rows, output=Path(folder, "out"), **asked)
        batch = timestamps_of_run(Path(folder, "out"))
        with Index.create(Path(folder, "a.db"), Settings.gather(asked)) as index:
            index.add(rows)
            with index.read_transaction() as connection:
                stored = connection.execute(select(*rank_order.COLUMNS)).all()
                days = dict(connection.execute(select(DOCUMENTS.c.doc_id, DOCUMENTS.c.day)).all())
        ranked = rank_order.documents_of(stored, defaultdict(int), form)
    assert {one.doc_id: one.published for listed in ranked.values() for one in listed} == batch
    assert {name: dates.NO_DAY if day is None else day for name, day in days.items()} == {
        row["doc_id"]: dates.day_of(row["date"], form) for row in rows
    }
    assert batch == {row["doc_id"]: dates.timestamp_of(row["date"], form) for row in rows}
    assert sum(read is not None for read in batch.values()) > 50


def test_a_run_tells_what_it_did_not_read(tmp_path: Path) -> None:
    found = ["2020-03-05", "03/04/2020", None, "", "5 Apr 0093", "2999-01-01", "soon", "later", "never"]
    rows = [
        {"id": str(n), "text": f"text number {n} is not like any other {n}", "date": d} for n, d in enumerate(found)
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run_roughly("dedupe", path, "-o", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "run.json").read_text())["dates"]
    assert {name: told[name] for name in ("read", "unread", "missing", "suspicious")} == {
        "read": 3, "unread": 4, "missing": 2, "suspicious": 2,
    }  # fmt: skip
    assert [one["date"] for one in told["unread_examples"]] == ["03/04/2020", "soon", "later"]
    assert told["suspicious_examples"][0] == {
        "date": "5 Apr 0093", "doc_id": "4", "file": str(path), "record": "line 5",
    }  # fmt: skip
    assert "dates       4 unread" in done.stdout and f"'soon' ({path}, line 7)" in done.stdout
    assert "dates       2 before the year 1000 or after next year" in done.stdout
    page = (tmp_path / "out" / "report.html").read_text()
    assert "4\u00a0dates could not be read" in page and "03/04/2020" in page
    run_roughly("dedupe", path, "-o", tmp_path / "said", "--date-format", "%d/%m/%Y")
    assert json.loads((tmp_path / "said" / "run.json").read_text())["dates"]["unread"] == 3
    run_roughly("index", "create", tmp_path / "a.db")
    added = run_roughly("index", "add", tmp_path / "a.db", path)
    assert "dates       4 unread, such as '03/04/2020' " in added.stdout


def test_the_months_of_a_run_are_those_of_its_dates(tmp_path: Path) -> None:
    rows = dated_documents(3)
    roughly.dedupe(rows, output=tmp_path / "out")
    browsing = Browsing(tmp_path / "out")
    months: dict[str, int] = defaultdict(int)
    for row in rows:
        if row["date"] in FORMS:
            months[FORMS[row["date"]][:7]] += 1
    assert {month: documents for month, documents, _ in browsing.tuples(MONTHS)} == months
    browsing.close()


@pytest.fixture
def roundest() -> Iterator[str]:
    """A keep rule made for a test: the alphabetically last source, then the longest url."""
    keep_rules.register(
        KeepRule("roundest", (SortKey("source", descending=True), SortKey("url", True, length=True)), "made for a test")
    )
    yield "roundest"
    del keep_rules.RULES["roundest"]


def test_a_keep_rule_is_one_entry(roundest: str, tmp_path: Path) -> None:
    rows = dated_documents(4, groups=20)
    for n, row in enumerate(rows):
        row |= {"source": "ab"[n % 2], "url": "http://a.org/" + "x" * (n % 5) if n % 7 else None}
    asked = {"measure": "containment", "threshold": 0.7, "keep": roundest}
    result = roughly.dedupe(rows, pairs="all", **asked)

    def order(row: Row) -> tuple[int, bool, int, str]:
        return -ord(row["source"]), row["url"] is None, -len(row["url"] or ""), row["doc_id"]

    assert set(result.kept_ids) == {min(group, key=order)["doc_id"] for group in groups_of(rows).values()}
    with Index.create(tmp_path / "a.db", Settings.gather(asked)) as index:
        index.add(rows)
        assert pairs_of(index.pairs()) == pairs_of(result.pairs)
    with pytest.raises(roughly.errors.SettingsError, match=r"rules are longest, .*, source:a>b, roundest"):
        Settings(keep=("fairest",))


def test_a_kind_is_one_entry() -> None:
    before = list(kinds.TABLE), list(kinds.KINDS), list(kinds.RULES)
    kinds.register(kinds.Kind("tiny", "A is one word"), lambda o: o.shorter == 1)
    try:
        assert kinds.kind_of("one", "one two three four") == "tiny" and kinds.kind_of("a b c", "a b c") == "exact"
        result = roughly.dedupe(["one", "one two"], threshold=0.01, shingle_size=1, keep="longest")
        assert result.documents.to_pylist()[0]["kind"] == "tiny"
    finally:
        kinds.TABLE[:], kinds.KINDS[:], kinds.RULES[:] = before


def test_measures_are_said_once() -> None:
    from typing import get_args, get_type_hints

    from roughly.kernels.judging import MEASURES as CODES
    from roughly.methods.method import Judge
    from roughly.service.request_models import Measure

    assert get_args(Measure) == measures.FOR_QUERY
    assert set(CODES) <= set(measures.MEASURES)
    assert set(get_args(get_type_hints(Judge)["measure"])) <= set(measures.MEASURES)
