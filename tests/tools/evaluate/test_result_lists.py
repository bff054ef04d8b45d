"""Judging by result list and duplicate set: the tables of Conrad 2003, made again from lists with their counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import roughly
from commands import run_roughly
from roughly.errors import InputError, InputMissing, SettingsError
from roughly.tools.evaluate.trec_runs import read_lists
from roughly.tools.metrics.set_agreement import SetAgreement, score_lists

LENGTH = 20


def write_round(folder: Path, sizes: Sequence[int], with_sets: int, missed: int, over: int) -> tuple[Path, Path, Path]:
    """Fifty lists of twenty documents, so many of which have true sets of these sizes: the lists, what people said, and
    what was found."""
    lists = [[f"q{query}d{place}" for place in range(LENGTH)] for query in range(50)]
    taken, true, found = [0] * 50, [], []
    for number, size in enumerate(sizes):
        query = number % with_sets
        own = lists[query][taken[query] : taken[query] + size]
        taken[query] += size
        true.append(own)
        if number >= missed:
            found.append(own)
    found += [lists[49 - number][-2:] for number in range(over)]
    files = folder / "lists.run", folder / "sets.csv", folder / "found.csv"
    files[0].write_text(
        "".join(
            f"{query} Q0 {name} {rank} {LENGTH - rank} win\n"
            for query, own in enumerate(lists)
            for rank, name in enumerate(own)
        )
    )
    for path, sets in zip(files[1:], (true, found), strict=True):
        group = {name: number for number, own in enumerate(sets) for name in own}
        names = [name for own in lists for name in own]
        path.write_text("id,cluster\n" + "".join(f"{name},{group.get(name, name)}\n" for name in names))
    return files


@pytest.mark.parametrize(
    ("sizes", "with_sets", "agreement", "missed", "over"),
    [({2: 68, 3: 12, 4: 8}, 41, 86, 2, 3), ({2: 64, 3: 12, 4: 2, 5: 3, 6: 1}, 44, 79, 3, 8)],
    ids=["training", "test"],
)
def test_the_tables_of_the_paper(
    tmp_path: Path, sizes: dict[int, int], with_sets: int, agreement: int, missed: int, over: int
) -> None:
    """Conrad 2003, Tables 6, 7 and 8; footnote 9 has 86/88 as recall and 86/89 as precision."""
    each = [size for size, many in sizes.items() for _ in range(many)]
    lists, true, found = write_round(tmp_path, each, with_sets, missed, over)
    own = roughly.evaluate(found, true, lists=lists).lists
    assert own is not None and (len(own.lists), own.with_sets) == (50, with_sets)
    assert dict(own.sizes) == sizes
    assert own.total == SetAgreement(agreement, 0, missed, over)
    assert own.total.recall == agreement / sum(sizes.values())
    assert own.total.precision == agreement / (agreement + over)


def test_sets_in_part_and_means_over_lists() -> None:
    """By hand: list a has the sets {0, 1, 2} and {3, 4}, of which {0, 1} is found, and {5, 6}, which is none; in list b
    {0, 1} is found whole, since 2 is not in it; list c has nothing."""
    true, found = np.array([0, 0, 0, 1, 1, 2, 3, 4]), np.array([0, 0, 1, 2, 3, 4, 4, 5])
    lists = {"a": np.arange(7), "b": np.array([1, 0, 7]), "c": np.array([3, 5])}
    scores = score_lists(lists, found, true)
    assert scores.lists["a"] == SetAgreement(0, 1, 1, 1) and scores.lists["b"] == SetAgreement(1, 0, 0, 0)
    assert scores.lists["c"] == SetAgreement(0, 0, 0, 0) and scores.lists["c"].recall is None
    assert (scores.total.precision, scores.total.recall) == (2 / 3, 2 / 3)
    assert (scores.mean("precision"), scores.mean("recall")) == (3 / 4, 3 / 4)
    assert scores.to_dict()["sizes"] == {"2": 2, "3": 1} and scores.with_sets == 2


def test_the_command_prints_lists_and_sets(tmp_path: Path) -> None:
    lists, true, found = write_round(tmp_path, [2] * 10 + [3], 5, 1, 2)
    told = run_roughly("evaluate", found, "--labels", true, "--lists", lists)
    assert told.returncode == 0, told.stderr
    assert "lists       50; 5 of them have duplicate sets" in told.stdout
    assert "sets        11 to find: 10 of 2, 1 of 3 documents" in told.stdout
    assert "10 found, 0 in part, 1 missed; 2 found that are none" in told.stdout
    assert "by set      precision 0.8333, recall 0.9091" in told.stdout
    values = json.loads(
        run_roughly("evaluate", found, "--labels", true, "--lists", lists, "--list-length", 2, "--json").stdout
    )
    assert values["lists"]["total"]["sets"] == 5  # the first two documents of five lists


def test_pairs_make_sets_and_unknown_results_are_refused(tmp_path: Path) -> None:
    (tmp_path / "true.csv").write_text("left_id,right_id\na,b\nb,c\n")
    (tmp_path / "found.csv").write_text("left_id,right_id\na,b\n")
    (tmp_path / "l.run").write_text("1 Q0 a 1 0.5 x\n1 Q0 b 2 0.9 x\n1 Q0 c 3 0.7 x\n")
    run, labels = tmp_path / "found.csv", tmp_path / "true.csv"
    found = roughly.evaluate(run, labels, by="pairs", lists=tmp_path / "l.run").lists
    assert found is not None and found.total == SetAgreement(0, 1, 0, 0)
    best = roughly.evaluate(run, labels, by="pairs", lists=tmp_path / "l.run", list_length=2).lists
    assert best is not None and best.total == SetAgreement(0, 0, 1, 0)  # b and c, by score
    (tmp_path / "l.run").write_text("1 Q0 a 1 0.5 x\n1 Q0 z 2 0.4 x\n")
    with pytest.raises(InputError, match="z"):
        roughly.evaluate(run, labels, by="pairs", lists=tmp_path / "l.run")
    told = roughly.evaluate(run, labels, by="pairs", lists=tmp_path / "l.run", ignore_unknown=True)
    assert told.unknown == ["z"]


def test_lists_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "l.run"
    with pytest.raises(InputMissing, match=r"l\.run does not exist; name a file of result lists"):
        read_lists(path, 20)
    for text, told in (
        ("1 Q0 a 1\n", "line 1: 4 fields; it has six"),
        ("\n1 Q0 a 1 high x\n", "line 2: score 'high' is not a number"),
        ("1 Q0 a 1 nan x\n", "line 1: score 'nan' is not a number"),
        ("1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n", "line 2: topic 1 has a twice"),
        ("\n", "has no result lists"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=told):
            read_lists(path, 20)
    with pytest.raises(SettingsError, match="list_length must be at least 2"):
        roughly.evaluate("run", "labels", list_length=1)
