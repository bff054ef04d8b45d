"""The frozen table: it is the one that was committed, and it is what its script makes."""

from __future__ import annotations

import hashlib
import unicodedata

import numpy as np
import pytest

from roughly.kernels.classes import DELTA, IGNORED, MARK, PAYLOAD, SEPARATOR, SEQUENCE, SINGLE, WORD
from roughly.text import make_tables, tables

TABLE = tables.load()


def test_the_table_never_changes_by_accident() -> None:
    """A change here changes every hash: raise the version of answers and say so in the change log."""
    digest = hashlib.sha256(TABLE.stage1.astype("<u2").tobytes() + TABLE.stage2.astype("<u4").tobytes())
    assert TABLE.unicode_version == "14.0.0"
    assert digest.hexdigest() == "054db10af7e849d1b053d48b48386f10f14faebb0a6ee874b4dc1fdab52b0ef8"


def test_the_table_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        TABLE.stage2[0] = 1


@pytest.mark.parametrize(
    ("character", "kind"),
    [
        ("a", WORD), ("A", WORD), ("é", SEQUENCE), ("7", WORD), ("_", SEPARATOR), (" ", SEPARATOR), ("漢", SINGLE),
        ("の", SINGLE), ("が", SEQUENCE), ("ไ", SINGLE), ("๓", WORD), ("가", SEQUENCE), ("ﬁ", SEQUENCE),
        ("\u0301", MARK), ("\u0340", SEQUENCE), ("\u00ad", IGNORED), ("\u200d", IGNORED), ("\ufe0f", IGNORED),
        ("\u0378", SEPARATOR), ("\ue000", SEPARATOR), ("👍", SEPARATOR), ("\ufffd", SEPARATOR),
    ],
)  # fmt: skip
def test_classes_of_some_characters(character: str, kind: int) -> None:
    assert TABLE.entry(ord(character)) >> 24 == kind


def test_sequences_end_in_plain_characters() -> None:
    """No sequence within a sequence, and every target is its own canonical form."""
    for cp in range(0x110000):
        entry = TABLE.entry(cp)
        if entry >> 24 == SEQUENCE:
            for target in TABLE.sequence(entry & PAYLOAD):
                held = TABLE.entry(target)
                assert held >> 24 in (WORD, SINGLE, MARK), hex(cp)
                assert held >> 24 == MARK or held & DELTA == 0, hex(cp)


@pytest.mark.slow
def test_the_script_makes_the_table() -> None:
    if unicodedata.unidata_version != TABLE.unicode_version:
        pytest.skip(f"this Python knows Unicode {unicodedata.unidata_version}, the table is {TABLE.unicode_version}")
    stage1, stage2 = make_tables.stages(*make_tables.entries())
    assert np.array_equal(stage1, TABLE.stage1)
    assert np.array_equal(stage2, TABLE.stage2)
