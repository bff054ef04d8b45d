"""The tokeniser: the twin's tokens, bit for bit, from any batch, at any place, on any number of threads."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import kernel_twins as twins
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roughly import _core
from roughly.errors import InputError
from roughly.kernels import tokens
from roughly.text import canonical, tables

TABLE = tables.load()

# Characters that meet many rules at once: case, marks of several classes, singles, sequences, invisible ones.
TRICKY = (
    "aIiİıßςΣéÉẞǅﬁ½²٣ \t_-'’≠=👍Ａ𝐀𠮷ﷺໜกข漢字かガｶﾞ한ᄒ가ㅎ"
    "\u0301\u0307\u0323\u0345\u0338\u3099\u093f\u0e33\u0e35\u00ad\u200d\ufe0f\u034f"
)
TEXTS = st.one_of(st.text(max_size=60), st.text(TRICKY, max_size=60), st.text("aZ9 .é漢\u0301", max_size=60))

WORDS = st.lists(st.text("aZ9", max_size=18) | st.text("zA0é漢", max_size=9), max_size=40).map(" ".join)
"""Tokens of up to eight bytes, of up to sixteen, and longer ones: several at once, and a few at the end."""


def tokenise(documents: list[bytes]) -> list[list[int]]:
    data = np.frombuffer(b"".join(documents), np.uint8)
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    return twins.split(*tokens.tokenise(data, offsets, TABLE.stage1, TABLE.stage2))


def byte_spans(document: bytes) -> list[tuple[int, int]]:
    found = tokens.spans(np.frombuffer(document, np.uint8), TABLE.stage1, TABLE.stage2)
    return [(int(a), int(b)) for a, b in found]


def twin_spans(text: str) -> list[tuple[int, int]]:
    place = list(itertools.accumulate((len(c.encode()) for c in text), initial=0))
    return [(place[a], place[b]) for a, b in canonical.spans(text)]


@given(st.lists(TEXTS, max_size=6))
def test_documents_tokenise_as_their_twins(texts: list[str]) -> None:
    assert tokenise([text.encode() for text in texts]) == [twins.tokenise(text) for text in texts]


@pytest.fixture
def best_level() -> Iterator[None]:
    yield
    _core.set_vector_level(2)


@pytest.mark.usefixtures("best_level")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, max_size=6))
def test_every_level_of_vector_instructions_gives_the_tokens_of_the_twin(texts: list[str]) -> None:
    wanted = [twins.tokenise(text) for text in texts]
    for level in range(3):
        _core.set_vector_level(level)
        assert tokenise([text.encode() for text in texts]) == wanted


@given(TEXTS)
def test_spans_are_those_of_the_twin(text: str) -> None:
    assert byte_spans(text.encode()) == twin_spans(text)


@given(
    st.binary(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                b"a",
                b" ",
                b"\xe2",
                b"\x82",
                b"\xac",
                b"\xf0",
                b"\x9f",
                b"\xc3",
                b"\xa9",
                b"\xff",
                b"\xed\xa0\x80",
                b"\xc0\xaf",
            ]
        )
    ).map(b"".join)
)
def test_malformed_bytes_are_separators(data: bytes) -> None:
    assert tokenise([data]) == [twins.tokenise(data.decode("utf-8", "replace"))]


@given(TEXTS, st.integers(0, 9))
def test_neighbours_and_place_do_not_matter(text: str, shift: int) -> None:
    document = text.encode()
    data = np.frombuffer(b"x" * shift + document + b"yz", np.uint8)
    offsets = np.array([shift, shift + len(document)], np.int64)
    found, _ = tokens.tokenise(data, offsets, TABLE.stage1, TABLE.stage2)
    assert found.tolist() == tokenise([document])[0]


@settings(max_examples=25)
@given(st.text(TRICKY, min_size=1, max_size=12), st.text(TRICKY, min_size=1, max_size=12), st.integers(-20, 20))
def test_long_documents_are_cut_into_pieces_where_it_does_not_show(left: str, right: str, shift: int) -> None:
    """Pieces end near 16 KB; tricky text is put across that place."""
    filler = "word " * ((int(tokens.PIECE) + shift) // 5)
    text = filler + left * 5 + right * 5 + " " + filler
    assert tokenise([text.encode()]) == [twins.tokenise(text)]
    assert byte_spans(text.encode()) == twin_spans(text)


@pytest.mark.parametrize(
    "text", ["a" * 70_000, "é" * 40_000, "漢" * 40_000, "漢字 " * 20_000, "x " * 50_000, "e\u0301\u0323" * 9000]
)
def test_text_without_separators_or_with_nothing_else(text: str) -> None:
    assert tokenise([text.encode(), b"", text.encode()]) == [twins.tokenise(text), [], twins.tokenise(text)]
    assert byte_spans(text.encode()) == twin_spans(text)


@pytest.mark.parametrize("length", range(1, 34))
def test_every_length_of_token(length: int) -> None:
    word = ("aBc9" * 9)[:length]
    assert tokenise([word.encode(), f"{word} {word}é".encode()]) == [
        twins.tokenise(word),
        twins.tokenise(f"{word} {word}é"),
    ]


def test_no_documents_and_empty_documents() -> None:
    assert tokenise([]) == []
    assert tokenise([b"", b" ", b"..."]) == [[], [], []]
    assert byte_spans(b"") == []


def test_golden_hashes() -> None:
    texts = [
        "roughly",
        "Roughly the same",
        "internationalisation",
        "Été ΣΟΦΌΣ",
        "漢字かな",
        "한국어",
        "हिन्दी",
        "ﬁ ½ x²",
    ]
    assert [[f"{h:016x}" for h in row] for row in tokenise([t.encode() for t in texts])] == [
        ["15764d3431b9a6fe"],
        ["15764d3431b9a6fe", "cb6b5ab96eff91f3", "d2174268bc6fafc4"],
        ["945b2728bc2ae01e"],
        ["fb51f104d2f290d0", "8274679e9a40bb47"],
        ["d1312066b477801f", "e4344141c1cc958f", "0283cecdba0a2b0c", "28b45134bf1e1531"],
        ["23d3046d925f7684"],
        ["9f8ad9ba2fc93614"],
        ["46cd28e9f1ea5fd3", "099380f1ef2b21f6", "209c5b4521b85b5d"],
    ]


def test_short_tokens_are_distinct_for_certain() -> None:
    words = [
        f"{a}{b}{c}"
        for a in "abcdefghijklmnopqrstuvwxyz0123456789"
        for b in "abcdexyz0189"
        for c in ["", "q", "qqqq", "9999z"]
    ]
    assert len({h for row in tokenise([w.encode() for w in words]) for h in row}) == len(set(words))


def test_one_thread_or_many_give_the_same_bits() -> None:
    documents = [f"Dökument {i} – “{'wörd ' * (i % 97)}” 文書{i} end".encode() for i in range(3000)]
    whole = tokenise(documents)
    parts = [documents[i : i + 37] for i in range(0, len(documents), 37)]
    with ThreadPoolExecutor(4) as pool:
        assert [row for rows in pool.map(tokenise, parts) for row in rows] == whole


def test_a_million_marks_take_no_longer_than_a_million_letters() -> None:
    text = ("a" + "\u0301\u0323" * 100_000) * 5
    assert len(tokenise([text.encode()])[0]) == 1


def test_a_document_beyond_32_bits_is_refused() -> None:
    with pytest.raises(InputError, match="split it"):
        tokens.refuse_longer(tokens.LONGEST_DOCUMENT + 1)
    tokens.refuse_longer(tokens.LONGEST_DOCUMENT)


GUARDED = """
import ctypes, mmap, sys
import numpy as np
from roughly.kernels import hashing, tokens
from roughly.text import tables

table = tables.load()
page = mmap.PAGESIZE
area = mmap.mmap(-1, 2 * page)
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mprotect(ctypes.c_void_p(address + page), ctypes.c_size_t(page), 0) == 0
whole = np.frombuffer(area, np.uint8)
texts = "a", "abcdefg", "abcdefgh", "abcdefghi jk", "é", "xé", "漢", "abcdefgé", "\\u0301", "한글 x", "a" * 63, "a" * 64
for text in texts:
    for cut in range(4):  # cut characters too: malformed at the very end
        data = text.encode()
        data = data[: len(data) - cut] or data
        start = page - len(data)
        whole[start:page] = np.frombuffer(data, np.uint8)
        view = whole[start:page]
        offsets = np.array([0, len(data)], np.int64)
        copy = np.frombuffer(data, np.uint8)
        a = tokens.tokenise(view, offsets, table.stage1, table.stage2)[0]
        b = tokens.tokenise(copy, offsets, table.stage1, table.stage2)[0]
        assert a.tolist() == b.tolist()
        tokens.spans(view, table.stage1, table.stage2)
        hashing.hash_bytes(view, offsets)
print("nothing read past the end")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="protects a page of memory with Linux's mprotect")
def test_nothing_is_read_past_the_end() -> None:
    """The text ends where a protected page begins: reading one byte more would end the process."""
    done = subprocess.run(
        [sys.executable, "-c", GUARDED], capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "nothing read past the end\n"
