"""The benchmarks of scale do what they say, on a few documents."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from benchmarks import kills, scale, skew

POLICIES = Path(__file__).resolve().parents[2] / "examples" / "policies.jsonl.gz"


def test_killed_commands_end_like_undisturbed_ones(tmp_path: Path) -> None:
    names = [*kills.COMMANDS, kills.SERVE]
    found = kills.kill(names, [str(POLICIES)], tmp_path, kills.Limits(len(names), workers=2, seed=3))["commands"]
    for name in names:
        assert found[name]["kills"] >= 1
        assert found[name]["identical"] == found[name]["rounds"] >= 1, found[name]["problems"]
    assert kills.table(found).count("\n") == len(names) + 2


@pytest.mark.parametrize("case", ["copies", "boilerplate", "empty"])
def test_collections_made_to_hurt_come_out_right(case: str) -> None:
    row = skew.measure(case, 300)
    assert row["right"], row
    assert row["documents"] == 300
    assert row["comparisons"] <= 300 * 299 / 2


def test_exponents_are_those_of_the_figures() -> None:
    rows = [
        {
            "documents": n,
            "seconds": 0.001 * n**1.1,
            "cpu": 0.001 * n**1.1,
            "peak": 5.0 * n**0.5,
            "disk": 7.0 * n,
            "failure": None,
        }
        for n in (1000, 10_000, 100_000)
    ]
    found = scale.exponents(rows)
    assert math.isclose(found["seconds"], 1.1) and math.isclose(found["peak"], 0.5) and math.isclose(found["disk"], 1)
    assert scale.exponents(rows[:1]) == {}
