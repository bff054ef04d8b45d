"""Lines, sentences and paragraphs of any script, against a twin in plain Python."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roughly.kernels.repeats import UNITS, unit_ends

LINE = re.compile("[^\n\r\v\f\x85\u2028\u2029]*(?:\r\n|[\n\r\v\f\x85\u2028\u2029]|$)")
WHITE = " \t\n\v\f\r\x85\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"
STOP = ".!?…؟۔।॥።፧၊။។៕‼⁇⁈⁉"
WIDE = "。！？｡"
CLOSING = "\"')\\]}»›’”」』】）"
SENTENCE = re.compile(f"[{STOP}{WIDE}][{STOP}{WIDE}{CLOSING}]*[{WHITE}]*")


def units(text: str, unit: str) -> list[str]:
    data = np.frombuffer(text.encode(), np.uint8)
    ends, offsets = unit_ends(data, np.array([0, len(data)], np.int64), unit)
    assert offsets.tolist() == [0, len(ends)]
    edges = [0, *ends.tolist()]
    return [text.encode()[a:b].decode() for a, b in pairwise(edges)]


def lines(text: str) -> list[str]:
    return [line for line in LINE.findall(text) if line]


def paragraphs(text: str) -> list[str]:
    found: list[str] = []
    after_blank = True
    blank = re.compile(f"[{WHITE}]*")
    pending = False  # a blank line was seen
    for line in lines(text):
        is_blank = blank.fullmatch(line) is not None
        if after_blank or (pending and not is_blank):
            found.append(line)
            pending = is_blank
        else:
            found[-1] += line
            pending = pending or is_blank
        after_blank = line.endswith("\u2029")
    return found


def sentences(text: str) -> list[str]:
    found = []
    for paragraph in paragraphs(text):
        start = 0
        at = 0
        while (match := SENTENCE.search(paragraph, at)) is not None:
            at = match.start() + 1
            stop = match[0].rstrip(WHITE_CHARACTERS)
            has_white = len(match[0]) > len(stop)
            if match[0][0] in WIDE:
                ends = True
            elif match[0][0] == ".":
                ends = has_white and _ends(paragraph, start, match)
            else:
                ends = has_white
            at = match.end() if ends else match.start() + len(stop)
            if ends:
                found.append(paragraph[start:at])
                start = at
        if start < len(paragraph):
            found.append(paragraph[start:])
    return found


WHITE_CHARACTERS = "".join(chr(c) for c in range(0x10000) if re.match(f"[{WHITE}]", chr(c)))


def _ends(paragraph: str, start: int, match: re.Match[str]) -> bool:
    following = paragraph[match.end() : match.end() + 1]
    if following and re.match("[a-z0-9]", following):
        return False
    before = paragraph[start : match.start()]
    if not before or not re.match("[A-Za-z]", before[-1]):
        return True
    return len(before) > 1 and (re.match("[A-Za-z0-9]", before[-2]) is not None or ord(before[-2]) > 127)


TWINS = {"line": lines, "sentence": sentences, "paragraph": paragraphs}
ALPHABET = st.sampled_from(list('aB1. .!?\n\n\r\t。！」")é日\u2028\u2029\x85\u00a0।؟ ก'))


@pytest.mark.parametrize("unit", UNITS)
@given(text=st.text(ALPHABET, max_size=60))
def test_as_the_twin(unit: str, text: str) -> None:
    found = units(text, unit)
    assert "".join(found) == text
    assert found == TWINS[unit](text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("J. S. Bach wrote it. Then he rested.", ["J. S. Bach wrote it. ", "Then he rested."]),
        ("Version 3.11 of it is e.g. old. New", ["Version 3.11 of it is e.g. old. ", "New"]),
        ('He said "Go." She went.', ['He said "Go." ', "She went."]),
        ("wrapped\nlines go on. End", ["wrapped\nlines go on. ", "End"]),
        ("heading\n\nText follows", ["heading\n\n", "Text follows"]),
        ("吾輩は猫である。名前はまだ無い。", ["吾輩は猫である。", "名前はまだ無い。"]),
        ("「そうだ。」と言った。", ["「そうだ。」", "と言った。"]),
        ("هل أنت هنا؟ نعم.", ["هل أنت هنا؟ ", "نعم."]),
        ("यह एक वाक्य है। यह दूसरा है।", ["यह एक वाक्य है। ", "यह दूसरा है।"]),
        ("ไทยไม่มีจุด แต่มีวรรค", ["ไทยไม่มีจุด แต่มีวรรค"]),
        ("", []),
    ],
)
def test_sentences_of_many_scripts(text: str, expected: list[str]) -> None:
    assert units(text, "sentence") == expected


def test_lines_and_paragraphs() -> None:
    assert units("a\r\nb\n\nc", "line") == ["a\r\n", "b\n", "\n", "c"]
    assert units("a\nb\n \t\n\nc\u2029d", "paragraph") == ["a\nb\n \t\n\n", "c\u2029", "d"]
