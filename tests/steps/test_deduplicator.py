"""`roughly.Deduplicator`: one callable for pipelines, with and without a memory."""

from __future__ import annotations

import pickle
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import roughly
from roughly import Deduplicator, Index
from roughly.errors import SettingsError

ROSE = "A rose is a rose is a rose, said Gertrude Stein, and she should know, since she wrote it more than once."
OTHER = "Something else entirely, with nothing in common but the language."
TEXTS = [OTHER, ROSE, ROSE.upper(), "A third text, short."]
KEPT = [OTHER, ROSE, "A third text, short."]


def test_rows_in_and_kept_rows_out() -> None:
    deduplicate = Deduplicator(keep="first")
    assert deduplicate(TEXTS) == KEPT and deduplicate.mask(TEXTS).tolist() == [True, True, False, True]
    frame = pd.DataFrame({"text": TEXTS, "n": range(4)}, index=list("abcd"))
    assert deduplicate(frame).index.tolist() == ["a", "b", "d"]
    picture = object()  # something that Arrow has no type for
    batch = {"text": TEXTS, "n": [0, 1, 2, 3], "picture": [picture] * 4}
    assert deduplicate(batch) == {"text": KEPT, "n": [0, 1, 3], "picture": [picture] * 3}
    assert repr(deduplicate) == "Deduplicator(keep='first')"


@pytest.mark.slow
def test_with_an_archive_it_remembers(tmp_path: Path) -> None:
    for archive in (":memory:", tmp_path / "archive.db", Index(threshold=0.7)):
        deduplicate = Deduplicator(archive=archive, threshold=0.7, keep="first")
        assert deduplicate(TEXTS[:2]) == TEXTS[:2]
        assert deduplicate(TEXTS) == TEXTS[3:]
        assert deduplicate([*TEXTS, "new"]) == ["new"] and deduplicate(TEXTS) == []
    with Index(tmp_path / "archive.db") as index:
        assert len(index) == 4 and index.settings.threshold == 0.7
    assert Deduplicator(archive=tmp_path / "archive.db")(TEXTS) == []  # with the settings of the archive
    with pytest.raises(SettingsError, match="was made with threshold"):
        Deduplicator(archive=tmp_path / "archive.db", threshold=0.9)(TEXTS)


def test_named_rows_and_columns_are_remembered_as_they_are(tmp_path: Path) -> None:
    rows = [{"key": f"k{n}", "body": text} for n, text in enumerate(TEXTS)]
    deduplicate = Deduplicator(archive=tmp_path / "a.db", text_column="body", id_column="key", keep="first")
    assert [row["key"] for row in deduplicate(rows)] == ["k0", "k1", "k3"]
    with Index(tmp_path / "a.db") as index:
        assert list(index) == ["k0", "k1", "k3"] and index.text("k1") == ROSE


def test_it_can_be_sent_to_other_processes(tmp_path: Path) -> None:
    stored = Deduplicator(archive=str(tmp_path / "a.db"), keep="first")
    assert stored(TEXTS) == KEPT
    assert pickle.loads(pickle.dumps(stored))(TEXTS) == []
    held = Deduplicator(archive=":memory:")
    pickle.dumps(held)  # nothing is in it yet
    held(TEXTS)
    with pytest.raises(SettingsError, match="cannot be sent to another process"):
        pickle.dumps(held)


def test_as_a_step_of_scikit_learn() -> None:
    found = make_pipeline(Deduplicator(keep="first"), TfidfVectorizer()).fit_transform(TEXTS)
    assert found.shape[0] == 3
    copy = clone(Deduplicator(threshold=0.7))
    assert copy.get_params() == {"archive": None, "threshold": 0.7} and copy.set_params(threshold=0.9).fit([]) is copy
    array = np.array(TEXTS)
    rows, labels = Deduplicator(keep="first").fit_resample(array, np.array([1, 2, 3, 4]))
    assert isinstance(rows, np.ndarray) and rows.tolist() == KEPT and labels.tolist() == [1, 2, 4]


@pytest.mark.slow
def test_as_a_map_of_datasets(tmp_path: Path) -> None:
    dataset = datasets.Dataset.from_dict({"text": TEXTS, "n": range(4)})
    whole = dataset.map(Deduplicator(keep="first"), batched=True, batch_size=None)
    assert list(whole["n"]) == [0, 1, 3]
    archive = tmp_path / "a.db"
    batches = dataset.map(Deduplicator(archive=archive, keep="first"), batched=True, batch_size=2)
    assert list(batches["n"]) == [0, 1, 3] and len(Index(archive)) == 3
    stream = dataset.to_iterable_dataset().map(Deduplicator(archive=":memory:"), batched=True, batch_size=1)
    assert [row["n"] for row in stream] == [0, 1, 3]


def test_a_typo_is_seen_at_the_first_call() -> None:
    with pytest.raises(roughly.RoughlyError, match="Did you mean threshold"):
        Deduplicator(treshold=0.8)(TEXTS)  # type: ignore[call-arg]
