"""Signatures in a file and clusters made of them: what goes in comes out, and nothing is compared that must not be."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly import lexicon
from roughly.errors import DuplicateIds, InputError, InputMissing, OutputExists, SettingsError, TooManyPairs
from roughly.features.sketch import Sketch
from roughly.methods import REGISTRY, IMatch, Judge, Keys, Lexical, make
from roughly.settings import Settings
from roughly.signatures import grouping
from roughly.signatures.clusters import cluster
from roughly.signatures.dates import UNKNOWN, day_of
from roughly.signatures.file import Made, read_made, read_signatures
from roughly.signatures.grouping import Facts, group
from roughly.signatures.sign import sign
from roughly.text.canonical import tokenise

WORDS = [word for word, _ in lexicon.default().top(3000) if word.isalpha() and len(word) > 3]


def make_texts(seed: int = 1) -> list[str]:
    """Twenty texts; each third has a copy with a word less, and the last two are equal."""
    dice = random.Random(seed)
    texts = [" ".join(dice.sample(WORDS, 90)) for _ in range(20)]
    return [*texts, *(text.rsplit(" ", 1)[0] for text in texts[::3]), texts[1], ""]


TEXTS = make_texts()


def rows(texts: list[str]) -> pa.Table:
    return pa.table({"id": [f"d{i:02}" for i in range(len(texts))], "text": texts})


def partition(found: pa.Table) -> dict[str, str]:
    return dict(zip(found["doc_id"].to_pylist(), found["cluster_id"].to_pylist(), strict=True))


@pytest.mark.parametrize("name", [name for name, entry in REGISTRY.items() if not entry.kind.equality])
def test_every_method_signs_and_groups(name: str, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    signed = sign(rows(TEXTS), output=path, method=name, **({"lexicons": 10} if name == "imatch" else {}))
    assert signed.documents == len(TEXTS) == pq.read_metadata(path).num_rows
    found = partition(cluster(path))
    assert found["d27"] == "d01"  # equal
    assert found["d28"] == "d28"  # empty
    near = sum(found[f"d{20 + k}"] == f"d{3 * k:02}" for k in range(7))
    fewest = {
        "minhash": 7, "shingles": 0, "super-shingles": 0, "mega-shingles": 3, "word-lsh": 7, "term-vector": 7,
        "imatch": 3, "rare-terms": 4, "syntactic": 0,
    }  # fmt: skip
    assert near >= fewest[name]
    assert all(found[f"d{i:02}"] == f"d{i:02}" for i in range(20))
    assert read_made(path).method == name


def test_what_is_written_is_what_the_method_says(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    method = IMatch(lexicon=lexicon.default(), lexicons=4, key=b"sixteen bytes at least")
    sign(rows(TEXTS), output=path, method=method)
    held = read_signatures([path])
    assert (held.keys.values == method.keys(tokenise(pa.array(TEXTS, pa.large_string()))).values).all()
    table = pq.read_table(path)
    assert table.schema.field("keys").type == pa.list_(pa.uint64(), 5)
    stored = json.loads(table.schema.metadata[b"roughly"])
    assert stored["settings"]["lexicons"] == 4 and "sixteen" not in json.dumps(stored)
    other = IMatch(lexicon=lexicon.default(), lexicons=4, key=b"another sixteen bytes")
    sign(rows(TEXTS), output=tmp_path / "o.parquet", method=other)
    assert read_made(tmp_path / "o.parquet").fingerprint != held.made.fingerprint
    with pytest.raises(InputError, match="made with other settings"):
        cluster([path, tmp_path / "o.parquet"])


def test_order_and_threads_do_not_matter(tmp_path: Path) -> None:
    table = rows(TEXTS)
    turned = table.take(list(range(len(TEXTS)))[::-1])
    sign(table, output=tmp_path / "a.parquet", lexicons=10, threads=1)
    sign(turned, output=tmp_path / "b.parquet", lexicons=10, threads=2)
    assert cluster(tmp_path / "a.parquet").equals(cluster(tmp_path / "b.parquet"))
    sign(table.slice(0, 15), output=tmp_path / "c.parquet", lexicons=10)
    sign(table.slice(15), output=tmp_path / "d.parquet", lexicons=10)
    assert cluster([tmp_path / "d.parquet", tmp_path / "c.parquet"]).equals(cluster(tmp_path / "a.parquet"))
    with pytest.raises(DuplicateIds, match="d00"):
        cluster([tmp_path / "a.parquet", tmp_path / "c.parquet"])


def test_windows_of_term_vectors(tmp_path: Path) -> None:
    base = " ".join(WORDS[500:600])
    table = pa.table(
        {
            "id": ["a", "b", "c", "d"],
            "text": [base, base + " more", base + " more words", base + " the" * 40],
            "date": ["2003-01-01", "Sat, 01 Feb 2003 10:00:00 +0000", "1-JUL-2003 10:00:00.17", "2003-01-02"],
        }
    )
    sign(table, output=tmp_path / "s.parquet", method="term-vector")
    assert partition(cluster(tmp_path / "s.parquet")) == {"a": "a", "b": "a", "c": "c", "d": "d"}
    sign(table, output=tmp_path / "w.parquet", method="term-vector", dates=400, lengths=0.5)
    assert set(partition(cluster(tmp_path / "w.parquet")).values()) == {"a"}


@given(
    st.lists(st.lists(st.integers(1, 6), max_size=4), min_size=1, max_size=8),
    st.integers(1, 3),
    st.lists(st.integers(1, 20), min_size=8, max_size=8),
    st.booleans(),
)
def test_groups_by_their_definition(keys: list[list[int]], needed: int, lengths: list[int], window: bool) -> None:
    keys = [sorted(set(own)) for own in keys]
    flat = np.array([value for own in keys for value in own], np.uint64)
    offsets = np.cumsum([0, *map(len, keys)]).astype(np.int64)
    judge = Judge("keys", "common", needed, lengths=0.3 if window else None)
    found = group(Keys(flat, offsets), judge, Facts(np.array(lengths, np.int64)))
    parent = list(range(len(keys)))
    for _ in keys:
        for i, j in itertools.combinations(range(len(keys)), 2):
            near = not window or abs(lengths[i] - lengths[j]) <= 0.3 * max(lengths[i], lengths[j])
            if near and len(set(keys[i]) & set(keys[j])) >= needed:
                parent[i] = parent[j] = min(parent[i], parent[j])
    assert found.tolist() == parent


def test_sketches_are_scored_below_their_limits() -> None:
    values = np.array([1, 2, 3, 9, 1, 2, 4, 2, 3], np.uint64)
    offsets = np.array([0, 4, 7, 9], np.int64)
    pairs = np.array([[0, 1], [0, 2]])
    whole = Sketch(values, offsets)
    assert grouping.scores(whole, pairs, "common").tolist() == [2, 2]
    assert grouping.scores(whole, pairs, "resemblance").tolist() == [2 / 5, 2 / 4]
    assert grouping.scores(whole, pairs, "containment").tolist() == [2 / 3, 1]
    cut = Sketch(values, offsets, np.array([9, 3, 4], np.uint64))
    assert grouping.scores(cut, pairs, "resemblance").tolist() == [2 / 3, 2 / 3]
    assert grouping.scores(cut, pairs, "containment").tolist() == [1, 1]
    least = Sketch(values, offsets, None, 2)
    assert grouping.scores(least, pairs, "resemblance").tolist() == [1, 1 / 2]


def test_pairs_need_someone_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys(np.array([5, 5, 5], np.uint64), np.array([0, 1, 2, 3]), np.array([True, False, False]))
    pairs, shared = grouping.pairs_of(grouping.key_rows(keys), 3)
    assert pairs.tolist() == [[0, 1], [0, 2]] and shared.tolist() == [1, 1]
    assert len(grouping.pairs_of(grouping.key_rows(keys), 3, most_documents=2)[0]) == 0
    with pytest.raises(InputError, match="lengths of the documents are not known"):
        group(keys, Judge("keys", "common", 1, lengths=0.1), Facts())
    with pytest.raises(InputError, match="hold no sketch"):
        group(keys, Judge("sketch", "common", 1), Facts())
    monkeypatch.setattr(grouping, "MOST_PAIRS", 2)
    with pytest.raises(TooManyPairs, match="3 pairs of documents share a key"):
        grouping.pairs_of(grouping.key_rows(keys), 3)


def test_nothing_is_grouped_to_nothing() -> None:
    empty = Keys(np.empty((0, 2), np.uint64))
    assert group(empty, Judge("keys", "common", 1), Facts()).tolist() == []


def test_dates_as_found() -> None:
    day = date(1987, 2, 26).toordinal()
    for text in (
        "1987-02-26", "1987-02-26T10:00:00Z", "26-FEB-1987 15:14:36.41", "Thu, 26 Feb 1987 10:00:00 GMT", "19870226",
        " 26 February 1987 ", "February 26, 1987", "26.02.1987",
    ):  # fmt: skip
        assert day_of(text) == day, text
    for text in (None, "", "yesterday", "30-FEB-1987"):
        assert day_of(text) == UNKNOWN


def test_what_cannot_be_signed_or_read(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    with pytest.raises(SettingsError, match="the method imatch has no option 'bin'; it has filter, lexicon"):
        sign(rows(TEXTS), output=path, method="imatch", bin=3)
    with pytest.raises(SettingsError, match="method must be one of identical, lexical, minhash"):
        sign(rows(TEXTS), output=path, method="telepathy")
    with pytest.raises(SettingsError, match="IDF-L-10 is a filter of imatch"):
        make(Settings(method="syntactic", options={"filter": "IDF-L-10"}))
    with pytest.raises(SettingsError, match="one term filter at a time"):
        sign(rows(TEXTS), output=path, method="imatch", filter="IDF-L-10,Doc-L-90")
    with pytest.raises(SettingsError, match="lexical has no keys to store"):
        sign(rows(TEXTS), output=path, method="lexical")
    with pytest.raises(SettingsError, match="cannot be verified"):
        sign(rows(TEXTS), output=path, method="imatch", verify=True)
    with pytest.raises(SettingsError, match="no keys to store"):
        sign(rows(TEXTS), output=path, method=Lexical())
    with pytest.raises(InputMissing, match="no documents"):
        sign(rows([]), output=path)
    assert not list(tmp_path.iterdir())
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputExists, match="--overwrite"):
        sign(rows(TEXTS), output=path)
    with pytest.raises(InputError, match="no Parquet file of signatures"):
        cluster(path)
    pq.write_table(rows(TEXTS), path)
    with pytest.raises(InputError, match="holds no signatures"):
        cluster(path)
    with pytest.raises(InputMissing, match="roughly sign"):
        cluster(tmp_path / "none.parquet")
    sign(rows(TEXTS), output=path, overwrite=True)
    held = json.loads(pq.read_schema(path).metadata[b"roughly"])
    spoilt = {b"roughly": json.dumps(held | {"method": "other"}).encode()}
    pq.write_table(pq.read_table(path).replace_schema_metadata(spoilt), path)
    with pytest.raises(InputError, match="do not match their fingerprint"):
        cluster(path)


def roughly(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "roughly", *map(str, arguments)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONWARNINGS": "default"},
    )  # fmt: skip


def test_the_commands(tmp_path: Path) -> None:
    source, path, key = tmp_path / "in.jsonl", tmp_path / "s.parquet", tmp_path / "key"
    lines = [json.dumps({"id": f"d{i:02}", "text": text}) for i, text in enumerate(TEXTS)]
    source.write_text("\n".join(lines) + "\nbroken\n", encoding="utf-8")
    key.write_text("a secret of more than sixteen bytes\n", encoding="utf-8")
    done = roughly(
        "sign", source, "-o", path, "--method", "imatch", "--filter", "IDF-L-10,sw", "--lexicons", 5, "--key-file", key
    )
    assert done.returncode == 3, done.stderr  # the broken line
    assert "imatch, fingerprint" in done.stdout and "documents   29, 1 of them without" in done.stdout
    assert "secret" not in done.stdout + done.stderr
    told = roughly("cluster", path, "--json")
    answer = json.loads(told.stdout)
    assert answer["documents"] == 29 and "d27" in answer["members"]["d01"]
    listed = roughly("cluster", path).stdout.splitlines()
    assert listed[0] == "doc_id\tcluster_id" and "d27\td01" in listed
    written = roughly("cluster", path, "-o", tmp_path / "c.parquet")
    assert written.returncode == 0 and pq.read_table(tmp_path / "c.parquet").num_rows == 29
    wrong = roughly("sign", source, "-o", tmp_path / "x", "--method", "syntactic", "--lexicons", 3)
    assert wrong.returncode == 2 and "the method syntactic has no option 'lexicons'" in wrong.stderr
    key.write_text("short", encoding="utf-8")
    short = roughly("sign", source, "-o", tmp_path / "x", "--key-file", key)
    assert short.returncode == 1 and "16 bytes or more" in short.stderr


def test_what_changes_keys_changes_the_fingerprint() -> None:
    asked: list[dict[str, object]] = [
        {"method": "minhash"}, {"method": "minhash", "seed": 1}, {"method": "minhash", "shingle_size": 6},
        {"method": "minhash", "measure": "containment"}, {"method": "mega-shingles"},
        {"method": "mega-shingles", "seed": 1}, {"method": "word-lsh"}, {"method": "word-lsh", "seed": 1},
        {"method": "shingles", "sketch": "adaptive"}, {"method": "shingles", "shingle_size": 6, "sketch": "adaptive"},
        {"method": "super-shingles", "sketch": "adaptive"},
        {"method": "super-shingles", "sketch": "adaptive", "groups": [[100, 0.5]]},
    ]  # fmt: skip
    assert len({Made.by(make(Settings.gather(options))).fingerprint for options in asked}) == len(asked)


def test_a_collection_is_counted_before_it_is_signed(tmp_path: Path) -> None:
    sign(rows(TEXTS), output=tmp_path / "a.parquet", method="imatch", filter="IDF-L-10,stem", lexicon="collection")
    own = lexicon.build(rows(TEXTS), filters="stem")
    sign(rows(TEXTS), output=tmp_path / "b.parquet", method="imatch", filter="IDF-L-10,stem", lexicon=own)
    held, same = read_signatures([tmp_path / "a.parquet"]), read_signatures([tmp_path / "b.parquet"])
    assert (held.keys.values == same.keys.values).all()
    assert held.made.described["lexicon"] == own.fingerprint and held.made.fingerprint == same.made.fingerprint
