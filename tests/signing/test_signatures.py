"""Signatures in a file and clusters made of them: what goes in comes out, and nothing is compared that must not be."""

from __future__ import annotations

import json
import random
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import run_roughly
from roughly import lexicon, recluster
from roughly.dates import NO_DAY, day_of
from roughly.errors import DuplicateIds, InputError, InputMissing, OutputExists, SettingsError
from roughly.features.sampling import Sampling
from roughly.methods import METHODS, make
from roughly.methods.imatch import IMatch
from roughly.methods.lexical import Lexical
from roughly.methods.method import Judge
from roughly.methods.shingles import Shingles
from roughly.settings import Settings
from roughly.signing.sign_files import sign
from roughly.signing.signature_file import SignatureOrigin, read_made, read_signatures
from roughly.signing.text_batch import TextBatch
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


def partition(paths: Path | list[Path], **asked: Any) -> dict[str, str]:
    """The cluster of each document, connected documents being one."""
    found = recluster(paths, cluster="components", **asked).documents
    return dict(zip(found["doc_id"].to_pylist(), found["cluster_id"].to_pylist(), strict=True))


@pytest.mark.parametrize("name", [name for name, spec in METHODS.items() if not spec.equality])
def test_every_method_signs_and_groups(name: str, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    signed = sign(rows(TEXTS), output=path, method=name, **({"lexicons": 10} if name == "imatch" else {}))
    assert signed.documents == len(TEXTS) == pq.read_metadata(path).num_rows
    found = partition(path)
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
    assert (held.keys.values == method.sign(tokenise(pa.array(TEXTS, pa.large_string()))).keys.values).all()
    table = pq.read_table(path)
    assert table.schema.field("keys").type == pa.list_(pa.uint64(), 5)
    stored = json.loads(table.schema.metadata[b"roughly"])
    assert stored["settings"]["lexicons"] == 4 and "sixteen" not in json.dumps(stored)
    other = IMatch(lexicon=lexicon.default(), lexicons=4, key=b"another sixteen bytes")
    sign(rows(TEXTS), output=tmp_path / "o.parquet", method=other)
    assert read_made(tmp_path / "o.parquet").fingerprint != held.made.fingerprint
    with pytest.raises(InputError, match="made with other settings"):
        recluster([path, tmp_path / "o.parquet"])


def test_order_and_threads_do_not_matter(tmp_path: Path) -> None:
    table = rows(TEXTS)
    turned = table.take(list(range(len(TEXTS)))[::-1])
    sign(table, output=tmp_path / "a.parquet", lexicons=10, threads=1)
    sign(turned, output=tmp_path / "b.parquet", lexicons=10, threads=2)
    whole = recluster(tmp_path / "a.parquet").documents
    assert whole.equals(recluster(tmp_path / "b.parquet", threads=3).documents)
    sign(table.slice(0, 15), output=tmp_path / "c.parquet", lexicons=10)
    sign(table.slice(15), output=tmp_path / "d.parquet", lexicons=10)
    assert recluster([tmp_path / "d.parquet", tmp_path / "c.parquet"]).documents.equals(whole)
    with pytest.raises(DuplicateIds, match="d00"):
        recluster([tmp_path / "a.parquet", tmp_path / "c.parquet"])


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
    assert partition(tmp_path / "s.parquet") == {"a": "b", "b": "b", "c": "c", "d": "d"}
    sign(table, output=tmp_path / "w.parquet", method="term-vector", dates=400, lengths=0.5)
    assert set(partition(tmp_path / "w.parquet").values()) == {"d"}


def test_documents_without_a_date_are_near_to_none(tmp_path: Path) -> None:
    base = " ".join(WORDS[500:600])
    texts = [base, base + " more", base + " words"]
    for dates, clusters in ((["2003-01-01", "2003-01-02", None], 2), ([None, None, None], 1)):
        table = pa.table({"id": ["a", "b", "c"], "text": texts, "date": pa.array(dates, pa.string())})
        sign(table, output=tmp_path / "s.parquet", method="term-vector", overwrite=True)
        assert len(set(partition(tmp_path / "s.parquet").values())) == clusters


def test_signatures_with_the_texts_are_verified(tmp_path: Path) -> None:
    path, table = tmp_path / "s.parquet", rows(TEXTS)
    sign(table, output=path, method="minhash")
    unverified, verified = recluster(path), recluster(path, texts=table)
    assert (unverified.scores, verified.scores) == ("none", "exact")
    gone = {row["doc_id"]: row for row in verified.removed.to_pylist()}
    assert gone["d20"]["kept_id"] == "d00" and gone["d20"]["resemblance"] == 85 / 86  # shingles of 5 of 90 words
    assert gone["d27"]["resemblance"] == 1 and "d27" in {row["doc_id"] for row in unverified.removed.to_pylist()}
    assert {row["resemblance"] for row in unverified.removed.to_pylist()} == {None, 1.0}
    assert recluster(path, texts=table, threshold=0.999).kept_ids == [f"d{i:02}" for i in range(29) if i != 27]
    with pytest.raises(SettingsError, match="threshold needs similarities, which signatures of minhash"):
        recluster(path, threshold=0.5)
    with pytest.raises(InputError, match="are stored but have no text"):
        recluster(path, texts=table.slice(3))


def test_signatures_of_a_sample_are_estimated_at_any_threshold(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    sign(rows(TEXTS), output=path, method=Shingles(0.9, shingle_size=5, sampling=Sampling("all")))
    assert recluster(path).counts["removed"] == 8 and recluster(path).scores == "estimated"
    assert recluster(path, threshold=0.999).counts["removed"] == 1
    assert recluster(path, measure="containment", threshold=1.0).counts["removed"] == 8


def test_dates_as_found() -> None:
    day = date(1987, 2, 26).toordinal()
    for text in (
        "1987-02-26", "1987-02-26T10:00:00Z", "26-FEB-1987 15:14:36.41", "Thu, 26 Feb 1987 10:00:00 GMT", "19870226",
        " 26 February 1987 ", "February 26, 1987", "26.02.1987",
    ):  # fmt: skip
        assert day_of(text) == day, text
    for text in (None, "", "yesterday", "30-FEB-1987"):
        assert day_of(text) == NO_DAY


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
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        recluster(path)
    pq.write_table(rows(TEXTS), path)
    with pytest.raises(InputError, match="holds neither sketches nor signatures"):
        recluster(path)
    with pytest.raises(InputMissing, match="roughly sign"):
        recluster(tmp_path / "none.parquet")
    sign(rows(TEXTS), output=path, overwrite=True)
    held = json.loads(pq.read_schema(path).metadata[b"roughly"])
    spoilt = {b"roughly": json.dumps(held | {"method": "other"}).encode()}
    pq.write_table(pq.read_table(path).replace_schema_metadata(spoilt), path)
    with pytest.raises(InputError, match="do not match their fingerprint"):
        recluster(path)


def test_settings_that_someone_else_wrote_are_refused_although_their_fingerprint_fits(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    sign(rows(TEXTS), output=path, method="term-vector")
    table = pq.read_table(path)
    held = json.loads(table.schema.metadata[b"roughly"])
    wrong: dict[str, list[object]] = {
        "on": [None, "x", 5, [], {}], "measure": [None, "x", -1, [], {}],
        "threshold": [None, "x", -1, [], float("nan"), float("inf"), 10**40, True],
        "dates": ["x", -1, 0.5, 10**40], "lengths": ["x", [], -1, float("nan")], "ignore_common": ["x", None, 1],
    }  # fmt: skip
    cases = [held | {"judge": held["judge"] | {name: value}} for name, values in wrong.items() for value in values]
    cases += [held | {"most": value} for value in (None, "x", -1, 10**40)]
    cases += [held | {"settings": value} for value in (None, [], "x")] + [held | {"method": None}]
    for case in cases:
        made = SignatureOrigin(case["method"], case["settings"], Judge(**case["judge"]), case["most"])
        metadata = {b"roughly": json.dumps(case | {"fingerprint": made.fingerprint}).encode()}
        pq.write_table(table.replace_schema_metadata(metadata), path)
        with pytest.raises(InputError, match="is damaged: its settings have values that none has; sign again"):
            recluster(path)
    pq.write_table(table.append_column("keys", table["keys"]), path)
    with pytest.raises(InputError, match="it has two columns keys"):
        recluster(path)


def test_the_commands(tmp_path: Path) -> None:
    source, path, key = tmp_path / "in.jsonl", tmp_path / "s.parquet", tmp_path / "key"
    lines = [json.dumps({"id": f"d{i:02}", "text": text}) for i, text in enumerate(TEXTS)]
    source.write_text("\n".join(lines) + "\nbroken\n", encoding="utf-8")
    key.write_text("a secret of more than sixteen bytes\n", encoding="utf-8")
    done = run_roughly(
        "sign", source, "-o", path, "--method", "imatch", "--filter", "IDF-L-10,sw", "--lexicons", 5, "--key-file", key
    )
    assert done.returncode == 3, done.stderr  # the broken line
    assert "imatch, fingerprint" in done.stdout and "documents   29, 1 of them without" in done.stdout
    assert "secret" not in done.stdout + done.stderr
    told = run_roughly("cluster", path, "--json")
    answer = json.loads(told.stdout)
    assert answer["documents"] == 29 and "d27" in answer["members"]["d01"]
    listed = run_roughly("cluster", path).stdout.splitlines()
    assert listed[0] == "doc_id\tcluster_id" and "d27\td01" in listed
    written = run_roughly("cluster", path, "-o", tmp_path / "c.parquet")
    assert written.returncode == 0 and pq.read_table(tmp_path / "c.parquet").num_rows == 29
    exact = run_roughly("cluster", path, "--text", source, "--threshold", 0.8, "--json")
    assert json.loads(exact.stdout)["scores"] == "exact" and json.loads(exact.stdout)["removed"] >= 4, exact.stderr
    refused = run_roughly("cluster", path, "--threshold", 0.8)
    assert refused.returncode == 2 and "signatures of imatch do not give" in refused.stderr
    wrong = run_roughly("sign", source, "-o", tmp_path / "x", "--method", "syntactic", "--lexicons", 3)
    assert wrong.returncode == 2 and "the method syntactic has no option 'lexicons'" in wrong.stderr
    key.write_text("short", encoding="utf-8")
    short = run_roughly("sign", source, "-o", tmp_path / "x", "--key-file", key)
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
    assert len({SignatureOrigin.by(make(Settings.gather(options))).fingerprint for options in asked}) == len(asked)


def test_a_collection_is_counted_before_it_is_signed(tmp_path: Path) -> None:
    sign(rows(TEXTS), output=tmp_path / "a.parquet", method="imatch", filter="IDF-L-10,stem", lexicon="collection")
    own = lexicon.build(rows(TEXTS), filters="stem")
    sign(rows(TEXTS), output=tmp_path / "b.parquet", method="imatch", filter="IDF-L-10,stem", lexicon=own)
    held, same = read_signatures([tmp_path / "a.parquet"]), read_signatures([tmp_path / "b.parquet"])
    assert (held.keys.values == same.keys.values).all()
    assert held.made.described["lexicon"] == own.fingerprint and held.made.fingerprint == same.made.fingerprint


def test_equal_documents_are_told_by_128_bits_and_files_of_before_still_open(tmp_path: Path) -> None:
    """Files of before have 64 of the bits; a file of before beside a new one is compared by those."""
    path, before = tmp_path / "new.parquet", tmp_path / "before.parquet"
    sign(rows(TEXTS), output=path, method="imatch")
    read = read_signatures([path])
    assert read.equal.shape == (len(TEXTS), 2)
    batch = TextBatch(pa.array(TEXTS, pa.large_string()))
    assert {tuple(row) for row in read.equal.tolist()} == {tuple(row) for row in batch.lexical_digests.tolist()}
    table = pq.read_table(path)
    renamed = pa.array([f"old {name}" for name in table["doc_id"].to_pylist()])
    old = table.set_column(0, "doc_id", renamed).drop_columns(["equal_lo"])
    pq.write_table(old.replace_schema_metadata(table.schema.metadata), before)
    assert read_signatures([before]).equal.shape == (len(TEXTS), 1)
    assert read_signatures([before, path]).equal.shape == (2 * len(TEXTS), 1)
    assert read_signatures([path, before]).equal.shape == (2 * len(TEXTS), 1)
