"""An edit of the input that keeps size and time of the file is noticed wherever texts are read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import roughly
from every_format import rewrite, texts, write
from roughly.errors import InputError
from roughly.tools.passages.passage_search import PassageSearch

BEFORE, AFTER = (texts("delta", "bravo", word) for word in ("alpha", "gamma"))


@pytest.mark.parametrize("format", ["jsonl", "parquet", "text"])
def test_passages_notice_it(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a document without a repeated passage too, which is only copied."""
    path = write(format, tmp_path, BEFORE)
    original = PassageSearch._copy

    def edit(self: PassageSearch, *given: Any) -> None:
        rewrite(format, tmp_path, AFTER)
        original(self, *given)

    monkeypatch.setattr(PassageSearch, "_copy", edit)
    with pytest.raises(InputError, match="changed while the run was reading it; run again"):
        roughly.passages(path, output=tmp_path / "out", do="remove")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["jsonl", "parquet", "text"])
def test_apply_notices_it(format: str, tmp_path: Path) -> None:
    path = write(format, tmp_path, [*BEFORE, BEFORE[0]])
    result = roughly.dedupe(path, output=tmp_path / "out")
    with roughly.Decisions(tmp_path / "out") as decisions:
        decisions.keep(result.removed.to_list()[0]["doc_id"])
        decisions.apply(tmp_path / "same")
        rewrite(format, tmp_path, [*AFTER, BEFORE[0]])
        with pytest.raises(InputError, match="changed since the run; restore it, or say where it is with --input"):
            decisions.apply(tmp_path / "other")
    assert (tmp_path / "same").exists() and not (tmp_path / "other").exists()


def test_apply_reads_runs_of_earlier_versions_without_digests(tmp_path: Path) -> None:
    path = write("jsonl", tmp_path, [*BEFORE, BEFORE[0]])
    result = roughly.dedupe(path, output=tmp_path / "out")
    known = tmp_path / "out" / "known.parquet"
    pq.write_table(pq.read_table(known).drop(["digest"]), known)
    with roughly.Decisions(tmp_path / "out") as decisions:
        decisions.keep(result.removed.to_list()[0]["doc_id"])
        assert decisions.apply(tmp_path / "same").kept == 3
