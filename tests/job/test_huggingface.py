"""Hugging Face datasets: read from their Arrow tables, and given back as they were."""

from __future__ import annotations

import datasets
import pytest

import roughly

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."
OTHER = "Something else entirely, with nothing in common but the language."
ROWS = [{"text": OTHER, "n": 0}, {"text": ROSE, "n": 1}, {"text": ROSE.upper(), "n": 2}, {"text": "A third.", "n": 3}]


def test_a_dataset_comes_back_as_a_dataset() -> None:
    dataset = datasets.Dataset.from_list(ROWS)
    kept = roughly.dedupe(dataset, keep="first").filter(dataset)
    assert isinstance(kept, datasets.Dataset) and list(kept["n"]) == [0, 1, 3]
    backwards = dataset.select([3, 2, 1, 0])  # a selection of rows, which the table below it does not have
    assert list(roughly.dedupe(backwards, keep="first").filter(backwards)["n"]) == [3, 2, 0]
    named = dataset.add_column("id", ["w", "x", "y", "z"])
    result = roughly.dedupe(named, keep="first")
    assert result.kept_ids == ["w", "x", "z"] and list(result.filter(named.select([2, 3]))["n"]) == [3]


def test_a_streaming_dataset_can_be_read() -> None:
    stream = datasets.Dataset.from_list(ROWS).to_iterable_dataset()
    assert roughly.dedupe(stream, keep="first").kept_ids == ["0", "1", "3"]
    with pytest.raises(roughly.RoughlyError, match="rows cannot be selected"):
        roughly.dedupe(stream).filter(stream)


@pytest.mark.parametrize("named", [False, True])
def test_splits_are_one_collection(named: bool) -> None:
    rows = [{"id": row["n"], **row} for row in ROWS] if named else ROWS
    train, test = datasets.Dataset.from_list(rows), datasets.Dataset.from_list(rows[:2])  # the same ids
    splits = datasets.DatasetDict(train=train, test=test)
    result = roughly.dedupe(splits, keep="source:test,first")
    assert result.kept_ids == ["test/0", "test/1", "train/3"]
    kept = result.filter(splits)
    assert (
        isinstance(kept, datasets.DatasetDict) and list(kept["train"]["n"]) == [3] and list(kept["test"]["n"]) == [0, 1]
    )
    assert sorted(path.name for path in (result.folder / "kept").iterdir()) == ["test.parquet", "train.parquet"]
