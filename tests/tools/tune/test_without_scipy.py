"""scipy (148 MB) is no part of the plain install: learned verdicts and some of the papers' experiments need it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from scipy.stats import t

import roughly
from roughly.errors import SettingsError
from roughly.papers.cosine_truth import term_matrix
from roughly.text.canonical import tokenise
from roughly.tools.tune.selection import student_quantile

SOURCES = Path(roughly.__file__).parent


def test_what_needs_scipy_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(SettingsError, match=r"needs scipy; install it with pip install 'roughly\[tune\]'"):
        roughly.tune(["one fine day"], learn=True, label_column="set")
    with pytest.raises(SettingsError, match=r"needs scipy; install it with pip install 'roughly\[lab\]'"):
        term_matrix(tokenise(pa.array(["one fine day"], pa.large_string())))


def test_nothing_else_needs_scipy() -> None:
    using = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if re.search(r"^\s*(from|import) scipy", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert using == {"papers/cosine_truth.py", "tools/tune/logistic.py"}


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30, 999])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_quantiles_are_those_of_scipy(level: float, freedom: int) -> None:
    assert student_quantile(level, freedom) == pytest.approx(t.ppf((1 + level) / 2, freedom), rel=1e-11)
