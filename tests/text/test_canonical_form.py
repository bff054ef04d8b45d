"""The canonical form: its rules as properties, the two roads to it, and Arrow columns of every shape."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.errors import InputError
from roughly.kernels.classes import SEPARATOR
from roughly.text import tables
from roughly.text.canonical import Tokens, buffers, spans, tokenise, words

TRICKY = "aIiİıßςΣéÉǅﬁ½² _-’≠=Ａ𠮷ໜก漢かガｶﾞ한ᄒㅎ\u0301\u0307\u0323\u0345\u0338\u3099\u093f\u0e33\u00ad\u200d\ufe0f"
TEXTS = st.text(max_size=40) | st.text(TRICKY, max_size=40)


def rows(tokens: Tokens) -> list[list[int]]:
    return [tokens.hashes[a:b].tolist() for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


@given(TEXTS)
def test_the_form_is_idempotent(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)


@given(TEXTS)
def test_canonically_equivalent_texts_have_the_same_words(text: str) -> None:
    for form in ("NFC", "NFD"):
        assert words(unicodedata.normalize(form, text)) == words(text)


@given(TEXTS)
def test_both_roads_give_the_same_tokens(text: str) -> None:
    fast = rows(tokenise(pa.array([text])))[0]
    assert len(fast) == len(words(text)) == len(spans(text))
    assert rows(tokenise(pa.array([" ".join(words(text))])))[0] == fast
    assert [row[0] for row in rows(tokenise(pa.array(words(text), pa.string())))] == fast


@given(TEXTS)
def test_a_span_holds_its_word(text: str) -> None:
    last = 0
    for word, (start, end) in zip(words(text), spans(text), strict=True):
        assert last <= start < end <= len(text)
        assert word in words(text[start:end])
        last = start


@given(TEXTS, TEXTS)
def test_a_separator_between_texts_joins_their_words(left: str, right: str) -> None:
    assert words(f"{left} {right}") == words(left) + words(right)


def test_every_character_of_unicode() -> None:
    """Composed or decomposed, lower-cased by Python or by us, once or twice: the same words."""
    for cp in range(0x110000):
        c = chr(cp)
        category = unicodedata.category(c)
        if category in ("Cs", "Cn", "Co") or 0xAC00 < cp < 0xD7A3 or 0x3400 < cp < 0x9FFF or 0x20000 < cp < 0x2F800:
            continue  # no character, or the middle of a uniform block
        if category[0] in "LMN" and tables.load().entry(cp) == SEPARATOR:
            continue  # newer than the table
        found = words(f"a{c}b")
        assert words(" ".join(found)) == found, hex(cp)
        for same in (unicodedata.normalize("NFC", c), unicodedata.normalize("NFD", c), c.lower()):
            if same != c:
                assert words(f"a{same}b") == found, hex(cp)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_columns_of_both_kinds_whole_and_sliced(kind: pa.DataType) -> None:
    texts = ["One two", "", "drei é", "四五", "six", "é"]
    column = pa.array(texts, kind)
    expected = [rows(tokenise(pa.array([text], kind)))[0] for text in texts]
    for start in range(len(texts) + 1):
        for length in range(len(texts) - start + 1):
            found = tokenise(column.slice(start, length))
            assert len(found) == length
            assert rows(found) == expected[start : start + length]


def test_the_column_is_read_where_it_lies() -> None:
    column = pa.array(["abc", "de"], pa.large_string()).slice(1)
    data, offsets = buffers(column)
    assert data.ctypes.data == column.buffers()[2].address
    assert offsets.tolist() == [3, 5]
    assert not data.flags.writeable


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_empty_columns(kind: pa.DataType) -> None:
    for column in (pa.array([], kind), pa.array(["a"], kind).slice(1), pa.array(["", ""], kind), pa.nulls(0, kind)):
        found = tokenise(column)
        assert len(found) == len(column)
        assert found.hashes.tolist() == []


def test_nulls_and_other_types_are_refused() -> None:
    with pytest.raises(InputError, match="2 of 3 texts are null: leave them out"):
        tokenise(pa.array(["a", None, None]))
    assert len(tokenise(pa.array(["a", None, "b"]).slice(2))) == 1
    for wrong in (pa.array([1]), pa.array([b"a"]), pa.array(["a"]).dictionary_encode()):
        with pytest.raises(InputError, match="cast it"):
            tokenise(wrong)


def test_lone_surrogates_are_separators() -> None:
    assert words("a\ud800b") == ["a", "b"]


@pytest.mark.corpora
@pytest.mark.parametrize("name", ["aozora_ja", "laws_de", "laws_zh", "mdn_multilingual", "openiti_ar"])
def test_both_roads_agree_on_real_text(corpora: Path, name: str) -> None:
    texts = [t for t in pq.read_table(corpora / "multilingual" / f"{name}.parquet")["text"].to_pylist()[::40] if t]
    texts = [text[:20_000] for text in texts]
    fast = tokenise(pa.array(texts, pa.large_string()))
    slow = [words(text) for text in texts]
    assert np.diff(fast.offsets).tolist() == [len(tokens) for tokens in slow]
    again = tokenise(pa.array([token for tokens in slow for token in tokens], pa.large_string()))
    assert again.hashes.tolist() == fast.hashes.tolist()
    assert np.diff(again.offsets).tolist() == [1] * len(again.hashes)
    assert [words(unicodedata.normalize("NFD", text)) for text in texts] == slow
    distinct = {token for tokens in slow for token in tokens}
    assert len(set(fast.hashes.tolist())) == len(distinct)  # no collision
