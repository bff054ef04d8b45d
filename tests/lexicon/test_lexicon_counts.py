"""What is counted: the same as by plain Python, whatever the order, the threads, the batches, the memory."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lexicon_twins import TEXTS, filtered, frequencies, write_texts

from roughly import lexicon
from roughly.errors import InputError, InputMissing, MemoryTooSmall, SettingsError
from roughly.kernels.frequency import look_up
from roughly.lexicon import Lexicon
from roughly.lexicon.counter import MOST_RUNS, Counter, Runs
from roughly.lexicon.format import LexiconFacts
from roughly.lexicon.term_table import add_documents, merged
from roughly.text.canonical import tokenise
from roughly.text.filters import Filters

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def policies() -> list[str]:
    with gzip.open(EXAMPLES / "policies.jsonl.gz", "rt", encoding="utf-8") as stream:
        return [json.loads(line)["text"] for line in stream][:60]


def test_counts_are_those_of_plain_python(policies: list[str]) -> None:
    texts = [*TEXTS, *policies]
    built = lexicon.build(texts)
    assert built.documents == len(texts)
    assert dict(built.terms()) == frequencies(texts)
    assert len(built) == len(frequencies(texts))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="abAB1é\u0301ßΣ東 .-\u0e33ก½", max_size=30), min_size=1, max_size=12))
def test_counts_of_any_texts(texts: list[str]) -> None:
    records = [{"text": text} for text in texts]  # "." alone in a list of strings would be the name of a folder
    assert dict(lexicon.build(records, threads=1).terms()) == frequencies(texts)


def test_looking_up_by_hash_is_looking_up_by_term(policies: list[str]) -> None:
    built, counts = lexicon.build(policies), frequencies(policies)
    terms = [*counts, "nowheretobeseen", "zzz9"]
    found = built.frequencies(tokenise(pa.array(terms)).hashes)
    assert found.dtype == np.uint32
    assert found.tolist() == [counts[term] for term in terms]
    assert built.frequency("PRIVACY") == counts["privacy"] > 0


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_look_up_kernel(data: st.DataObject) -> None:
    some = st.integers(0, 2**64 - 1) | st.integers(2**63, 2**63 + 40)
    counts = data.draw(st.dictionaries(some, st.integers(1, 2**32 - 1), max_size=60))
    wanted = data.draw(st.lists(some | st.sampled_from([0, *counts]), max_size=60))
    hashes = np.array(sorted(counts), np.uint64)
    bits = data.draw(st.integers(1, 7))
    directory = np.searchsorted(hashes, np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits))
    places = np.array([*directory, len(hashes)], np.uint32)
    values = np.array([counts[h] for h in sorted(counts)], np.uint32)
    assert look_up(np.array(wanted, np.uint64), hashes, places, values).tolist() == [counts.get(h, 0) for h in wanted]


def test_looking_up_stays_within_a_wrong_directory() -> None:
    places = np.array([2**32 - 1, 7, 2**32 - 1], np.uint32)
    found = look_up(np.array([1, 2**63], np.uint64), np.array([1], np.uint64), places, np.array([5], np.uint32))
    assert found.tolist() == [0, 0]


def test_the_bytes_do_not_depend_on_order_threads_or_batches(policies: list[str], tmp_path: Path) -> None:
    texts = [*TEXTS, *policies]
    shuffled = random.Random(3).sample(texts, len(texts))
    one = lexicon.build(paths=[write_texts(tmp_path / "one.jsonl", texts)], output=tmp_path / "1.lexicon", threads=1)
    halves = [
        write_texts(tmp_path / "b.jsonl", shuffled[:30]),
        write_texts(tmp_path / "a.jsonl", shuffled[30:]),
    ]
    lexicon.build(paths=halves, output=tmp_path / "2.lexicon", threads=3, batch_size=7)
    assert (tmp_path / "1.lexicon").read_bytes() == (tmp_path / "2.lexicon").read_bytes()
    assert one.fingerprint == lexicon.build(texts).fingerprint


def test_merging_is_building_from_the_union(policies: list[str], tmp_path: Path) -> None:
    texts = [*TEXTS, *policies]
    parts = [texts[:4], texts[4:40], texts[40:]]
    lexicons = [lexicon.build(part) for part in parts]
    whole = lexicon.build(texts, output=tmp_path / "whole.lexicon")
    lexicon.merge(lexicons, output=tmp_path / "merged.lexicon")
    lexicon.merge([lexicons[2], lexicons[1], lexicons[0]], output=tmp_path / "again.lexicon")
    assert (tmp_path / "merged.lexicon").read_bytes() == (tmp_path / "whole.lexicon").read_bytes()
    assert (tmp_path / "again.lexicon").read_bytes() == (tmp_path / "whole.lexicon").read_bytes()
    assert lexicon.merge([whole]).fingerprint == whole.fingerprint


@pytest.mark.parametrize("names", ["", "sw,stem"])
def test_spilling_changes_nothing(policies: list[str], tmp_path: Path, names: str) -> None:
    """A counter that may keep nothing spills after every batch, often enough for spilled files to be merged."""
    texts = (policies * 3)[: 2 * MOST_RUNS + 5]
    runs = Runs(tmp_path, LexiconFacts(documents=0, filters=names))
    counter = Counter(Filters.parse(names), runs, budget=0)
    for text in texts:
        counter.add(pa.array([text]))
    assert 1 < len(runs.paths) < MOST_RUNS
    tables = list(merged([*runs.tables(), counter.drain()], size=500))
    assert len(tables) > 3
    whole = lexicon.build(texts, filters=names)
    assert np.array_equal(np.concatenate([table.hashes for table in tables]), whole.table.hashes)
    assert np.array_equal(np.concatenate([table.counts for table in tables]), whole.table.counts)
    assert b"".join(table.text.tobytes() for table in tables) == whole.table.text.tobytes()


@pytest.mark.parametrize("names", ["stem", "sw,tg5", "tl25,nosc", "sw,tg5,tl25,nosc,stem"])
def test_filters_apply_before_counting(names: str) -> None:
    texts = [text for text in TEXTS if "aaa" not in text]
    built = lexicon.build(texts, filters=names, threads=2)
    kept = [" ".join(filtered(text, names.split(","))) for text in texts]
    assert dict(built.terms()) == frequencies(kept)
    assert built.documents == len(texts)
    assert built.facts.filters == str(Filters.parse(names))


def test_lexicons_that_do_not_add_up_are_not_merged() -> None:
    plain, stemmed = lexicon.build(TEXTS), lexicon.build(TEXTS, filters="stem")
    with pytest.raises(InputError, match="filters is none in one and stem in the other"):
        lexicon.merge([plain, stemmed])
    with pytest.raises(InputError, match=r"fewer than 2 documents.*prune"):
        lexicon.merge([plain, lexicon.prune(plain, min_df=2)])
    with pytest.raises(InputError, match="fewer than 5 documents"):
        lexicon.merge([plain, lexicon.default()])
    with pytest.raises(InputMissing):
        lexicon.merge([])


def test_letters_only_can_be_merged_with_letters_only() -> None:
    a, b = (lexicon.prune(lexicon.build(part), letters_only=True) for part in (TEXTS[:5], TEXTS[5:]))
    assert lexicon.merge([a, b]).fingerprint == lexicon.prune(lexicon.build(TEXTS), letters_only=True).fingerprint


def test_what_cannot_be_built_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match="no documents"):
        lexicon.build(paths=[write_texts(tmp_path / "none.jsonl", [])], output=tmp_path / "none.lexicon")
    assert not (tmp_path / "none.lexicon").exists()
    with pytest.raises(SettingsError, match="either data or paths"):
        lexicon.build()
    with pytest.raises(SettingsError, match="unknown filter 'stemm'"):
        lexicon.build(TEXTS, filters="stemm")
    with pytest.raises(MemoryTooSmall, match="512MB is the minimum"):
        lexicon.build(TEXTS, memory="100MB")
    with pytest.raises(InputError, match="more than a lexicon can hold"):
        add_documents([2**32 - 2, 2])


def test_a_bad_record_is_left_out_with_a_warning(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "bad.jsonl", ["one two", "three"])
    path.write_text(path.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"1 record was left out; the first: .*bad\.jsonl, line 3"):
        built = lexicon.build(paths=[path])
    assert built.documents == 2


def test_documents_without_words_count_as_documents() -> None:
    built = lexicon.build(["", "!!!"])
    assert (built.documents, len(built), built.top(3)) == (2, 0, [])
    assert built.frequency("a") == 0
    assert Lexicon.from_bytes(b"".join(_bytes(built))).documents == 2


def _bytes(built: Lexicon) -> list[bytes]:
    """The file of a lexicon."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        lexicon.merge([built], output=Path(folder) / "x")
        return [(Path(folder) / "x").read_bytes()]
