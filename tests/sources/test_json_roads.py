"""The kernel takes no line that the other readers of JSON lines would refuse or read otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from json_lines import LINES, NUMBERS, ODD
from roughly.kernels.lines import line_ends
from roughly.sources.columns import Columns
from roughly.sources.jsonparse import LineParser
from roughly.sources.part import Parsed

FIELDS = {"text": "text", "doc_id": "id", "title": "title", "source": "source"}


def parser(
    by_field: dict[str, str] = FIELDS, numeric: frozenset[str] = frozenset(), others: tuple[str, ...] = ()
) -> LineParser:
    return LineParser("n.jsonl", "n.jsonl", Columns(by_field, (), others=others), numeric - {*others})


def by_both(parser: LineParser, data: bytes) -> tuple[Parsed, Parsed]:
    ends = line_ends(np.frombuffer(data, np.uint8))
    rows = np.arange(10, 10 + len(ends))
    return parser.parse(data, ends, rows), parser.parse_without_kernel(data, ends, rows)


def assert_same(ours: Parsed, theirs: Parsed) -> None:
    ours.batch.validate(full=True)
    assert ours.batch.to_pylist() == theirs.batch.to_pylist()
    assert ours.batch.schema == theirs.batch.schema
    assert ours.rejects == theirs.rejects


@settings(max_examples=500, deadline=None)
@given(
    st.lists(LINES, min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from([FIELDS, {"text": "text"}, {"text": "text", "doc_id": "id", "url": "id"}, {"text": "x"}]),
    st.sampled_from([frozenset(), frozenset({"id"}), frozenset({"title"})]),
    st.sampled_from([(), ("title",), ("source", "title")]),
)
@pytest.mark.slow
def test_documents_and_rejects_are_those_of_the_other_roads(
    lines: list[bytes],
    ends_with_a_line_feed: bool,
    by_field: dict[str, str],
    numeric: frozenset[str],
    others: tuple[str, ...],
) -> None:
    data = b"\n".join(lines) + b"\n" * ends_with_a_line_feed
    if data:
        assert_same(*by_both(parser(by_field, numeric & set(by_field.values()), others), data))


def written(pairs: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"


@pytest.mark.parametrize("key", ["text", "id", "title", "source", "x"])
@pytest.mark.parametrize("others", [(), ("title",), ("x", "title")])
def test_every_strange_value_among_good_lines(key: str, others: tuple[str, ...]) -> None:
    pairs = {"text": '"t"', "id": '"i"', "title": '"T"'}
    lines = []
    for value in [*NUMBERS, *ODD]:
        lines.append(written((pairs | {key: value}).items()))
        lines.append('{"id": "good", "text": "fine"}')
        lines.append(written([(key, value), *pairs.items()]))
    ours, theirs = by_both(parser(others=others), "\n".join(lines).encode())
    assert ours.batch.num_rows > len(lines) // 3
    assert_same(ours, theirs)


def test_a_column_that_is_both_text_and_id() -> None:
    both = parser({"text": "text", "doc_id": "text"})
    assert_same(*by_both(both, b'{"text": "a"}\n{"text": ""}\n{"text": 5}\n'))


def test_good_lines_do_not_wait_for_the_slow_road(monkeypatch: pytest.MonkeyPatch) -> None:
    """One bad line among many sends that line alone to the other roads."""
    seen: list[int] = []
    slow = LineParser.parse_without_kernel

    def counted(self: LineParser, data: bytes, ends: Any, rows: Any) -> Parsed:
        seen.extend(rows.tolist())
        return slow(self, data, ends, rows)

    monkeypatch.setattr(LineParser, "parse_without_kernel", counted)
    good = [json.dumps({"id": i, "text": "é\n" * i, "x": [1.5, None]}).encode() for i in range(100)]
    data = b"\n".join([*good[:50], b'{"id": "x", "text": 5}', b"", *good[50:]])
    ends = line_ends(np.frombuffer(data, np.uint8))
    parsed = parser().parse(data, ends, np.arange(len(ends)))
    assert seen == [50]
    assert parsed.batch["doc_id"].to_pylist() == [str(i) for i in range(100)]
    assert [reject.record for reject in parsed.rejects] == ["line 51"]


@pytest.mark.parametrize("ascii_only", [True, False])
def test_real_documents(corpora: Path, ascii_only: bool) -> None:
    """Every line of real corpora is taken, and read as the other roads read it."""
    for name in ("newsgroups20", "reuters21578", "package_descriptions_en", "install_guide_html"):
        table = pq.read_table(corpora / f"{name}.parquet").slice(0, 3000)
        records = table.to_pylist()
        data = b"".join(json.dumps(r, ensure_ascii=ascii_only, default=str).encode() + b"\n" for r in records)
        by_field = {"text": "text", "doc_id": "id"} | ({"title": "title"} if "title" in table.column_names else {})
        ours, theirs = by_both(parser(by_field), data)
        assert_same(ours, theirs)
        assert pa.compute.equal(
            ours.batch["text"], table["text"].cast(pa.large_string()).combine_chunks()
        ).true_count == (table.num_rows)
