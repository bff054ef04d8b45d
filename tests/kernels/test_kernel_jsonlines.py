"""The kernel of JSON lines beside its plain-Python twin."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_twin import read_line

from json_lines import LINES, NUMBERS, ODD
from roughly.kernels.jsonlines import BLANK, NULL, TAKEN, UNSURE, find_values, gather

KEYS = [b"text", b"id", b"title"]


def read(data: bytes, ends: list[int]) -> list[list[bytes | None] | str | None]:
    """What the kernel makes of each line: values, None where it is not sure, or "blank"."""
    letters = np.frombuffer(data, np.uint8)
    offsets = np.cumsum([0, *map(len, KEYS)], dtype=np.int64)
    found = find_values(letters, np.array(ends, np.int64), np.frombuffer(b"".join(KEYS), np.uint8), offsets)
    columns = [gather(letters, spans, kinds) for spans, kinds in zip(found.spans, found.kinds, strict=True)]
    lines: list[list[bytes | None] | str | None] = []
    for i, status in enumerate(found.status.tolist()):
        start = found.ends[i - 1] if i else 0
        if status != TAKEN:
            assert found.ends[i] == start
            lines.append({int(UNSURE): None, int(BLANK): "blank"}[status])
            continue
        others = [
            None if found.kinds[c, i] == NULL else out[at[i] : at[i + 1]].tobytes()
            for c, (out, at) in enumerate(columns)
        ]
        lines.append([found.text[start : found.ends[i]].tobytes(), *others])
    return lines


def twin(lines: list[bytes]) -> list[list[bytes | None] | str | None]:
    return [read_line(line, KEYS) if line.strip(b" \t\r\n") else "blank" for line in lines]


@settings(max_examples=600, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=5), st.booleans())
def test_the_kernel_and_its_twin_take_the_same_lines_and_find_the_same_values(
    lines: list[bytes], ends_with_a_line_feed: bool
) -> None:
    data = b"\n".join(lines) + b"\n" * ends_with_a_line_feed
    whole = [line + b"\n" for line in lines]
    whole[-1] = whole[-1] if ends_with_a_line_feed else lines[-1]
    ends = np.cumsum([len(line) for line in whole]).tolist()
    assert read(data, ends) == twin(whole)


@pytest.mark.parametrize("value", [*NUMBERS, *ODD])
@pytest.mark.parametrize("key", ["text", "id", "x"])
def test_every_strange_value_everywhere(key: str, value: str) -> None:
    for around in ('{"text": "t", %s}', '{"text": "t", "y": [{%s}]}', "{%s}", '{%s, "text": "t"}'):
        line = (around % f'"{key}": {value}').encode()
        assert read(line, [len(line)]) == twin([line]), line


@given(
    st.binary(max_size=6) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.integers(0, 70),
)
def test_lines_that_are_not_utf8_are_left(odd: bytes, before: int) -> None:
    odd = bytes(byte for byte in odd if byte >= 0x20 and byte not in b'"\\')
    line = b'{"text": "' + b"x" * before + odd + b'"}\n'
    good = b'{"text": "g"}\n'
    assert read(good + line + good, np.cumsum([len(good), len(line), len(good)]).tolist()) == twin([good, line, good])


@pytest.mark.parametrize("length", range(20))
def test_strings_of_all_lengths_end_anywhere_in_a_word(length: int) -> None:
    """A quote, a backslash, a control character at each position, with and without bytes behind the line."""
    for special in ("", "\\n", "\\u00e9", "\\ud83d\\ude00", "\x01", "é", "\x80"):
        for at in range(length + 1):
            text = "x" * at + special + "x" * (length - at)
            line = f'{{"text":"{text}","id":"{text}"}}'.encode()
            assert read(line, [len(line)]) == twin([line])
            assert read(line + b"\n" + line, [len(line) + 1, 2 * len(line) + 1]) == twin([line + b"\n", line])


def test_a_line_cut_anywhere_is_never_taken() -> None:
    line = json.dumps({"id": 17, "text": 'a "quoted" é \U0001f600 text', "x": [1.5e3, {"y": None}, True]}).encode()
    assert read(line, [len(line)]) == twin([line]) != [None]
    for cut in range(1, len(line)):
        assert read(line[:cut], [cut]) == [None]
        assert read(line[:cut] + b"\n" + line, [cut + 1, cut + 1 + len(line)])[0] is None
