"""Lines for tests of JSON readers: good ones, strange ones, and good ones with a few bytes changed."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

KEYS = ["id", "text", "title", "source", "x", "te", "textt", 'a"b', "é"]
SPACES = ["", " ", "  ", "\t", "\r"]
NUMBERS = [
    "0", "-0", "7", "-7", "1.5", "1e5", "1E+05", "1e-05", "-0.0", "1e400", "1e-400", "123456789012345678",
    "1234567890123456789", "-123456789012345678", "18446744073709551615", "1" * 40, "0.1234567890123456789", "01", "1.",
    ".5", "+1", "NaN", "Infinity", "-", "0x10",
]  # fmt: skip
ODD = [
    "null", "true", "false", "nul", "[]", "{}", "[1, 2]", '{"text": "inner"}', '[{"a": [null]}]', "[1,]",
    "[" * 70 + "]" * 70,
    '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00\\ud83d"', '"\\u00e9\\n\\t\\/"', '"\\x41"', '"\\u12"', '"a\tb"',
    '"\\u0000"', '""',
    '"abcdefg\\\\"', '"abcdefgh"', '"\x7f\u2028"', '"\\ud83d\\u0041"',
]  # fmt: skip

WRITTEN = st.one_of(
    st.text(max_size=30).map(json.dumps),
    st.text(max_size=30).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.integers().map(str),
    st.floats().map(json.dumps),
    st.sampled_from(NUMBERS),
    st.sampled_from(ODD),
)


@st.composite
def objects(draw: Any, *, documents: bool) -> bytes:
    """An object with keys as they come, twice the same one too, and space anywhere; with a text and an id, if asked."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(KEYS).map(json.dumps), WRITTEN), max_size=1 if documents else 4))
    if documents:
        pairs += [('"id"', json.dumps(draw(st.text(min_size=1, max_size=9)))), ('"text"', json.dumps(draw(st.text())))]
        pairs = draw(st.permutations(pairs))
    space = lambda: draw(st.sampled_from(SPACES))  # noqa: E731
    inside = f"{space()},{space()}".join(f"{key}{space()}:{space()}{value}" for key, value in pairs)
    return f"{space()}{{{space()}{inside}{space()}}}{space()}".encode("utf-8", "surrogatepass")


PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"',
    b"\\",
    b"\\u",
    b"null",
    b" ",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\x1f",
    b"0",
]


@st.composite
def mutated(draw: Any, lines: st.SearchStrategy[bytes]) -> bytes:
    """A line with a few pieces put in, taken out or put in place of others."""
    line = draw(lines)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(st.sampled_from([b"", *PIECES])) + line[at + draw(st.integers(0, 3)) :]
    return line.replace(b"\n", b"")


LINES = st.one_of(
    objects(documents=True),
    objects(documents=False),
    mutated(objects(documents=True)),
    mutated(objects(documents=False)),
    st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"")),
)
