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
TERMINAL = (  # Sentence_Terminal in Unicode 14, U+0589 to U+ABEB
    "589 61d-61f 6d4 700-702 7f9 837 839 83d-83e 964-965 104a-104b 1362 1367-1368 166e 1735-1736 17d4-17d5 1803 1809 "
    "1944-1945 1aa8-1aab 1b5a-1b5b 1b5e-1b5f 1b7d-1b7e 1c3b-1c3c 1c7e-1c7f 203c-203d 2047-2049 2e2e 2e3c 2e53-2e54 "
    "a4ff a60e-a60f a6f3 a6f7 a876-a877 a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb"
)
RANGES = [[int(end, 16) for end in some.split("-")] for some in TERMINAL.split()]
STOP = ".!?…" + "".join(chr(one) for some in RANGES for one in range(some[0], some[-1] + 1))
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
            if not has_white and match[0][0] in "!?" and re.match("[ぁ-ヿ㐀-鿿]", paragraph[match.end() :]):
                ends = True
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
ALPHABET = st.sampled_from(list('aB1. .!?\n\n\r\t。！」")é日か\u2028\u2029\x85\u00a0।؟։ ก'))


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
        ('真的吗?是的!"好"吧。3!4', ["真的吗?", '是的!"', '好"吧。', "3!4"]),
        ("Բարև։ Ինչպե՞ս ես։ Լավ", ["Բարև։ ", "Ինչպե՞ս ես։ ", "Լավ"]),
        ("ܫܠܡܐ܁ ܛܒܐ܀", ["ܫܠܡܐ܁ ", "ܛܒܐ܀"]),
        ("ไทยไม่มีจุด แต่มีวรรค", ["ไทยไม่มีจุด แต่มีวรรค"]),
        ("", []),
    ],
)
def test_sentences_of_many_scripts(text: str, expected: list[str]) -> None:
    assert units(text, "sentence") == expected


def test_every_mark_that_ends_a_sentence() -> None:
    for mark in STOP[4:]:
        assert units(f"word{mark} word", "sentence") == [f"word{mark} ", "word"], hex(ord(mark))
    for cp in (0x588, 0x58A, 0x703, 0x966, 0x104C, 0xABEC, 0x2025):
        assert len(units(f"word{chr(cp)} word", "sentence")) == 1


def test_lines_and_paragraphs() -> None:
    assert units("a\r\nb\n\nc", "line") == ["a\r\n", "b\n", "\n", "c"]
    assert units("a\nb\n \t\n\nc\u2029d", "paragraph") == ["a\nb\n \t\n\n", "c\u2029", "d"]
