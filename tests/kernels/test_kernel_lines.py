"""Where lines end."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels.lines import line_ends


@given(st.lists(st.binary(max_size=150).map(lambda data: data.replace(b"\n", b"")), min_size=1), st.booleans())
def test_ends_of_lines(lines: list[bytes], last: bool) -> None:
    data = b"\n".join(lines) + b"\n" * last
    expected = [i + 1 for i, letter in enumerate(data) if letter == 10]
    expected += [len(data)] if data and not data.endswith(b"\n") else []
    assert line_ends(np.frombuffer(data, np.uint8)).tolist() == expected


def test_many_short_lines_take_more_room_than_was_thought() -> None:
    for data in (b"\n" * 5000, b"\n" * 5000 + b"x", b"a\n" * 63 + b"b", b"\n" * 64, b"\n" * 64 + b"x"):
        expected = np.flatnonzero(np.frombuffer(data, np.uint8) == 10) + 1
        expected = expected if data.endswith(b"\n") else np.append(expected, len(data))
        assert line_ends(np.frombuffer(data, np.uint8)).tolist() == expected.tolist()
